"""Gradients of the Gather ops: IndexedSlices where rows are taken, else a scatter."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.graph.graph import Operation, Tensor, colocate_with
from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.ops.array import concat as concat_ops
from tensorloom.ops.array import permute as permute_ops
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.indexing.batch_indices import batch_indices
from tensorloom.ops.math import math_ops


def _params_shape(params: Tensor) -> Tensor:
    # By way of int64, which the shape of a large variable needs.
    with colocate_with(params):
        shape = shape_ops.shape(params, out_type=dtypes.int64)
        return math_ops.cast(shape, dtypes.int32)  # type: ignore[no-any-return]


@RegisterGradient("Gather")
def gather_grad(op: Operation, grad: Tensor) -> list[Any]:
    """Gradient of Gather: the rows that were taken."""
    params, indices = op.inputs
    shape = _params_shape(params)
    size = reshape_ops.expand_dims(shape_ops.size(indices), 0)
    values_shape = concat_ops.concat([size, shape[1:]], 0)
    values = reshape_ops.reshape(grad, values_shape)
    indices = reshape_ops.reshape(indices, size)
    return [IndexedSlices(values, indices, shape), None]


@RegisterGradient("GatherV2")
def gather_v2_grad(op: Operation, grad: Tensor) -> list[Any]:
    """Gradient of GatherV2: IndexedSlices for axis 0, a dense tensor for others."""
    params, indices, axis = op.inputs
    shape = _params_shape(params)
    indices_size = reshape_ops.expand_dims(shape_ops.size(indices), 0)
    static_axis = constant_value(axis)
    batch_dims = op.get_attr("batch_dims")
    if batch_dims < 0:
        batch_dims += indices.shape.rank
    if static_axis is not None and static_axis == 0:
        values_shape = concat_ops.concat([indices_size, shape[1:]], 0)
        values = reshape_ops.reshape(grad, values_shape)
        rows = reshape_ops.reshape(indices, indices_size)
        return [IndexedSlices(values, rows, shape), None, None]
    return [_dense_grad(shape, indices, axis, batch_dims, grad), None, None]


def _dense_grad(
    shape: Tensor, indices: Tensor, axis: Tensor, batch_dims: int, grad: Tensor
) -> Tensor:
    """Moves the gathered axis to the front, sums by index, and moves it back."""
    outer, inner = shape[:axis], shape[axis:][1:]
    values_shape = concat_ops.concat([outer, [-1], inner], 0)
    rank = shape_ops.size(values_shape)
    outer_rank = shape_ops.size(outer)
    batch_axes = math_ops.range(batch_dims)
    middle_axes = math_ops.range(batch_dims, outer_rank)
    inner_axes = math_ops.range(outer_rank + 1, rank)
    values = reshape_ops.reshape(grad, values_shape)
    there = concat_ops.concat([batch_axes, [outer_rank], middle_axes, inner_axes], 0)
    values = permute_ops.transpose(values, there)
    summed = _sum_by_index(shape, values, indices, batch_dims, shape[axis])
    back = concat_ops.concat([batch_axes, middle_axes + 1, [batch_dims], inner_axes], 0)
    return permute_ops.transpose(summed, back)


def _sum_by_index(
    shape: Tensor, values: Tensor, indices: Tensor, batch_dims: int, size: Tensor
) -> Tensor:
    """Sums `values` into `size` rows, for each member of the batch."""
    indices_size = reshape_ops.expand_dims(shape_ops.size(indices), 0)
    if not batch_dims:
        flat = reshape_ops.reshape(indices, indices_size)
        return math_ops.unsorted_segment_sum(values, flat, size)
    values_shape = shape_ops.shape(values)
    outer = values_shape[:batch_dims]
    inner = values_shape[batch_dims:][1:]
    batch = apply_op("Prod", input=outer, reduction_indices=[0], keep_dims=False)
    flat_shape = concat_ops.concat([[-1], inner], 0)
    size = size * batch
    sizes = math_ops.cast(shape, indices.dtype.base_dtype)
    indices = batch_indices(sizes, indices, batch_dims, math_ops.range)
    values = reshape_ops.reshape(values, flat_shape)
    indices = reshape_ops.reshape(indices, indices_size)
    summed = math_ops.unsorted_segment_sum(values, indices, size)
    return reshape_ops.reshape(summed, concat_ops.concat([outer, flat_shape], 0))


@RegisterGradient("GatherNd")
def gather_nd_grad(op: Operation, grad: Tensor) -> list[Any]:
    """Gradient of GatherNd: rows as IndexedSlices, else a ScatterNd."""
    params, indices = op.inputs
    shape = shape_ops.shape(params, out_type=indices.dtype)
    dims = indices.shape.dims_tuple
    if dims is not None and len(dims) == 2 and dims[-1] == 1:
        rows = reshape_ops.squeeze(indices, axis=-1)
        return [IndexedSlices(grad, rows, shape), None]
    scattered = apply_op("ScatterNd", indices=indices, updates=grad, shape=shape)
    return [scattered, None]
