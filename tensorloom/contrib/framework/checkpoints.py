"""Checkpoints, under the names of arguments that `tf.contrib.framework` gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tensorloom.framework.export import export
from tensorloom.train.checkpoints import checkpoint_utils


@export("contrib.framework.load_checkpoint")
def load_checkpoint(filepattern: str) -> Any:
    """`tf.train.load_checkpoint`: of a prefix, or of a directory."""
    return checkpoint_utils.load_checkpoint(filepattern)


@export("contrib.framework.load_variable")
def load_variable(checkpoint_dir: str, name: str) -> Any:
    """`tf.train.load_variable`: the value of a tensor."""
    return checkpoint_utils.load_variable(checkpoint_dir, name)


@export("contrib.framework.list_variables")
def list_variables(checkpoint_dir: str) -> list[tuple[str, Any]]:
    """`tf.train.list_variables`: names and shapes."""
    return checkpoint_utils.list_variables(checkpoint_dir)


@export("contrib.framework.init_from_checkpoint")
def init_from_checkpoint(
    checkpoint_dir: str, assignment_map: Mapping[Any, Any]
) -> None:
    """`tf.train.init_from_checkpoint`: variables begin with tensors of a checkpoint."""
    checkpoint_utils.init_from_checkpoint(checkpoint_dir, assignment_map)
