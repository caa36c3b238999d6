"""Vocabularies in files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.shape_inference import InferenceContext


def _remapping_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(0, 0)
    c.with_rank(1, 0)
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
