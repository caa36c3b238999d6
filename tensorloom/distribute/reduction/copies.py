"""Tensors and IndexedSlices copied between devices, added up and divided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.distribute.values.distributed_values import DistributedValues
from tensorloom.framework.graph.graph import device
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import concat as concat_ops
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.math import math_ops


def aggregate_tensors_or_indexed_slices(
    values: Sequence[Any], accumulation_fn: Callable[[Any], Any] = math_ops.add_n
) -> Any:
    """The sum of tensors, or of IndexedSlices (all of their slices)."""
    if any(isinstance(value, IndexedSlices) for value in values):
        return _concatenated([_as_slices(value) for value in values])
    return accumulation_fn(values)


def _as_slices(value: Any) -> IndexedSlices:
    if isinstance(value, IndexedSlices):
        return value
    tensor = convert_to_tensor(value)
    rows = math_ops.range(0, tensor.shape[0].value)
    return IndexedSlices(tensor, rows, tensor.shape)


def _concatenated(slices: Sequence[IndexedSlices]) -> IndexedSlices:
    if len(slices) == 1:
        return slices[0]
    return IndexedSlices(
        concat_ops.concat([s.values for s in slices], axis=0),
        concat_ops.concat([s.indices for s in slices], axis=0),
        slices[0].dense_shape,
    )


def divide_by_n_tensors_or_indexed_slices(value: Any, n: int) -> Any:
    """value / n."""
    if isinstance(value, IndexedSlices):
        return IndexedSlices(value.values / n, value.indices, value.dense_shape)
    return value / n


def copy_tensor_or_indexed_slices_to_device(value: Any, device_name: str) -> Any:
    """An Identity of a tensor, or of the parts of IndexedSlices, on a device."""
    with device(device_name):
        if not isinstance(value, IndexedSlices):
            return identity_ops.identity(value)
        values = identity_ops.identity(value.values)
        indices = identity_ops.identity(value.indices)
        shape = value.dense_shape
        if shape is not None:
            shape = identity_ops.identity(shape)
        return IndexedSlices(values, indices, shape)


def contains_indexed_slices(value: Any) -> bool:
    """Whether a value, or one of a list or of replicas, is an IndexedSlices."""
    if isinstance(value, IndexedSlices):
        return True
    if isinstance(value, list | tuple) and value:
        return any(contains_indexed_slices(v) for v in value)
    if isinstance(value, DistributedValues):
        return contains_indexed_slices(value.values)
    return False


def split_by_sparsity(
    values: Sequence[Any],
) -> tuple[list[Any], list[int], list[Any], list[int]]:
    """(dense values, their places, values of IndexedSlices, their places)."""
    dense, dense_places, sparse, sparse_places = [], [], [], []
    for place, value in enumerate(values):
        if all(isinstance(part, IndexedSlices) for part in value.values):
            sparse.append(value)
            sparse_places.append(place)
        else:
            dense.append(value)
            dense_places.append(place)
    return dense, dense_places, sparse, sparse_places


def stitch_values(
    values_and_indices: Sequence[tuple[Sequence[Any], Sequence[int]]],
) -> list[Any]:
    """The values of several lists, each at its place."""
    placed: dict[int, Any] = {}
    for values, indices in values_and_indices:
        placed.update(zip(indices, values, strict=True))
    return [placed[place] for place in range(len(placed))]
