"""Resampler: images read at any points, as spatial transformer networks do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _resampled_shape(c: InferenceContext) -> TensorShape:
    """Points [batch, ..., 2] with the channels of the data."""
    data = c.with_rank_at_least(0, 1).dims_tuple
    points = c.with_rank_at_least(1, 1).dims_tuple
    if points is None:
        return TensorShape.of(None)
    return TensorShape.of((*points[:-1], None if data is None else data[-1]))


def _resampler_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    return list(
        apply_op(
            "ResamplerGrad", data=op.inputs[0], warp=op.inputs[1], grad_output=grad
        )
    )


_FLOATS = ["T: {half, bfloat16, float, double}"]
register_op(
    "Resampler",
    inputs=["data: T", "warp: T"],
    outputs=["output: T"],
    attrs=_FLOATS,
    shape_fn=_resampled_shape,
    gradient=_resampler_grad,
    doc="Images [batch, height, width, channels] at points [batch, ..., (x, y)].",
)
register_op(
    "ResamplerGrad",
    inputs=["data: T", "warp: T", "grad_output: T"],
    outputs=["grad_data: T", "grad_warp: T"],
    attrs=_FLOATS,
    shape_fn=lambda c: [c.input_shape(0), c.input_shape(1)],
    gradient=NOT_DIFFERENTIABLE,
    doc="The gradients of Resampler for the images and for the points.",
)
