"""Ops that pick by value: Where, Unique, ListDiff, searchsorted and boolean masks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.ops.array import concat as concat_ops
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.indexing import gather as gather_ops

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext
    from tensorloom.framework.types.dtypes import DType

_VECTOR = TensorShape.of((None,))

# --- shape functions ----------------------------------------------------------------


def _where_shape(c: InferenceContext) -> TensorShape:
    return TensorShape.of((None, c.input_shape(0).rank))


def _unique_shape(c: InferenceContext) -> list[TensorShape]:
    if c.op_name == "Unique":  # of the other, the kernel looks at the rank
        c.with_rank(0, 1)
    return [_VECTOR, c.input_shape(0), *[_VECTOR] * (c.num_outputs - 2)]


def _unique_v2_shape(c: InferenceContext) -> list[TensorShape]:
    shape, axis = c.input_shape(0), c.input_value(1)
    if axis is not None and axis.ndim != 1:
        c.fail("axis expects a 1D vector.")
    if axis is not None and axis.size > 1:
        c.fail("axis does not support input tensors larger than 1 elements.")
    if axis is not None and not axis.size and shape.rank not in (None, 1):
        c.fail("x expects a 1D vector.")
    dims = shape.dims_tuple
    index_shape = _VECTOR
    values = UNKNOWN
    if dims is not None and axis is not None:
        number = int(axis.reshape(-1)[0]) if axis.size else 0
        if not -len(dims) <= number < len(dims):
            c.fail(f"axis expects to be in the range [{-len(dims)}, {len(dims)})")
        number %= max(len(dims), 1)
        values = TensorShape.of((None,) * len(dims))
        index_shape = TensorShape.of((dims[number],))
    return [values, index_shape, *[_VECTOR] * (c.num_outputs - 2)]


def _list_diff_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(0, 1)
    c.with_rank(1, 1)
    return [_VECTOR, _VECTOR]


def _bound_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(0, 2)
    c.with_rank(1, 2)
    return c.input_shape(1)


# --- definitions --------------------------------------------------------------------

register_op(
    "Where",
    inputs=["input: T"],
    outputs=["index: int64"],
    attrs=[
        "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, "
        "quint8, qint32, bfloat16, uint16, complex128, half, uint32, uint64, bool, "
        "qint16, quint16} = DT_BOOL"
    ],
    shape_fn=_where_shape,
    doc="The coordinates of the elements that are true (not zero), in row order.",
)

_UNIQUE_ATTRS = ["T: type", "out_idx: {int32, int64} = DT_INT32"]
_UNIQUE_V2_ATTRS = [
    "T: type",
    "Taxis: {int32, int64} = DT_INT64",
    "out_idx: {int32, int64} = DT_INT32",
]

register_op(
    "Unique",
    inputs=["x: T"],
    outputs=["y: T", "idx: out_idx"],
    attrs=_UNIQUE_ATTRS,
    shape_fn=_unique_shape,
    doc="The different elements in order of appearance, and which each x[i] is.",
)

register_op(
    "UniqueWithCounts",
    inputs=["x: T"],
    outputs=["y: T", "idx: out_idx", "count: out_idx"],
    attrs=_UNIQUE_ATTRS,
    shape_fn=_unique_shape,
    doc="As Unique, and how often each element appears.",
)

register_op(
    "UniqueV2",
    inputs=["x: T", "axis: Taxis"],
    outputs=["y: T", "idx: out_idx"],
    attrs=_UNIQUE_V2_ATTRS,
    shape_fn=_unique_v2_shape,
    doc="The different slices along an axis, and which each slice is.",
)

register_op(
    "UniqueWithCountsV2",
    inputs=["x: T", "axis: Taxis"],
    outputs=["y: T", "idx: out_idx", "count: out_idx"],
    attrs=_UNIQUE_V2_ATTRS,
    shape_fn=_unique_v2_shape,
    doc="As UniqueV2, and how often each slice appears.",
)

register_op(
    "ListDiff",
    inputs=["x: T", "y: T"],
    outputs=["out: T", "idx: out_idx"],
    attrs=_UNIQUE_ATTRS,
    shape_fn=_list_diff_shape,
    doc="The elements of x that are not in y, and their positions.",
)

for _bound in ("LowerBound", "UpperBound"):
    register_op(
        _bound,
        inputs=["sorted_inputs: T", "values: T"],
        outputs=["output: out_type"],
        attrs=["T: type", "out_type: {int32, int64} = DT_INT32"],
        shape_fn=_bound_shape,
        doc="Where each value belongs in the sorted row, before (after) its equals.",
    )

# --- builders -----------------------------------------------------------------------


@export("where")
def where(
    condition: Any, x: Any = None, y: Any = None, name: str | None = None
) -> Tensor:
    """Coordinates of true elements; or elements of `x` where true, of `y` elsewhere.

    Args:
      condition: bool, of the shape of `x`, or a vector that picks whole rows.
      x, y: both or none.

    Returns:
      int64 [number of true elements, rank], or the shape of `x`.

    Raises:
      ValueError: only one of `x` and `y` is given.
    """
    if x is not None and y is not None:
        return apply_op("Select", condition=condition, t=x, e=y, name=name)  # type: ignore[no-any-return]
    return _where(condition, x, y, name)


@export("where_v2")
def where_v2(
    condition: Any, x: Any = None, y: Any = None, name: str | None = None
) -> Tensor:
    """`where` in which `condition`, `x` and `y` broadcast together.

    Raises:
      ValueError: only one of `x` and `y` is given.
    """
    if x is not None and y is not None:
        return apply_op("SelectV2", condition=condition, t=x, e=y, name=name)  # type: ignore[no-any-return]
    return _where(condition, x, y, name)


def _where(condition: Any, x: Any, y: Any, name: str | None) -> Tensor:
    if x is not None or y is not None:
        raise ValueError("x and y must both be non-None or both be None.")
    with name_scope(name, "Where", [condition]) as scope:
        condition = convert_to_tensor(
            condition, preferred_dtype=dtypes.bool, name="condition"
        )
        return apply_op("Where", input=condition, name=scope)  # type: ignore[no-any-return]


@export("boolean_mask")
def boolean_mask(
    tensor: Any, mask: Any, name: str = "boolean_mask", axis: int | None = None
) -> Tensor:
    """The elements (or slices) of `tensor` where `mask` is true.

    Args:
      mask: bool, of known rank; its shape is that of `tensor` from `axis` on.
      axis: 0 when None.

    Raises:
      ValueError: a scalar mask, one of unknown rank, or shapes that do not fit.
    """
    with name_scope(name, values=[tensor, mask]):
        tensor = convert_to_tensor(tensor, name="tensor")
        mask = convert_to_tensor(mask, name="mask")
        rank = mask.shape.rank
        if rank == 0:
            raise ValueError("mask cannot be scalar.")
        if rank is None:
            raise ValueError(
                "Number of mask dimensions must be specified, even if some dimensions "
                "are None.  E.g. shape=[None] is ok, but shape=None is not."
            )
        axis = 0 if axis is None else axis
        flat = _flatten_masked(tensor, mask.shape, axis)
        flat_mask = reshape_ops.reshape(mask, [-1])
        indices = reshape_ops.squeeze(where(flat_mask), axis=[1])
        return gather_ops.gather(flat, indices, axis=axis)


def _flatten_masked(tensor: Tensor, mask_shape: TensorShape, axis: int) -> Tensor:
    """`tensor` with the axes that the mask covers flattened to one."""
    end = axis + len(mask_shape)
    static = tensor.shape
    static[axis:end].assert_is_compatible_with(mask_shape)
    masked = shape_ops.shape(tensor)[axis:end]
    size = apply_op("Prod", input=masked, reduction_indices=[0])
    before = shape_ops.shape(tensor)[:axis]
    after = shape_ops.shape(tensor)[end:]
    whole = concat_ops.concat([before, [size], after], 0)
    flat = reshape_ops.reshape(tensor, whole)
    known_size = static[axis:end].num_elements()
    flat.set_shape(static[:axis].concatenate([known_size]).concatenate(static[end:]))
    return flat


@export("unique")
def unique(
    x: Any, out_idx: DType = dtypes.int32, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The different elements of a vector, and for each x[i] which of them it is.

    Returns:
      (y, idx) with `x[i] == y[idx[i]]`; y is in the order of first appearance.
    """
    return apply_op("Unique", x=x, out_idx=out_idx, name=name)  # type: ignore[no-any-return]


