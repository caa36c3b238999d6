"""Rows and elements of ragged tensors by index."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.indexing import batch_gather as batch_gather_ops
from tensorloom.ops.indexing import gather as gather_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.ragged.dimensions import expand_dims
from tensorloom.ops.ragged.ragged_tensor import (
    RaggedTensor,
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
    match_row_splits_dtypes,
)
from tensorloom.ops.ragged.tile import tile


def _only_zero(what: str, value: Any) -> None:
    if not isinstance(value, int) or value != 0:
        raise ValueError(f"{what} != 0 is not supported for ragged gather yet.")


def _params_and_indices(params: Any, indices: Any) -> tuple[Any, Any]:
    params = convert_to_tensor_or_ragged_tensor(params, name="params")
    indices = convert_to_tensor_or_ragged_tensor(indices, name="indices")
    params, indices = match_row_splits_dtypes(params, indices)
    return params, indices


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = 0,
    batch_dims: Any = 0,
    name: str | None = None,
) -> Any:
    """The rows at some indices, which may be ragged too.

    Raises:
      ValueError: another axis than the first, or indices of unknown rank.
    """
    _only_zero("axis", axis)
    _only_zero("batch_dims", batch_dims)
    with name_scope(name, "RaggedGather", [params, indices]):
        params, indices = _params_and_indices(params, indices)
        if is_ragged(indices):
            return indices.with_values(gather(params, indices.values))
        if not is_ragged(params):
            return array_ops.gather(params, indices)
        if indices.shape.rank is None:
            raise ValueError("indices.shape.ndims must be known statically")
        splits = list(params.nested_row_splits)
        found = apply_op(
            "RaggedGather",
            params_nested_splits=splits,
            params_dense_values=params.flat_values,
            indices=indices,
            OUTPUT_RAGGED_RANK=indices.shape.rank + len(splits) - 1,
        )
        return RaggedTensor.from_nested_row_splits(found[1], found[0], validate=False)


def gather_nd(
    params: Any, indices: Any, batch_dims: Any = 0, name: str | None = None
) -> Any:
    """The slices at index tuples, the innermost dimension of `indices`.

    Raises:
      ValueError: index tuples of unknown length.
    """
    _only_zero("batch_dims", batch_dims)
    if not (is_ragged(params) or is_ragged(indices)):
        return gather_ops.gather_nd(params, indices, name)
    with name_scope(name, "RaggedGatherNd", [params, indices]):
        params, indices = _params_and_indices(params, indices)
        rank, width = _tuple_size(indices)
        if rank > 2:
            return _gather_deep(params, indices, rank)
        if width == 0:
            return _repeat_whole(params, indices, rank)
        if width == 1:
            return gather(params, array_ops.reshape(indices, [-1]))
        return _gather_tuples(params, indices, width)


def _tuple_size(indices: Any) -> tuple[int, int]:
    rank = indices.shape.rank
    if rank is None:
        raise ValueError("indices.rank be statically known.")
    if rank == 0:
        raise ValueError("indices.rank must be at least 1.")
    if is_ragged(indices) and rank == indices.ragged_rank + 1:
        raise ValueError("The innermost dimension of indices may not be ragged")
    width = indices.shape.dims_tuple[-1]
    if width is None:
        raise ValueError("indices.shape[-1] must be statically known.")
    return rank, width


def _gather_deep(params: Any, indices: Any, rank: int) -> Any:
    dense = not is_ragged(indices)
    if dense:
        indices = RaggedTensor.from_tensor(
            indices,
            ragged_rank=rank - 2,
            row_splits_dtype=params.row_splits.dtype
            if is_ragged(params)
            else dtypes.int64,
        )
    result = indices.with_flat_values(gather_nd(params, indices.flat_values))
    if dense and is_ragged(result) and result.ragged_rank == rank - 2:
        return result.to_tensor()
    return result


def _repeat_whole(params: Any, indices: Tensor, rank: int) -> Any:
    params_rank = params.ragged_rank + array_ops.rank(params.flat_values)
    for _ in range(rank - 1):
        params = expand_dims(params, axis=0)
    repeats = array_ops.shape(indices)[:-1]
    ones = array_ops.ones([params_rank], dtypes.int32)
    multiples = array_ops.concat([repeats, ones], axis=0)
    return tile(params, multiples)


def _gather_tuples(params: RaggedTensor, indices: Tensor, width: int) -> Any:
    """Each tuple becomes one index into the values, level by level."""
    indices = math_ops.cast(indices, params.row_splits.dtype)
    places = array_ops.gather(params.row_splits, indices[..., 0])
    places += indices[..., 1]
    values: Any = params.values
    for dim in range(2, width):
        if not is_ragged(values):
            places = array_ops.expand_dims(places, axis=1)
            places = array_ops.concat([places, indices[..., dim:]], axis=1)
            return array_ops.gather_nd(values, places)
        places = array_ops.gather(values.row_starts(), places)
        places += indices[..., dim]
        values = values.values
    return gather(values, places)


def batch_gather(params: Any, indices: Any, name: str | None = None) -> Any:
    """Elements of each row by the indices of that row.

    Raises:
      ValueError: the batches do not fit.
    """
    if not (is_ragged(params) or is_ragged(indices)):
        return batch_gather_ops.batch_gather(params, indices, name)
    with name_scope(name, "RaggedBatchGather", [params, indices]):
        params, indices = _params_and_indices(params, indices)
        rank = indices.shape.rank
        if rank is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        if rank == 0:
            raise ValueError("indices.rank must be at least 1.")
        if is_ragged(indices):
            if rank > 2:
                return _batch_gather_deep(params, indices)
            return _batch_gather_rows(params, indices)
        if rank == 1:
            return gather(params, indices)
        if rank == 2:
            starts = array_ops.expand_dims(params.row_starts(), 1)
            places = math_ops.cast(indices, starts.dtype) + starts
            return gather(params.values, places)
        raise ValueError("batch shape from indices does not match params shape")


def _batch_gather_deep(params: Any, indices: RaggedTensor) -> RaggedTensor:
    if not is_ragged(params):
        raise ValueError("batch shape from indices does not match params shape")
    check = check_ops.assert_equal(params.row_splits, indices.row_splits)
    with control_dependencies([check]):
        values = batch_gather(params.values, indices.values)
        return RaggedTensor.from_row_splits(values, indices.row_splits, validate=False)


def _batch_gather_rows(params: Any, indices: RaggedTensor) -> RaggedTensor:
    if not is_ragged(params):
        rank = params.shape.rank
        if rank is not None and rank < 2:
            raise ValueError("batch shape from indices does not match params shape")
        params = RaggedTensor.from_tensor(
            params, ragged_rank=1, row_splits_dtype=indices.row_splits.dtype
        )
    lengths = indices.row_lengths()
    starts = array_ops.repeat_with_axis(params.row_starts(), lengths, axis=0)
    places = math_ops.cast(indices.values, starts.dtype) + starts
    values = gather(params.values, places)
    return RaggedTensor.from_row_splits(values, indices.row_splits, validate=False)
