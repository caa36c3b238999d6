"""Reductions of many slices of one tensor, which may overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _sliced_shape(c: InferenceContext) -> TensorShape:
    """The data's shape with one element of the axis for each slice.

    TensorFlow tells the shape of the indices instead, which is not what it computes.
    """
    data = c.with_rank_at_least(0, 1).dims_tuple
    indices = c.with_rank_at_most(c.with_rank_at_least(1, 1), 2).dims_tuple
    c.with_rank(2, 0)
    count = None
    if indices is not None:
        count = indices[0]
        if len(indices) == 2:
            c.with_value(indices[1], 2)
        elif count is not None:
            count = max(count - 1, 0)
    if data is None:
        return TensorShape.of(None)
    value = c.input_value(2)
    if value is None:
        return TensorShape.of((None,) * len(data))
    axis = int(value)
    if not 0 <= axis < len(data):
        c.fail(f"Out of range axis {axis} for shape with {len(data)} dimensions")
    return TensorShape.of((*data[:axis], count, *data[axis + 1 :]))


_NUMBERS = (
    "{float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, "
    "qint32, bfloat16, uint16, complex128, half, uint32, uint64}"
)
for _name, _what in (
    ("Sum", "The sum"),
    ("Prod", "The product"),
    ("Max", "The largest element"),
    ("Min", "The smallest element"),
):
    register_op(
        f"ReduceSlice{_name}",
        inputs=["data: T", "indices: Tindices", "axis: int64"],
        outputs=["output: T"],
        attrs=[f"T: {_NUMBERS}", "Tindices: {int32, int64}"],
        shape_fn=_sliced_shape,
        doc=f"{_what} of each slice [begin, end) of an axis, or between neighbours.",
    )
