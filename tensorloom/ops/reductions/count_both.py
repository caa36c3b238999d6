"""`_CountBoth`: what the optimizer makes of a sum of two conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext
    from tensorloom.framework.types.tensor_shape import TensorShape


def _rows(c: InferenceContext) -> TensorShape:
    return c.input_shape(0)[:1]


register_op(
    "_CountBoth",
    inputs=["x: bool", "y: bool"],
    outputs=["count: T"],
    attrs=["T: {float, double}"],
    shape_fn=_rows,
    gradient=NOT_DIFFERENTIABLE,
    doc="In how many places of each row x and y, both [m, n], are true: [m].",
)
