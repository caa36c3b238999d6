"""Vocabularies in files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _remapping_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(1, 0)  # the path may be a vector of one
    return [TensorShape.of((c.attrs["num_new_vocab"],)), TensorShape.of(())]


register_op(
    "GenerateVocabRemapping",
    inputs=["new_vocab_file: string", "old_vocab_file: string"],
    outputs=["remapping: int64", "num_present: int32"],
    attrs=[
        "new_vocab_offset: int >= 0",
        "num_new_vocab: int >= 0",
        "old_vocab_size: int >= -1 = -1",
    ],
    shape_fn=_remapping_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="For words of a new vocabulary their numbers in an old one, -1 for new words.",
)


def _matrix_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(1, 0)  # the path may be a vector of one
    c.with_rank(2, 1)
    c.with_rank(3, 1)
    return TensorShape.of((c.attrs["num_rows"], c.attrs["num_cols"]))


register_op(
    "LoadAndRemapMatrix",
    inputs=[
        "ckpt_path: string",
        "old_tensor_name: string",
        "row_remapping: int64",
        "col_remapping: int64",
        "initializing_values: float",
    ],
    outputs=["output_matrix: float"],
    attrs=[
        "num_rows: int >= 0",
        "num_cols: int >= 1",
        "max_rows_in_memory: int = -1",
    ],
    shape_fn=_matrix_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="A matrix of a checkpoint, its rows and columns remapped; -1 takes new values.",
)
