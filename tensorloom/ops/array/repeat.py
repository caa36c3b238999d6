"""`tf.repeat`: each element as often as a count says."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import concat as concat_ops
from tensorloom.ops.array import fill as fill_ops
from tensorloom.ops.array import pad as pad_ops
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.array import stack as stack_ops
from tensorloom.ops.indexing import one_hot as one_hot_ops
from tensorloom.ops.indexing import selection as selection_ops


@export("repeat")
def repeat(
    input: Any, repeats: Any, axis: int | None = None, name: str | None = None
) -> Tensor:
    """`input` with each slice along `axis` repeated.

    Args:
      repeats: how often, one number or one for each slice.
      axis: the input is flattened when None.

    Raises:
      ValueError: the axis is out of range, or the lengths differ.
    """
    if axis is None:
        input = reshape_ops.reshape(input, [-1])
        axis = 0
    return repeat_with_axis(input, repeats, axis, name)


def repeat_with_axis(
    data: Any, repeats: Any, axis: int, name: str | None = None
) -> Tensor:
    """`repeat` along one axis; `repeats` may also have the axes before it.

    Raises:
      TypeError: the axis is not an int, or `repeats` not of integers.
      ValueError: the axis is out of range, or the shapes do not fit.
    """
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    with name_scope(name, "Repeat", [data, repeats]):
        data = convert_to_tensor(data, name="data")
        repeats = _to_int_tensor(repeats, name="repeats")
        repeats.shape.with_rank_at_most(1)
        data = _with_nonzero_rank(data)
        data_shape = shape_ops.shape(data)
        axis = _positive_axis(axis, data.shape.rank)
        if repeats.shape.rank == 0:
            return _repeat_all(data, data_shape, repeats, axis)
        if repeats.shape.rank == 1 and data.shape.dims is not None:
            data.shape.dims[axis].assert_is_compatible_with(repeats.shape[0])
        return _repeat_each(data, data_shape, repeats, axis)


def _repeat_all(data: Tensor, data_shape: Tensor, repeats: Tensor, axis: int) -> Tensor:
    expanded = reshape_ops.expand_dims(data, axis + 1)
    tiled = _tile_axis(expanded, axis + 1, repeats)
    shape = concat_ops.concat([data_shape[:axis], [-1], data_shape[axis + 1 :]], axis=0)
    return reshape_ops.reshape(tiled, shape)


def _repeat_each(
    data: Tensor, data_shape: Tensor, repeats: Tensor, axis: int
) -> Tensor:
    """Repeats every slice the greatest number of times and masks what is too much."""
    if repeats.shape.rank != axis + 1:
        repeats_shape = shape_ops.shape(repeats)
        repeats_rank = shape_ops.rank(repeats)
        leading = data_shape[: axis + 1 - repeats_rank]
        whole = concat_ops.concat([leading, repeats_shape], axis=0)
        repeats = reshape_ops.broadcast_to(repeats, whole)
        repeats.set_shape([None] * (axis + 1))
    axes = one_hot_ops.all_dimensions(repeats)
    most = apply_op("Max", input=repeats, reduction_indices=axes)
    most = apply_op("Maximum", x=0, y=most)
    mask = one_hot_ops.sequence_mask(repeats, most)
    expanded = reshape_ops.expand_dims(data, axis + 1)
    tiled = _tile_axis(expanded, axis + 1, most)
    result = selection_ops.boolean_mask(tiled, mask)
    if axis:
        shape = concat_ops.concat(
            [data_shape[:axis], [-1], data_shape[axis + 1 :]], axis=0
        )
        result = reshape_ops.reshape(result, shape)
    if data.shape.rank is not None:
        length = 0 if repeats.shape[0] == 0 else None
        known = data.shape[:axis].concatenate([length])
        result.set_shape(known.concatenate(data.shape[axis + 1 :]))
    return result


def _to_int_tensor(value: Any, name: str) -> Tensor:
    tensor = convert_to_tensor(value, name=name, preferred_dtype=dtypes.int32)
    if not tensor.dtype.is_integer:
        raise TypeError(f"{name} must be an integer tensor; dtype={tensor.dtype}")
    return apply_op("Cast", x=tensor, DstT=dtypes.int32)  # type: ignore[no-any-return]


def _positive_axis(axis: int, rank: int | None) -> int:
    if rank is None:
        if axis < 0:
            raise ValueError("axis may only be negative if ndims is statically known.")
        return axis
    if not -rank <= axis < rank:
        raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
    return axis + rank if axis < 0 else axis


def _tile_axis(data: Tensor, axis: int, multiple: Tensor) -> Tensor:
    multiples: Any
    if data.shape.rank is not None:
        multiples = [1] * data.shape.rank
        multiples[axis] = multiple
    else:
        ones = fill_ops.ones(shape_ops.rank(data), dtypes.int32)
        multiples = concat_ops.concat(
            [ones[:axis], [multiple], ones[axis + 1 :]], axis=0
        )
    return pad_ops.tile(data, multiples)


def _with_nonzero_rank(data: Tensor) -> Tensor:
    if data.shape.rank is not None:
        return stack_ops.stack([data]) if data.shape.rank == 0 else data
    shape = shape_ops.shape(data)
    rank = shape_ops.rank(data)
    extended = concat_ops.concat([[1], shape], axis=0)
    return reshape_ops.reshape(data, extended[-rank:])
