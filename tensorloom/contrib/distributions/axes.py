"""Axes of batches and events: moved, padded, and added to multiply by.

Programs reach these as `tensorflow.contrib.distributions.python.ops.distribution_util`.
"""

from __future__ import annotations

from typing import Any

from tensorloom.distributions.parameters import common_shape
from tensorloom.distributions.static_values import prefer_static_rank
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops


def broadcast_shape(*tensors: Tensor) -> Any:
    """The shape that tensors have together: a list of ints if it is known."""
    static = common_shape(*tensors)
    if static.is_fully_defined():
        return static.as_list()
    shape = array_ops.shape(tensors[0])
    for tensor in tensors[1:]:
        shape = array_ops.broadcast_dynamic_shape(shape, array_ops.shape(tensor))
    return shape


def move_dimension(x: Tensor, source_idx: int, dest_idx: int) -> Tensor:
    """`x` with one axis at another place; negative places count from the end."""
    rank = prefer_static_rank(x)
    source = source_idx + rank if source_idx < 0 else source_idx
    goal = dest_idx + rank if dest_idx < 0 else dest_idx
    if all(isinstance(place, int) for place in (rank, source, goal)):
        rest = [axis for axis in range(rank) if axis != source]
        return array_ops.transpose(x, [*rest[:goal], source, *rest[goal:]])
    axes = math_ops.range(rank)
    others = array_ops.concat([axes[:source], axes[source + 1 :]], 0)
    moved = array_ops.reshape(convert_to_tensor(source), [1])
    order = array_ops.concat([others[:goal], moved, others[goal:]], 0)
    return array_ops.transpose(x, order)


def pad(
    x: Any,
    axis: Any,
    front: bool = False,
    back: bool = False,
    value: Any = 0,
    count: Any = 1,
    name: str | None = None,
) -> Tensor:
    """`x` with `count` entries of `value` more at one or both ends of an axis.

    Raises:
      ValueError: neither `front` nor `back` is True.
      TypeError: `count` is no integer.
    """
    with name_scope(name, "pad", [x, value, count]):
        x = convert_to_tensor(x, name="x")
        value = convert_to_tensor(value, dtype=x.dtype, name="value")
        count = convert_to_tensor(count, name="count")
        if not count.dtype.is_integer:
            raise TypeError(f"`count.dtype` (`{count.dtype.name}`) must be `int`-like.")
        if not front and not back:
            raise ValueError("At least one of `front`, `back` must be `True`.")
        rank = prefer_static_rank(x)
        axis = convert_to_tensor(axis, name="axis")
        known = constant_value(axis)
        if known is None:
            axis = array_ops.where_v2(axis < 0, rank + axis, axis)
        else:
            axis = rank + int(known) if known < 0 else int(known)
        count = math_ops.cast(count, "int32")
        here = array_ops.one_hot(axis, depth=rank, on_value=count, dtype=count.dtype)
        none = array_ops.zeros_like(here)
        ends = [here if front else none, here if back else none]
        padded = array_ops.pad(x, array_ops.stack(ends, axis=1), constant_values=value)
        if isinstance(axis, int) and x.shape.ndims is not None:
            sizes, more = x.shape.as_list(), constant_value(count)
            is_open = sizes[axis] is None or more is None
            added = 0 if is_open else int(more) * (front + back)
            sizes[axis] = None if is_open else sizes[axis] + added
            padded.set_shape(TensorShape(sizes))
        return padded


def spread(x: Tensor, batch_rank: Any, event_rank: int) -> Tensor:
    """[samples..., own batch..., k] as [samples..., batch..., k, 1...]: to multiply by.

    Args:
      batch_rank: how many axes the batch has beside those that `x` has.
      event_rank: how many axes an event has.
    """
    sizes = array_ops.shape(x)
    shape = [
        sizes[:-1],
        array_ops.ones([batch_rank], dtype=sizes.dtype),
        sizes[-1:],
        array_ops.ones([event_rank], dtype=sizes.dtype),
    ]
    return array_ops.reshape(x, array_ops.concat(shape, axis=0))


def batch_rank_of(distribution: Any) -> Any:
    """How many axes the batch has: an int if that is known."""
    if distribution.batch_shape.ndims is not None:
        return distribution.batch_shape.ndims
    return array_ops.size(distribution.batch_shape_tensor())


def pad_mixture_dimensions(
    x: Tensor,
    mixture_distribution: Any,
    categorical_distribution: Any,
    event_ndims: int,
) -> Tensor:
    """A value per class, with the axes of the mixture's batch and event beside it."""
    with name_scope("pad_mix_dims", values=[x]):
        rank = batch_rank_of(mixture_distribution)
        more = array_ops.where_v2(
            categorical_distribution.is_scalar_batch(),
            rank,
            rank - batch_rank_of(categorical_distribution),
        )
        return spread(x, more, event_ndims)


def mixture_stddev(
    mixture_weight_vector: Tensor, mean_vector: Tensor, stddev_vector: Tensor
) -> Tensor:
    """The standard deviations [batch] of mixtures.

    Args:
      mixture_weight_vector: the weights, [batch, components].
      mean_vector, stddev_vector: of the components, of the same shape.

    Raises:
      ValueError: the shapes differ, or are not of rank 2.
    """
    shape = mixture_weight_vector.shape
    shape.assert_has_rank(2)
    for what, vector in (("means", mean_vector), ("stddevs", stddev_vector)):
        if not vector.shape.is_compatible_with(shape):
            raise ValueError(f"Expecting {what} to have same shape as mixture weights.")

    def average(values: Tensor) -> Tensor:
        return math_ops.reduce_sum(mixture_weight_vector * values, axis=1)

    squares = math_ops.square(stddev_vector) + math_ops.square(mean_vector)
    variance = average(squares) - math_ops.square(average(mean_vector))
    return math_ops.sqrt(variance)
