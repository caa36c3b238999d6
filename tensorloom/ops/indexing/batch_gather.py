"""`tf.batch_gather` and `tf.gather_nd` with batch axes, by way of flat indices."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import concat as concat_ops
from tensorloom.ops.array import fill as fill_ops
from tensorloom.ops.array import meshgrid as meshgrid_ops
from tensorloom.ops.array import pad as pad_ops
from tensorloom.ops.array import permute as permute_ops
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.array import stack as stack_ops
from tensorloom.ops.indexing.batch_indices import batch_indices


@export("batch_gather")
def batch_gather(params: Any, indices: Any, name: str | None = None) -> Tensor:
    """Slices of `params` for each member of a batch.

    Args:
      params: [batch..., n, ...].
      indices: [batch..., m], into the n.

    Returns:
      [batch..., m, ...].

    Raises:
      ValueError: the rank of `indices` is not known, or exceeds that of `params`.
    """
    with name_scope(name, "BatchGather", [params, indices]):
        indices = convert_to_tensor(indices, name="indices")
        params = convert_to_tensor(params, name="params")
        rank = indices.shape.rank
        if rank is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        batch_dims = rank - 1
        if batch_dims < 0:
            raise ValueError(
                f"batch_dims = {batch_dims} must be less than rank(indices) = {rank}"
            )
        _check_rank("params", params, batch_dims)
        return _batch_gather(params, indices, batch_dims)


def _batch_gather(params: Tensor, indices: Tensor, batch_dims: int) -> Tensor:
    indices_shape = shape_ops.shape(indices)
    params_shape = shape_ops.shape(params)
    flat_indices = _flat_indices(params_shape, indices, batch_dims)
    outer_shape = params_shape[batch_dims + 1 :]
    rows = apply_op(
        "Prod",
        input=params_shape[: batch_dims + 1],
        reduction_indices=[0],
        keep_dims=False,
    )
    flat_params = reshape_ops.reshape(
        params, concat_ops.concat([[rows], outer_shape], axis=0)
    )
    flat = apply_op("GatherV2", params=flat_params, indices=flat_indices, axis=0)
    result = reshape_ops.reshape(
        flat, concat_ops.concat([indices_shape, outer_shape], axis=0)
    )
    known = indices.shape[:batch_dims].merge_with(params.shape[:batch_dims])
    known = known.concatenate(indices.shape[batch_dims:])
    result.set_shape(known.concatenate(params.shape[batch_dims + 1 :]))
    return result


def _flat_indices(params_shape: Tensor, indices: Tensor, batch_dims: int) -> Tensor:
    """Indices into the batch axes and the gathered one, flattened to one axis."""
    dtype = indices.dtype.base_dtype
    stride = fill_ops.ones((), dtype=dtype)
    sizes = apply_op("Cast", x=params_shape, DstT=dtype)
    flat = batch_indices(sizes, indices, batch_dims, _range, stride)
    return reshape_ops.reshape(flat, [-1])


def _range(start: Any, limit: Any, delta: Any) -> Tensor:
    return apply_op("Range", start=start, limit=limit, delta=delta)  # type: ignore[no-any-return]


def batch_gather_nd(
    params: Any, indices: Any, batch_dims: int, name: str | None = None
) -> Tensor:
    """`gather_nd` for each member of a batch.

    Raises:
      TypeError: `batch_dims` is not an int.
      ValueError: it is negative, or not below both ranks.
    """
    with name_scope(name, "BatchGatherND", [params, indices]):
        indices = convert_to_tensor(indices, name="indices")
        params = convert_to_tensor(params, name="params")
        if not isinstance(batch_dims, int):
            raise TypeError(f"batch_dims must be an int; got {batch_dims!r}")
        if batch_dims < 0:
            raise ValueError("tf.gather_nd does not allow negative batch_dims.")
        _check_rank("indices", indices, batch_dims)
        _check_rank("params", params, batch_dims)
        if batch_dims == 0:
            return apply_op("GatherNd", params=params, indices=indices)  # type: ignore[no-any-return]
        return _batch_gather_nd(params, indices, batch_dims)


def _check_rank(what: str, tensor: Tensor, batch_dims: int) -> None:
    rank = tensor.shape.rank
    if rank is not None and batch_dims >= rank:
        raise ValueError(
            f"batch_dims = {batch_dims} must be less than rank({what}) = {rank}"
        )


def _batch_gather_nd(params: Tensor, indices: Tensor, batch_dims: int) -> Tensor:
    params_shape = shape_ops.shape(params)
    indices_shape = shape_ops.shape(indices)
    batch_shape = params_shape[:batch_dims]
    batch_size = apply_op("Prod", input=batch_shape, reduction_indices=[0])
    inner_rank = shape_ops.rank(indices) - batch_dims - 1
    inner_shape = indices_shape[batch_dims:-1]
    grid = _batch_grid(batch_shape, inner_rank, indices.dtype)
    tile_shape = concat_ops.concat(((1,), inner_shape, (1,)), axis=0)
    grid = pad_ops.tile(grid, multiples=tile_shape)
    flat_shape = concat_ops.concat(([batch_size], indices_shape[batch_dims:]), axis=0)
    flat_indices = reshape_ops.reshape(indices, shape=flat_shape)
    full_indices = concat_ops.concat((grid, flat_indices), axis=-1)
    result = apply_op("GatherNd", params=params, indices=full_indices)
    result_shape = shape_ops.shape(result)
    return reshape_ops.reshape(
        result, shape=concat_ops.concat((batch_shape, result_shape[1:]), axis=0)
    )


def _batch_grid(batch_shape: Tensor, inner_rank: Tensor, dtype: Any) -> Tensor:
    """The batch coordinates of every member, [batch, 1..., batch_dims]."""
    sizes = stack_ops.unstack(batch_shape, axis=0)
    ranges = [apply_op("Cast", x=_range(0, size, 1), DstT=dtype) for size in sizes]
    mesh = meshgrid_ops.meshgrid(*ranges, indexing="ij")
    flat = [reshape_ops.reshape(x, shape=(-1,)) for x in mesh]
    grid = permute_ops.transpose(stack_ops.stack(flat, axis=0))
    grid_shape = shape_ops.shape(grid)
    ones_shape = [
        grid_shape[:1],
        fill_ops.ones(inner_rank, dtype=dtypes.int32),
        grid_shape[1:],
    ]
    return reshape_ops.reshape(grid, concat_ops.concat(ones_shape, axis=0))
