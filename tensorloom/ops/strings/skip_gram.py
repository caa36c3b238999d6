"""SkipGramGenerateCandidates: tokens with their neighbours, at random distances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _pairs_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(0, 1)
    for index in range(1, 6):
        c.with_rank(index, 0)
    return [TensorShape.of((None,))] * 2


register_op(
    "SkipGramGenerateCandidates",
    inputs=[
        "input_tensor: T",
        "min_skips: int32",
        "max_skips: int32",
        "start: int32",
        "limit: int32",
        "emit_self_as_target: bool",
    ],
    outputs=["tokens: T", "labels: T"],
    attrs=["T: type", "seed: int = 0", "seed2: int = 0"],
    shape_fn=_pairs_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="Each token of a part of a vector, with those up to a random distance from it.",
)
