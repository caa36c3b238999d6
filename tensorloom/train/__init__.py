"""Training: optimizers, global step, learning-rate schedules, sessions with hooks."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.registry import proto_names


def __getattr__(name: str) -> Any:
    """Protobuf messages such as `tf.train.Example`, loaded when first used."""
    return proto_names.find("train", name)
