"""Comparisons packed into bits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _packed_shape(c: InferenceContext) -> TensorShape:
    """The last dimension of the input is divided by eight."""
    shape = c.with_rank_at_least(0, 1)
    c.with_rank(1, 0)
    dims = shape.dims_tuple
    if dims is None:
        return shape
    last = dims[-1]
    if last is not None and last % 8:
        c.fail(f"Dimension size must be evenly divisible by 8 but is {last}")
    return TensorShape.of((*dims[:-1], None if last is None else last // 8))


register_op(
    "CompareAndBitpack",
    inputs=["input: T", "threshold: T"],
    outputs=["output: uint8"],
    attrs=["T: {bool, half, float, double, int8, int16, int32, int64}"],
    shape_fn=_packed_shape,
    doc="Whether elements exceed a threshold, eight of them in a byte, first one high.",
)
