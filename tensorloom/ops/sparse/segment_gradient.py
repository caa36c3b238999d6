"""Gradients of the sparse segment ops as newer TensorFlow writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

_ATTRS = [
    "T: {bfloat16, half, float, double}",
    "Tidx: {int32, int64} = DT_INT32",
    "Tsegmentids: {int32, int64} = DT_INT32",
]


def _rows(c: InferenceContext) -> tuple[int | None, ...] | None:
    c.merge(c.with_rank(1, 1), c.with_rank(2, 1))
    c.with_rank(3, 0)
    dims = c.with_rank_at_least(0, 1).dims_tuple
    return None if dims is None else dims[1:]


def _dense_shape(c: InferenceContext) -> TensorShape:
    inner, count = _rows(c), c.input_value(3)
    if count is not None and count < 0:
        c.fail("Cannot specify a negative value for output_dim0")
    rows = None if count is None else int(count)
    return TensorShape.of(None if inner is None else (rows, *inner))


def _compact_shape(c: InferenceContext) -> list[TensorShape]:
    inner = _rows(c)
    rows = TensorShape.of(None if inner is None else (None, *inner))
    return [rows, TensorShape.of((None,))]


register_op(
    "SparseSegmentSumGrad",
    inputs=[
        "grad: T",
        "indices: Tidx",
        "segment_ids: Tsegmentids",
        "output_dim0: int32",
    ],
    outputs=["output: T"],
    attrs=_ATTRS,
    shape_fn=_dense_shape,
    doc="The gradient of SparseSegmentSum with respect to its data.",
)
for _kind in ("Sum", "Mean", "SqrtN"):
    register_op(
        f"SparseSegment{_kind}GradV2",
        inputs=[
            "grad: T",
            "indices: Tidx",
            "segment_ids: Tsegmentids",
            "dense_output_dim0: int32",
        ],
        outputs=["output: T", "sorted_unique_indices: Tidx"],
        attrs=_ATTRS,
        shape_fn=_compact_shape,
        doc=f"The rows of SparseSegment{_kind}'s gradient that are not 0, and where.",
    )
