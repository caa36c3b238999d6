"""Tensors and shapes that are broadcast to a shape with ragged dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.ops.array import array_ops
from tensorloom.ops.array.reshape import broadcast_to as dense_broadcast_to
from tensorloom.ops.math import math_ops
from tensorloom.ops.ragged.dynamic_shape import (
    RaggedTensorDynamicShape,
    source_slices,
)
from tensorloom.ops.ragged.ragged_tensor import (
    RaggedTensor,
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
)

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> RaggedTensorDynamicShape:
    """The shape to which both shapes can be broadcast.

    Raises:
      TypeError: an argument is no `RaggedTensorDynamicShape`.
      ValueError: a rank is not known, or the shapes do not fit.
    """
    if not isinstance(shape_x, RaggedTensorDynamicShape):
        raise TypeError("shape_x must be a RaggedTensorDynamicShape")
    if not isinstance(shape_y, RaggedTensorDynamicShape):
        raise TypeError("shape_y must be a RaggedTensorDynamicShape")
    if shape_x.rank is None or shape_y.rank is None:
        raise ValueError("Unable to broadcast: unknown rank")
    rank = max(shape_x.rank, shape_y.rank)
    x, y = shape_x.broadcast_to_rank(rank), shape_y.broadcast_to_rank(rank)
    for axis in range(rank):
        x = x.broadcast_dimension(axis, y.dimension_size(axis))
        y = y.broadcast_dimension(axis, x.dimension_size(axis))
    return x


def broadcast_to(
    rt_input: Any, shape: Any, broadcast_inner_dimensions: bool = True
) -> Any:
    """A tensor with its values repeated to a shape, to which it must fit.

    Args:
      rt_input: a tensor, ragged or not.
      shape: a `RaggedTensorDynamicShape`.
      broadcast_inner_dimensions: whether inner dimensions are broadcast, too.

    Raises:
      TypeError: `shape` is something else.
      ValueError: a rank is not known, or the tensor has more dimensions, or more
        ragged ones, or row splits of another dtype.
    """
    if not isinstance(shape, RaggedTensorDynamicShape):
        raise TypeError("shape must be a RaggedTensorDynamicShape")
    tensor = convert_to_tensor_or_ragged_tensor(rt_input)
    if shape.num_partitioned_dimensions:
        return _to_ragged(tensor, shape, broadcast_inner_dimensions)
    if is_ragged(tensor):
        raise ValueError("Incompatible with shape: ragged rank mismatch")
    if not broadcast_inner_dimensions:
        return tensor
    return dense_broadcast_to(tensor, shape.inner_dim_sizes)


def _to_ragged(
    tensor: Any, shape: RaggedTensorDynamicShape, broadcasts_inner: bool
) -> RaggedTensor:
    rank = _checked_rank(tensor, shape)
    dtype = shape.dim_size_dtype
    source = RaggedTensorDynamicShape.from_tensor(tensor).with_dim_size_dtype(dtype)
    source = source.broadcast_to_rank(rank)
    rows = array_ops.zeros([1], dtype)
    nested: list[Tensor] = []
    for axis in range(shape.num_partitioned_dimensions):
        old, new = source.dimension_size(axis), shape.dimension_size(axis)
        lengths = new
        if new.shape.rank == 0:
            lengths = array_ops.fill(array_ops.shape(rows), new)
        old_lengths = old
        if old.shape.rank == 1:
            old_lengths = array_ops.gather(old, rows)
        is_repeated = None
        if old.shape.rank == 0:
            is_repeated = math_ops.logical_and(
                math_ops.equal(old_lengths, 1), math_ops.not_equal(lengths, 1)
            )
        rows = source_slices(rows, old, lengths, is_repeated)
        if axis:
            nested.append(lengths)
    values = array_ops.gather(_slices(tensor, shape, rank), rows)
    if broadcasts_inner:
        inner = shape.inner_dim_sizes
        count = array_ops.shape(rows, out_type=dtype)
        values = dense_broadcast_to(values, array_ops.concat([count, inner], 0))
    result: RaggedTensor = RaggedTensor.from_nested_row_lengths(
        values, nested, validate=False
    )
    return result


def _checked_rank(tensor: Any, shape: RaggedTensorDynamicShape) -> int:
    if is_ragged(tensor) and tensor.row_splits.dtype != shape.dim_size_dtype:
        raise ValueError(
            "rt_input and dst_shape have different row_split dtypes; use "
            "RaggedTensor.with_row_splits_dtype() or "
            "RaggedTensorDynamicShape.with_dim_size_dtype() to convert to a "
            "compatible dtype."
        )
    if tensor.shape.rank is None or shape.rank is None:
        raise ValueError("Unable to broadcast: unknown rank")
    if tensor.shape.rank > shape.rank:
        raise ValueError("Incompatible with shape: rank mismatch")
    if is_ragged(tensor) and tensor.ragged_rank >= shape.num_partitioned_dimensions:
        raise ValueError("Incompatible with shape: ragged rank mismatch")
    return shape.rank


def _slices(tensor: Any, shape: RaggedTensorDynamicShape, rank: int) -> Tensor:
    """The values of the tensor, one for each slice of its partitioned dimensions."""
    inner = rank - shape.num_partitioned_dimensions
    flat = tensor.flat_values if is_ragged(tensor) else tensor
    if flat.shape.rank <= inner:
        return array_ops.expand_dims(flat, 0)
    sizes = array_ops.shape(flat)[flat.shape.rank - inner :]
    return array_ops.reshape(flat, array_ops.concat([[-1], sizes], 0))
