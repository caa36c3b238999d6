"""Ragged tensors from and to dense, sparse and variant ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import (
    SparseTensor,
    convert_to_tensor_or_sparse_tensor,
    is_sparse,
)
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow import builders as flow
from tensorloom.ops.indexing import selection as selection_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.ragged.segment_ids import splits_to_lengths, to_int_tensor

if TYPE_CHECKING:
    from tensorloom.ops.ragged.ragged_tensor import RaggedTensor

# --- dense -------------------------------------------------------------------


def from_tensor(
    cls: type[RaggedTensor],
    tensor: Any,
    lengths: Any,
    padding: Any,
    ragged_rank: int,
    name: str | None,
    row_splits_dtype: Any,
) -> RaggedTensor:
    """See `RaggedTensor.from_tensor`."""
    kind = dtypes.as_dtype(row_splits_dtype)
    if lengths is not None and padding is not None:
        raise ValueError("Specify lengths or padding, but not both")
    if not isinstance(ragged_rank, int):
        raise TypeError(f"ragged_rank expected int, got {ragged_rank!r}")
    if ragged_rank <= 0:
        raise ValueError(f"ragged_rank must be greater than 0; got {ragged_rank}")
    with name_scope(name, "RaggedFromTensor", [tensor, lengths, padding]):
        tensor = convert_to_tensor(tensor, name="tensor")
        tensor.shape.with_rank_at_least(ragged_rank + 1)
        shape = array_ops.shape(tensor, out_type=kind)
        columns = shape[1]
        if ragged_rank > 1:
            return _from_deep(cls, tensor, shape, lengths, padding, ragged_rank, kind)
        if padding is not None:
            lengths = _unpadded_lengths(tensor, padding, columns, kind)
        if lengths is None:
            return _all_rows(cls, tensor, shape, columns)
        if (
            isinstance(lengths, list | tuple)
            and lengths
            and not isinstance(lengths[0], int | float)
        ):
            return _from_nested_lengths(cls, tensor, lengths)
        return _cut(cls, tensor, to_int_tensor(lengths, "lengths", kind), columns, kind)


def _from_deep(
    cls: type[RaggedTensor],
    tensor: Tensor,
    shape: Tensor,
    lengths: Any,
    padding: Any,
    rank: int,
    kind: Any,
) -> RaggedTensor:
    """Several ragged dimensions; only the innermost is cut."""
    flat_shape = array_ops.concat(
        [array_ops.constant([-1], kind), shape[rank:]], axis=0
    )
    flat = array_ops.reshape(tensor, flat_shape)
    values = from_tensor(cls, flat, lengths, padding, 1, None, kind)
    sizes = math_ops.cumprod(shape)
    splits = [
        math_ops.range(0, sizes[axis - 1] + 1) * shape[axis] for axis in range(1, rank)
    ]
    return cls.from_nested_row_splits(values, splits, validate=False)  # type: ignore[no-any-return]


def _unpadded_lengths(tensor: Tensor, padding: Any, columns: Tensor, kind: Any) -> Any:
    """For each row, what is left without the padding at its end."""
    padding = convert_to_tensor(padding, name="padding", dtype=tensor.dtype)
    padding.shape.assert_is_compatible_with(tensor.shape[2:])
    has_default = math_ops.equal(padding, tensor)
    rank = array_ops.rank(has_default)
    inner = math_ops.range(2, rank)
    is_padding = math_ops.reduce_all(has_default, axis=inner)
    is_kept = math_ops.logical_not(is_padding)
    places = array_ops.expand_dims(math_ops.range(1, columns + 1), 0)
    kept_places = places * math_ops.cast(is_kept, kind)
    return math_ops.reduce_max(kept_places, axis=1)


def _all_rows(
    cls: type[RaggedTensor], tensor: Tensor, shape: Tensor, columns: Tensor
) -> RaggedTensor:
    rows = shape[0]
    count = rows * columns
    splits = math_ops.range(rows + 1) * columns
    values_shape = array_ops.concat([[count], shape[2:]], axis=0)
    values = array_ops.reshape(tensor, values_shape)
    return cls.from_row_splits(values, splits, validate=False)


def _from_nested_lengths(
    cls: type[RaggedTensor], tensor: Tensor, lengths: Any
) -> RaggedTensor:
    """Rows of rows: the innermost ones are cut as the lengths of all say."""
    count = math_ops.reduce_sum(convert_to_tensor(lengths[-1]))
    inside = cls.from_nested_row_lengths(
        array_ops.ones([count], dtypes.bool), lengths, validate=False
    )
    mask = inside.to_tensor(default_value=False)
    kept = selection_ops.boolean_mask(tensor, mask)
    return cls.from_nested_row_lengths(kept, lengths, validate=False)  # type: ignore[no-any-return]


def _cut(
    cls: type[RaggedTensor], tensor: Tensor, lengths: Tensor, columns: Tensor, kind: Any
) -> RaggedTensor:
    lengths.shape.assert_has_rank(1)
    lengths = math_ops.minimum(lengths, columns)
    lengths = math_ops.maximum(lengths, 0)
    limits = math_ops.cumsum(lengths)
    splits = array_ops.concat([array_ops.zeros([1], kind), limits], axis=0)
    mask = array_ops.sequence_mask(lengths, maxlen=columns)
    values = selection_ops.boolean_mask(tensor, mask)
    return cls.from_row_splits(values, splits, validate=False)


def to_tensor(ragged: RaggedTensor, default_value: Any, name: str | None) -> Tensor:
    """See `RaggedTensor.to_tensor`."""
    with name_scope(name, "RaggedToTensor", [ragged, default_value]):
        if default_value is not None:
            default_value = convert_to_tensor(
                default_value, name="default_value", dtype=ragged.dtype
            )
        values: Any = ragged.values
        if isinstance(values, type(ragged)):
            values = to_tensor(values, default_value, None)
        if default_value is not None:
            default_value = _fitting(default_value, values)
        splits, kind = ragged.row_splits, ragged.row_splits.dtype
        lengths = [splits_to_lengths(splits)]
        rows = array_ops.shape(splits, out_type=kind)[0] - 1
        columns = math_ops.maximum(math_ops.reduce_max(lengths), 0)
        shape = array_ops.shape(values, out_type=kind)
        value_shape, count = shape[1:], shape[0]
        if default_value is None:
            default_value = array_ops.zeros(value_shape, dtype=values.dtype)
        default_value.shape.assert_is_compatible_with(values.shape[1:])
        default_value.set_shape(values.shape[1:])
        # Each cell has the place of its value, or that of the default at the end.
        starts = array_ops.expand_dims(splits[:-1], 1)
        limits = array_ops.expand_dims(splits[1:], 1)
        cells = array_ops.expand_dims(math_ops.range(0, columns), 0)
        stacked = array_ops.stack([default_value])
        every = array_ops.concat([values, stacked], axis=0)
        place = starts + cells
        has_value = place < limits
        default_place = array_ops.fill(array_ops.stack([rows, columns]), count)
        places = array_ops.where(has_value, place, default_place)
        return array_ops.gather(every, places)


def _fitting(default: Tensor, values: Tensor) -> Tensor:
    """The default value in the shape of one value."""
    rank, default_rank = values.shape.rank, default.shape.rank
    if rank is not None:
        default.shape.with_rank_at_most(rank - 1)
    if rank is None or default_rank is None or rank != default_rank + 1:
        default = array_ops.broadcast_to(default, array_ops.shape(values)[1:])
    default.shape.assert_is_compatible_with(values.shape[1:])
    return default


# --- sparse ------------------------------------------------------------------


def from_sparse(
    cls: type[RaggedTensor], sparse: Any, name: str | None, row_splits_dtype: Any
) -> RaggedTensor:
    """See `RaggedTensor.from_sparse`."""
    kind = dtypes.as_dtype(row_splits_dtype)
    if not is_sparse(sparse):
        raise TypeError(f"Expected SparseTensor, got {type(sparse).__name__}")
    with name_scope(name, "RaggedFromSparse", [sparse]):
        sparse = convert_to_tensor_or_sparse_tensor(sparse, name="st_input")
        by_shape = sparse.dense_shape.shape.dims_tuple
        by_indices = sparse.indices.shape.dims_tuple
        if (not by_shape or by_shape[0] != 2) and (
            by_indices is None or by_indices[1] != 2
        ):
            raise ValueError("rank(st_input) must be 2")
        with control_dependencies(_check_ragged_right(sparse.indices)):
            ids = math_ops.cast(sparse.indices[:, 0], kind)
            rows = math_ops.cast(sparse.dense_shape[0], kind)
            return cls.from_value_rowids(sparse.values, ids, rows, validate=False)


def _check_ragged_right(indices: Tensor) -> list[Any]:
    """Checks that each row's columns are 0, 1, 2, ..."""
    prefix, suffix = indices[:, :-1], indices[:, -1]
    is_new = math_ops.reduce_any(math_ops.not_equal(prefix[1:], prefix[:-1]), axis=1)
    goes_on = array_ops.where(
        is_new,
        math_ops.equal(suffix[1:], 0),
        math_ops.equal(suffix[1:], suffix[:-1] + 1),
    )
    starts = math_ops.equal(suffix[:1], 0)
    message = [
        "SparseTensor is not right-ragged",
        "SparseTensor.indices =",
        indices,
    ]
    all_start, all_go_on = math_ops.reduce_all(starts), math_ops.reduce_all(goes_on)
    return [flow.Assert(all_start, message), flow.Assert(all_go_on, message)]


