"""Segment reductions whose number of segments is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.ops.reductions.segment import NUMBERS, REALS

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _counted_shape(c: InferenceContext) -> TensorShape:
    data = c.with_rank_at_least(0, 1)
    c.with_rank(1, 1)
    c.with_rank(2, 0)
    value = c.input_value(2)
    if value is not None and value < 0:
        c.fail(
            "Dimension size, given by scalar input 2, must be non-negative but is "
            f"{int(value)}"
        )
    if data.dims_tuple is None:
        return UNKNOWN
    count = None if value is None else int(value)
    return TensorShape.of((count, *data.dims_tuple[1:]))


_KINDS: Final = (
    ("Sum", NUMBERS, "The sum"),
    ("Prod", NUMBERS, "The product"),
    ("Max", REALS, "The maximum"),
    ("Min", REALS, "The minimum"),
)
for _kind, _types, _what in _KINDS:
    register_op(
        f"Segment{_kind}V2",
        inputs=["data: T", "segment_ids: Tindices", "num_segments: Tnumsegments"],
        outputs=["output: T"],
        attrs=[
            f"T: {{{_types}}}",
            "Tindices: {int32, int64}",
            "Tnumsegments: {int32, int64} = DT_INT32",
        ],
        shape_fn=_counted_shape,
        doc=f"{_what} of the rows of each of `num_segments` segments.",
    )