@export("unique_with_counts")
def unique_with_counts(
    x: Any, out_idx: DType = dtypes.int32, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """`unique`, and how often each element appears: (y, idx, count)."""
    return apply_op("UniqueWithCounts", x=x, out_idx=out_idx, name=name)  # type: ignore[no-any-return]


@export("setdiff1d")
def setdiff1d(
    x: Any, y: Any, index_dtype: DType = dtypes.int32, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The elements of vector `x` that are not in `y`, and their positions in `x`."""
    return apply_op("ListDiff", x=x, y=y, out_idx=index_dtype, name=name)  # type: ignore[no-any-return]


@export("sparse.mask", "sparse_mask")
def sparse_mask(a: Any, mask_indices: Any, name: str | None = None) -> IndexedSlices:
    """IndexedSlices `a` without the rows in `mask_indices`."""
    with name_scope(name, "sparse_mask", [a, mask_indices]) as scope:
        kept, positions = apply_op("ListDiff", x=a.indices, y=mask_indices)
        values = gather_ops.gather(a.values, positions, name=scope)
        return IndexedSlices(values, kept, a.dense_shape)


@export("searchsorted")
def searchsorted(
    sorted_sequence: Any,
    values: Any,
    side: str = "left",
    out_type: DType = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Where each of `values` belongs in the sorted sequence of its row.

    Args:
      sorted_sequence: [..., n], ascending along the last axis.
      values: [..., m].
      side: before ("left") or after ("right") equal elements.

    Raises:
      ValueError: another `side`.
    """
    length = shape_ops.shape_internal(sorted_sequence)[-1]
    count = shape_ops.shape_internal(values)[-1]
    rows = reshape_ops.reshape(sorted_sequence, [-1, length])
    value_rows = reshape_ops.reshape(values, [-1, count])
    if side not in ("left", "right"):
        raise ValueError(f"side must be either 'right' or 'left'.  Saw: {side}.")
    found = apply_op(
        "UpperBound" if side == "right" else "LowerBound",
        sorted_inputs=rows,
        values=value_rows,
        out_type=out_type,
        name=name,
    )
    return reshape_ops.reshape(found, shape_ops.shape_internal(values))
