"""Ops on files: ReadFile, WriteFile, MatchingFiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import SCALAR, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _read_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(0, 0)
    return SCALAR


def _write_shape(c: InferenceContext) -> tuple[TensorShape, ...]:
    c.with_rank(0, 0)
    c.with_rank(1, 0)
    return ()


def _matching_shape(c: InferenceContext) -> TensorShape:
    c.with_rank_at_most(0, 1)
    return TensorShape.of((None,))


register_op(
    "ReadFile",
    inputs=["filename: string"],
    outputs=["contents: string"],
    shape_fn=_read_shape,
    doc="The contents of a file.",
)
register_op(
    "WriteFile",
    inputs=["filename: string", "contents: string"],
    shape_fn=_write_shape,
    stateful=True,
    doc="Writes a file, and the directories above it.",
)
register_op(
    "MatchingFiles",
    inputs=["pattern: string"],
    outputs=["filenames: string"],
    shape_fn=_matching_shape,
    doc="The names of the files that match patterns, sorted.",
)


@export("io.read_file", "read_file")
def read_file(filename: Any, name: str | None = None) -> Tensor:
    """The contents of a file. Running it raises NotFoundError where there is none."""
    return apply_op("ReadFile", filename=filename, name=name)  # type: ignore[no-any-return]


@export("io.write_file", "write_file")
def write_file(filename: Any, contents: Any, name: str | None = None) -> Any:
    """The operation that writes a file, and makes the directories above it."""
    return apply_op("WriteFile", filename=filename, contents=contents, name=name)


@export("io.matching_files", "matching_files")
def matching_files(pattern: Any, name: str | None = None) -> Tensor:
    """The names of the files that match a pattern, or any of several, sorted."""
    return apply_op("MatchingFiles", pattern=pattern, name=name)  # type: ignore[no-any-return]
