"""Axes and shape vectors from one data format to another; the n-th element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import unchanged_shape
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

_FORMATS = [
    "T: {int32, int64} = DT_INT32",
    "src_format: string = 'NHWC'",
    "dst_format: string = 'NCHW'",
]

for _op, _doc in (
    ("DataFormatDimMap", "The axes of one data format in another."),
    ("DataFormatVecPermute", "A shape vector, or pairs of sizes, in another format."),
):
    register_op(
        _op,
        inputs=["x: T"],
        outputs=["y: T"],
        attrs=_FORMATS,
        shape_fn=unchanged_shape,
        doc=_doc,
    )


def _nth_shape(c: InferenceContext) -> TensorShape:
    dims = c.with_rank_at_least(0, 1).dims_tuple
    rank = c.input_shape(1).rank
    if rank:
        c.fail(f"Input n must be scalar but has rank {rank}")
    n = c.input_value(1)
    if n is not None and n < 0:
        c.fail(f"Input n must be non-negative but is {int(n)}")
    if dims is None:
        return UNKNOWN
    if n is not None and dims[-1] is not None and dims[-1] <= n:
        c.fail(f"Input must have last dimension > n = {int(n)} but is {dims[-1]}")
    return TensorShape.of(dims[:-1])


def _nth_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    """Shared by all elements that are equal to it."""
    value, output = op.inputs[0], op.outputs[0]
    chosen = math_ops.cast(
        math_ops.equal(array_ops.expand_dims(output, -1), value), grad.dtype
    )
    grad = array_ops.expand_dims(grad, -1)
    count = array_ops.expand_dims(math_ops.reduce_sum(chosen, -1), -1)
    return [math_ops.div(chosen, count) * grad, None]


register_op(
    "NthElement",
    inputs=["input: T", "n: int32"],
    outputs=["values: T"],
    attrs=[
        "reverse: bool = false",
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, "
        "uint32, uint64}",
    ],
    shape_fn=_nth_shape,
    gradient=_nth_grad,
    doc="The element of the last axis that sorting puts at n.",
)
