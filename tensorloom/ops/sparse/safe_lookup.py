"""Lookups of sparse ids in tables, in few ops; a pass of the master builds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

_VECTOR = TensorShape.of((None,))


def _not_default_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(1, 0)
    return [TensorShape.of((None, c.input_shape(0).rank)), _VECTOR]


register_op(
    "_NotDefault",
    inputs=["x: T", "default: T"],
    outputs=["indices: int64", "values: T"],
    attrs=["T: type"],
    shape_fn=_not_default_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The elements of a tensor that are not the default, and where they are.",
)

register_op(
    "_LookupIds",
    inputs=["indices: int64", "ids: int64", "dense_shape: int64", "default: int64"],
    outputs=[
        *("rows: int32", "distinct: int64"),
        *("places: out_idx", "is_empty: bool"),
    ],
    attrs=["out_idx: {int32, int64} = int32"],
    shape_fn=lambda c: [_VECTOR] * 4,
    gradient=NOT_DIFFERENTIABLE,
    doc="""The ids of each row of a sparse matrix, the default where a row has none.

    Negative ids count as missing. `rows` has the row of each id, `distinct` the
    different ids in their order, `places` where each id is among these.""",
)


def _rows_shape(c: InferenceContext) -> list[TensorShape]:
    shape = c.input_shape(0)
    if shape.rank is None:
        return [UNKNOWN]
    return [TensorShape.of((None, *(shape.dims_tuple or ())[1:]))]


_COMBINER = "combiner: {'sum', 'mean', 'sqrt_n'}"

register_op(
    "_SegmentsOrZeros",
    inputs=["data: T", "indices: Tidx", "segment_ids: int32", "is_zero: bool"],
    outputs=["output: T"],
    attrs=["T: {float, double}", "Tidx: {int32, int64} = int32", _COMBINER],
    shape_fn=_rows_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="A SparseSegmentSum, Mean or SqrtN of a matrix, with zeros in some rows.",
)

register_op(
    "_SegmentsOrZerosGrad",
    inputs=[
        *("grad: T", "indices: Tidx", "segment_ids: int32"),
        *("is_zero: bool", "size: int32"),
    ],
    outputs=["output: T"],
    attrs=["T: {float, double}", "Tidx: {int32, int64} = int32", _COMBINER],
    shape_fn=_rows_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The gradient of _SegmentsOrZeros for `data`, which has `size` rows.",
)


def _counted_shape(c: InferenceContext) -> list[TensorShape]:
    shape, depth = c.input_shape(0), c.input_value(1)
    if shape.rank is None:
        return [UNKNOWN]
    size = None if depth is None else int(depth)
    return [TensorShape.of((*(shape.dims_tuple or ())[:-1], size))]


register_op(
    "_CountedHot",
    inputs=["indices: TI", "depth: int32"],
    outputs=["output: T"],
    attrs=["T: {float, double} = float", "TI: {int32, int64}"],
    shape_fn=_counted_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="How often each number below `depth` is in each row: a sum of one-hot rows.",
)
