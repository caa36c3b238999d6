"""PeriodicResample: elements moved from one dimension into others, period by period."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _resampled_shape(c: InferenceContext) -> TensorShape:
    """The shape asked for; what its unknown size is follows from a known input."""
    wanted: TensorShape = c.attrs["shape"]
    dims = c.input_shape(0).dims_tuple
    if dims is None or None in dims:
        return wanted
    # As long as the input, whatever is asked for: the kernel refuses the rest.
    sizes = [size or 0 for size in wanted.dims_tuple or ()]
    sizes = (sizes + [0] * len(dims))[: len(dims)]
    if not sizes:
        return TensorShape.of(())
    adjustable = max((i for i, size in enumerate(sizes) if size < 1), default=0)
    others = math.prod(size for size in sizes if size > 0)
    sizes[adjustable] = math.prod(d for d in dims if d is not None) // others
    return TensorShape.of(tuple(sizes))


def _original_shape(c: InferenceContext) -> TensorShape:
    shape: TensorShape = c.attrs["original_shape"]
    dims = shape.dims_tuple
    if dims is not None and None in dims:
        c.fail(f"Shape {shape} is not fully defined")
    return shape


def _resample_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    return [
        apply_op(
            "PeriodicResampleOpGrad",
            grad=grad,
            original_shape=op.inputs[0].get_shape(),
            desired_shape=op.get_attr("shape"),
        )
    ]


_NUMBERS = (
    "{float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, "
    "qint32, bfloat16, uint16, complex128, half, uint32, uint64}"
)
register_op(
    "PeriodicResample",
    inputs=["values: T"],
    outputs=["output: T"],
    attrs=[f"T: {_NUMBERS}", "shape: shape"],
    shape_fn=_resampled_shape,
    gradient=_resample_grad,
    doc="Elements of one dimension moved into others, as sub-pixel convolution does.",
)
register_op(
    "PeriodicResampleOpGrad",
    inputs=["grad: T"],
    outputs=["grad_values: T"],
    attrs=[f"T: {_NUMBERS}", "original_shape: shape", "desired_shape: shape"],
    shape_fn=_original_shape,
    doc="Elements moved back to where PeriodicResample took them from.",
)
