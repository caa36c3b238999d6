"""Partitioners: how many slices a variable gets along each axis."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.dtypes import DType
from tensorloom.framework.types.tensor_shape import TensorShape

Partitioner = Callable[..., list[int]]


@export("variable_axis_size_partitioner")
def variable_axis_size_partitioner(
    max_shard_bytes: int,
    axis: int = 0,
    bytes_per_string_element: int = 16,
    max_shards: int | None = None,
) -> Partitioner:
    """A partitioner that keeps slices below `max_shard_bytes`.

    Raises:
      ValueError: an argument is not positive.
    """
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError(
            "Both max_shard_bytes and bytes_per_string_element must be positive."
        )
    if max_shards and max_shards < 1:
        raise ValueError("max_shards must be positive.")

    def partitioner(shape: TensorShape, dtype: DType) -> list[int]:
        if not isinstance(shape, TensorShape):
            raise ValueError(f"shape is not a TensorShape: {shape}")
        if not shape.is_fully_defined():
            raise ValueError(f"shape is not fully defined: {shape}")
        if not isinstance(dtype, DType):
            raise ValueError(f"dtype is not a DType: {dtype}")
        size = _element_size(dtype, bytes_per_string_element)
        dims: list[Any] = shape.as_list()
        elements: Any = shape.num_elements()
        slice_bytes = elements / dims[axis] * size
        slices_per_shard = max(1, math.floor(max_shard_bytes / slice_bytes))
        shards = math.ceil(dims[axis] / slices_per_shard)
        partitions = [1] * len(dims)
        partitions[axis] = min(max_shards, shards) if max_shards else shards
        return partitions

    return partitioner


@export("min_max_variable_partitioner")
def min_max_variable_partitioner(
    max_partitions: int = 1,
    axis: int = 0,
    min_slice_size: int = 256 << 10,
    bytes_per_string_element: int = 16,
) -> Partitioner:
    """A partitioner with at most `max_partitions` slices of `min_slice_size` bytes."""

    def partitioner(shape: TensorShape, dtype: DType) -> list[int]:
        if axis >= len(shape):
            raise ValueError(
                f"Can not partition variable along axis {axis} when shape is only "
                f"{shape}"
            )
        elements: Any = shape.num_elements()
        total = elements * _element_size(dtype, bytes_per_string_element)
        dims: list[Any] = shape.as_list()
        partitions = [1] * len(dims)
        wanted = math.ceil(total / min_slice_size)
        partitions[axis] = max(1, min(dims[axis], max_partitions, wanted))
        return partitions

    return partitioner


@export("fixed_size_partitioner")
def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Partitioner:
    """A partitioner with `num_shards` slices, or one a row where there are fewer."""

    def partitioner(shape: TensorShape, **unused_args: Any) -> list[int]:
        dims: list[Any] = shape.as_list()
        partitions = [1] * len(dims)
        partitions[axis] = min(num_shards, dims[axis])
        return partitions

    return partitioner


def _element_size(dtype: DType, bytes_per_string_element: int) -> int:
    if dtype.base_dtype == dtypes.string:
        return bytes_per_string_element
    return dtype.size


@export("create_partitioned_variables")
def create_partitioned_variables(
    shape: Any,
    slicing: list[int],
    initializer: Any,
    dtype: Any = dtypes.float32,
    trainable: bool = True,
    collections: Any = None,
    name: str | None = None,
    reuse: bool | None = None,
) -> list[Any]:
    """Makes a list of slices of one variable, `slicing` of them along each axis.

    Raises:
      ValueError: `slicing` does not fit `shape`.
    """
    from tensorloom.client.variables import variable_scope

    if len(shape) != len(slicing):
        raise ValueError(
            "The 'shape' and 'slicing' of a partitioned Variable must have the length: "
            f"shape: {shape}, slicing: {slicing}"
        )
    if len(shape) < 1:
        raise ValueError(
            f"A partitioned Variable must have rank at least 1: shape: {shape}"
        )
    with variable_scope.variable_scope(name, "PartitionedVariable", reuse=reuse):
        variable = variable_scope.get_partitioned_variable(
            name=None,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            trainable=trainable,
            partitioner=lambda **unused: slicing,
            collections=collections,
        )
    return list(variable)
