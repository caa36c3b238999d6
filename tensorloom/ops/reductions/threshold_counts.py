"""`_ThresholdCounts`: what the optimizer makes of the four counts of a metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext
    from tensorloom.framework.types.tensor_shape import TensorShape


def _shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(0, 2)
    c.with_rank(1, 2)
    return [c.with_rank(2, 2)[:1]] * 4


register_op(
    "_ThresholdCounts",
    inputs=["labels: bool", "scores: S", "thresholds: S"],
    outputs=[
        *("true_positives: T", "false_negatives: T"),
        *("true_negatives: T", "false_positives: T"),
    ],
    attrs=["S: {float, double}", "T: {float, double}"],
    shape_fn=_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="""How many labels [1, n] are predicted right and wrong with each threshold.

    A score [1, n] above a threshold [m, 1] predicts true.""",
)