def to_sparse(ragged: RaggedTensor, name: str | None) -> SparseTensor:
    """See `RaggedTensor.to_sparse`."""
    with name_scope(name, "RaggedToSparse", [ragged]):
        parts = apply_op(
            "RaggedTensorToSparse",
            rt_nested_splits=list(ragged.nested_row_splits),
            rt_dense_values=ragged.flat_values,
            name=name,
        )
        return SparseTensor(*parts)


# --- variants ----------------------------------------------------------------


def from_variant(
    cls: type[RaggedTensor],
    variant: Any,
    dtype: Any,
    output_ragged_rank: int,
    input_ragged_rank: int | None,
    name: str | None,
) -> Any:
    """A ragged tensor from a variant tensor, see RaggedTensorFromVariant."""
    variant = convert_to_tensor(variant, name="variant", dtype=dtypes.variant)
    rank = variant.shape.rank
    if (
        rank is not None
        and input_ragged_rank is not None
        and output_ragged_rank != input_ragged_rank + rank
    ):
        raise ValueError(
            "output_ragged_rank must be equal to input_ragged_rank +"
            f"variant.shape.ndims, found variant.shape.ndims: {rank}, "
            f"input_ragged_rank: {input_ragged_rank}, output_ragged_rank: "
            f"{output_ragged_rank}"
        )
    with name_scope(name, "RaggedFromVariant", [variant]):
        splits, values = apply_op(
            "RaggedTensorFromVariant",
            encoded_ragged=variant,
            input_ragged_rank=-1 if input_ragged_rank is None else input_ragged_rank,
            output_ragged_rank=output_ragged_rank,
            Tvalues=dtype,
            Tsplits=dtypes.int64,
            name=name,
        )
        return cls.from_nested_row_splits(values, splits, validate=False)


def to_variant(ragged: RaggedTensor, batched_input: bool, name: str | None) -> Any:
    """A variant of a ragged tensor, or one for each of its rows."""
    with name_scope(name, "RaggedToVariant", [ragged]):
        return apply_op(
            "RaggedTensorToVariant",
            rt_nested_splits=list(ragged.nested_row_splits),
            rt_dense_values=ragged.flat_values,
            batched_input=batched_input,
            name=name,
        )
