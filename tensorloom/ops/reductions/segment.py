"""Segment reductions: rows that share an id come together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.ops.array import fill as fill_ops
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.math import binary as binary_ops
from tensorloom.ops.math import elementwise as elementwise_ops

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

REALS: Final = (
    "float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
    "uint64"
)
NUMBERS: Final = (
    "float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, "
    "qint32, bfloat16, uint16, complex128, half, uint32, uint64, qint16, quint16"
)
_FLOATS: Final = "float, double, bfloat16, half"

# --- shape functions ---------------------------------------------------------


def _rows(data: TensorShape, count: int | None) -> TensorShape:
    dims = data.dims_tuple
    return UNKNOWN if dims is None else TensorShape.of((count, *dims[1:]))


def _sorted_shape(c: InferenceContext) -> TensorShape:
    data = c.with_rank_at_least(0, 1)
    c.with_rank(1, 1)
    return _rows(data, None)


def _unsorted_shape(c: InferenceContext) -> TensorShape:
    data, ids = c.input_shape(0).dims_tuple, c.input_shape(1).dims_tuple
    c.with_rank(2, 0)
    value = c.input_value(2)
    if value is not None and value < 0:
        c.fail(
            "Dimension size, given by scalar input 2, must be non-negative but is "
            f"{int(value)}"
        )
    if ids is None or data is None:
        return UNKNOWN
    c.with_rank_at_least(0, len(ids))
    c.merge(TensorShape.of(data[: len(ids)]), TensorShape.of(ids))
    count = None if value is None else int(value)
    return TensorShape.of((count, *data[len(ids) :]))


def _sparse_shape(c: InferenceContext) -> TensorShape:
    data = c.with_rank_at_least(0, 1)
    indices = c.with_rank(1, 1)
    ids = c.with_rank(2, 1)
    c.merge(indices, ids)
    return _rows(data, None)


def _sparse_counted_shape(c: InferenceContext) -> TensorShape:
    data = c.with_rank_at_least(0, 1)
    indices = c.with_rank(1, 1)
    ids = c.with_rank(2, 1)
    c.with_rank(3, 0)
    c.merge(indices, ids)
    value = c.input_value(3)
    if value is not None and value < 0:
        c.fail("Cannot specify a negative value for num_segments")
    return _rows(data, None if value is None else int(value))


def _sparse_grad_shape(c: InferenceContext) -> TensorShape:
    data = c.with_rank_at_least(0, 1)
    indices = c.with_rank(1, 1)
    c.merge(c.with_rank(2, 1), indices)
    c.with_rank(3, 0)
    value = c.input_value(3)
    if value is not None and value < 0:
        c.fail("Cannot specify a negative value for output_dim0")
    return _rows(data, None if value is None else int(value))


# --- sorted segments ---------------------------------------------------------


class SegmentBuilder(Protocol):
    """`f(data, segment_ids, name=None)`."""

    def __call__(
        self, data: Any, segment_ids: Any, name: str | None = None
    ) -> Tensor: ...


def _sorted(op: str, name: str, types: str, what: str) -> SegmentBuilder:
    doc = f"{what} of the rows of each segment; ids are sorted."
    register_op(
        op,
        inputs=["data: T", "segment_ids: Tindices"],
        outputs=["output: T"],
        attrs=[f"T: {{{types}}}", "Tindices: {int32, int64}"],
        shape_fn=_sorted_shape,
        doc=doc,
    )

    def build(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
        return apply_op(  # type: ignore[no-any-return]
            op, name, data=data, segment_ids=segment_ids
        )

    build.__name__ = build.__qualname__ = name
    build.__doc__ = doc
    return export(f"math.{name}", name)(build)


segment_sum = _sorted("SegmentSum", "segment_sum", NUMBERS, "The sum")
segment_mean = _sorted("SegmentMean", "segment_mean", NUMBERS, "The mean")
segment_prod = _sorted("SegmentProd", "segment_prod", NUMBERS, "The product")
segment_max = _sorted("SegmentMax", "segment_max", REALS, "The maximum")
segment_min = _sorted("SegmentMin", "segment_min", REALS, "The minimum")

# --- unsorted segments -------------------------------------------------------


class UnsortedSegmentBuilder(Protocol):
    """`f(data, segment_ids, num_segments, name=None)`."""

    def __call__(
        self, data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
    ) -> Tensor: ...


def _unsorted(
    op: str,
    name: str,
    types: str,
    what: str,
    index_types: str = "int32, int64",
) -> UnsortedSegmentBuilder:
    doc = f"{what} of the rows of each segment; rows with a negative id are left out."
    register_op(
        op,
        inputs=["data: T", "segment_ids: Tindices", "num_segments: Tnumsegments"],
        outputs=["output: T"],
        attrs=[
            f"T: {{{types}}}",
            f"Tindices: {{{index_types}}}",
            "Tnumsegments: {int32, int64} = DT_INT32",
        ],
        shape_fn=_unsorted_shape,
        doc=doc,
    )

    def build(
        data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
    ) -> Tensor:
        return apply_op(  # type: ignore[no-any-return]
            op, name, data=data, segment_ids=segment_ids, num_segments=num_segments
        )

    build.__name__ = build.__qualname__ = name
    build.__doc__ = doc
    return export(f"math.{name}", name)(build)


unsorted_segment_sum = _unsorted(
    "UnsortedSegmentSum",
    "unsorted_segment_sum",
    NUMBERS,
    "The sum",
    "int32, int64, int16",
)
unsorted_segment_prod = _unsorted(
    "UnsortedSegmentProd",
    "unsorted_segment_prod",
    NUMBERS,
    "The product",
)
unsorted_segment_max = _unsorted(
    "UnsortedSegmentMax",
    "unsorted_segment_max",
    REALS,
    "The maximum",
)
unsorted_segment_min = _unsorted(
    "UnsortedSegmentMin",
    "unsorted_segment_min",
    REALS,
    "The minimum",
)


def _segment_sizes(data: Tensor, segment_ids: Tensor, num_segments: Any) -> Tensor:
    """How many rows each segment has, at least 1, in a shape that divides sums."""
    ones = fill_ops.ones(shape_ops.shape_internal(segment_ids), dtype=data.dtype)
    sizes = unsorted_segment_sum(ones, segment_ids, num_segments)
    # TensorFlow subtracts unknown ranks too, with the same TypeError.
    inner_rank: int = data.shape.ndims - segment_ids.shape.ndims  # type: ignore[operator]
    sizes = reshape_ops.reshape(sizes, [num_segments] + [1] * inner_rank)
    return binary_ops.maximum(sizes, 1)


@export("math.unsorted_segment_mean", "unsorted_segment_mean")
def unsorted_segment_mean(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """The mean of the rows of each segment; 0 for an empty one."""
    with name_scope(name, "UnsortedSegmentMean"):
        data = convert_to_tensor(data)
        segment_ids = convert_to_tensor(segment_ids)
        sizes = _segment_sizes(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / sizes


@export("math.unsorted_segment_sqrt_n", "unsorted_segment_sqrt_n")
def unsorted_segment_sqrt_n(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """The sum of the rows of each segment over the root of their number."""
    with name_scope(name, "UnsortedSegmentSqrtN"):
        data = convert_to_tensor(data)
        segment_ids = convert_to_tensor(segment_ids)
        sizes = _segment_sizes(data, segment_ids, num_segments)
        total = unsorted_segment_sum(data, segment_ids, num_segments)
        return total / elementwise_ops.sqrt(sizes)


# --- segments of gathered rows -----------------------------------------------


# Of TensorFlow 2.x; graphs say it only where it is not the default (`newer_attrs.py`).
_SEGMENT_IDS = "Tsegmentids: {int32, int64} = DT_INT32"


class SparseSegmentBuilder(Protocol):
    """`f(data, indices, segment_ids, name=None, num_segments=None)`."""

    def __call__(
        self,
        data: Any,
        indices: Any,
        segment_ids: Any,
        name: str | None = None,
        num_segments: Any = None,
    ) -> Tensor: ...


def _sparse(
    op: str,
    name: str,
    types: str,
    what: str,
) -> SparseSegmentBuilder:
    doc = f"{what} of the rows at `indices` that belong to each segment."
    inputs = ["data: T", "indices: Tidx", "segment_ids: Tsegmentids"]
    attrs = [f"T: {{{types}}}", "Tidx: {int32, int64} = DT_INT32", _SEGMENT_IDS]
    register_op(
        op,
        inputs=inputs,
        outputs=["output: T"],
        attrs=attrs,
        shape_fn=_sparse_shape,
        doc=doc,
    )
    register_op(
        f"{op}WithNumSegments",
        inputs=[*inputs, "num_segments: Tnumsegments"],
        outputs=["output: T"],
        attrs=[*attrs, "Tnumsegments: {int32, int64} = DT_INT32"],
        shape_fn=_sparse_counted_shape,
        doc=f"{doc} The number of segments is given.",
    )

    def build(
        data: Any,
        indices: Any,
        segment_ids: Any,
        name: str | None = None,
        num_segments: Any = None,
    ) -> Tensor:
        rows = {"data": data, "indices": indices, "segment_ids": segment_ids}
        if num_segments is None:
            return apply_op(op, name, **rows)  # type: ignore[no-any-return]
        return apply_op(  # type: ignore[no-any-return]
            f"{op}WithNumSegments", name, num_segments=num_segments, **rows
        )

    build.__name__ = build.__qualname__ = f"sparse_{name}"
    build.__doc__ = doc
    return export(f"sparse.{name}", f"sparse_{name}")(build)


sparse_segment_sum = _sparse(
    "SparseSegmentSum",
    "segment_sum",
    REALS,
    "The sum",
)
sparse_segment_mean = _sparse(
    "SparseSegmentMean",
    "segment_mean",
    _FLOATS,
    "The mean",
)
sparse_segment_sqrt_n = _sparse(
    "SparseSegmentSqrtN",
    "segment_sqrt_n",
    _FLOATS,
    "The sum, over the root of the number,",
)

for _op in ("SparseSegmentMeanGrad", "SparseSegmentSqrtNGrad"):
    register_op(
        _op,
        inputs=[
            "grad: T",
            "indices: Tidx",
            "segment_ids: Tsegmentids",
            "output_dim0: int32",
        ],
        outputs=["output: T"],
        attrs=[f"T: {{{_FLOATS}}}", "Tidx: {int32, int64} = DT_INT32", _SEGMENT_IDS],
        shape_fn=_sparse_grad_shape,
        doc=f"The gradient of {_op[:-4]} with respect to its data.",
    )
