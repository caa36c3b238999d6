"""`ragged[...]`: rows, slices of rows, and slices within rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.ragged.gather import gather
from tensorloom.ops.ragged.math import ragged_range
from tensorloom.ops.ragged.operators import RaggedOperators
from tensorloom.ops.ragged.ragged_tensor import RaggedTensor, is_ragged


def getitem(ragged: RaggedTensor, key: Any) -> Any:
    """A part of a ragged tensor, as `array[key]`.

    Raises:
      ValueError: a single index within rows that are ragged.
      TypeError: a slice of something else than integers.
    """
    keys = list(key) if isinstance(key, list | tuple) else [key]
    with name_scope(None, "RaggedGetItem", [ragged, *_tensors(key)]):
        return _rows(ragged, keys)


def _tensors(key: Any) -> Iterator[Tensor]:
    if isinstance(key, Tensor):
        yield key
    elif isinstance(key, list | tuple):
        for part in key:
            yield from _tensors(part)
    elif isinstance(key, slice):
        yield from _tensors([key.start, key.stop, key.step])


def _rows(ragged: RaggedTensor, keys: list[Any]) -> Any:
    if not keys:
        return ragged
    key, inner = keys[0], keys[1:]
    if key is Ellipsis:
        return _rows(ragged, _without_ellipsis(keys, ragged.shape.rank))
    if key is None:
        part = _rows(ragged, inner)
        kind = part.row_splits.dtype
        count = array_ops.shape(part.row_splits, out_type=kind)[0]
        splits = array_ops.stack([0, count - 1])
        return RaggedTensor.from_row_splits(part, splits, validate=False)
    if isinstance(key, slice):
        return _columns(_slice_rows(ragged, key), inner)
    starts, limits = _bounds(ragged)
    row = ragged.values[starts[key] : limits[key]]
    return row.__getitem__(inner)


def _slice_rows(ragged: RaggedTensor, key: slice) -> RaggedTensor:
    if key.start is None and key.stop is None and key.step is None:
        return ragged
    splits = ragged.row_splits
    starts, limits = splits[:-1][key], splits[1:][key]
    zero = array_ops.zeros([1], splits.dtype)
    if key.step not in (None, 1):
        return _from_ranges(starts, limits, 1, ragged.values)
    # A zero alone when no row is left.
    kept = array_ops.concat(
        [zero[array_ops.size(starts) :], starts[:1], limits], axis=0
    )
    first, last = kept[0], kept[-1]
    return RaggedTensor.from_row_splits(
        ragged.values[first:last], kept - first, validate=False
    )


def _columns(ragged: Any, keys: list[Any]) -> Any:
    if not keys:
        return ragged
    if isinstance(ragged, Tensor):
        return ragged.__getitem__([slice(None), *keys])
    key, inner = keys[0], keys[1:]
    if key is Ellipsis:
        return _columns(ragged, _without_ellipsis(keys, ragged.values.shape.rank))
    if key is None:
        part = _columns(ragged, inner)
        kind = part.row_splits.dtype
        count = array_ops.shape(part.row_splits, out_type=kind)[0]
        splits = math_ops.range(count)
        return RaggedTensor.from_row_splits(part, splits, validate=False)
    if not isinstance(key, slice):
        raise ValueError("Cannot index into an inner ragged dimension.")
    if key.start is None and key.stop is None and key.step is None:
        return ragged.with_values(_columns(ragged.values, inner))
    new_starts, new_limits = _bounds(ragged)
    if key.start is not None and key.start != 0:
        new_starts = _offset(key.start, *_bounds(ragged))
    if key.stop is not None and key.stop != 0:
        new_limits = _offset(key.stop, *_bounds(ragged))
    part = _from_ranges(new_starts, new_limits, key.step, ragged.values)
    return part.with_values(_columns(part.values, inner))


def _bounds(ragged: RaggedTensor) -> tuple[Tensor, Tensor]:
    return ragged.row_splits[:-1], ragged.row_splits[1:]


def _without_ellipsis(keys: list[Any], rank: int | None) -> list[Any]:
    if rank is None:
        raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
    indices = sum(key is not None for key in keys)
    if indices > rank + 1:
        raise IndexError("Too many indices for RaggedTensor")
    return keys[1:] if indices == rank + 1 else [slice(None), *keys]


def _from_ranges(
    starts: Tensor, limits: Tensor, step: Any, values: Any
) -> RaggedTensor:
    step = convert_to_tensor(1 if step is None else step, name="step")
    if not step.dtype.is_integer:
        raise TypeError("slice strides must be integers or None")
    step = math_ops.cast(step, starts.dtype)
    places = ragged_range(starts, limits, step, row_splits_dtype=starts.dtype)
    pick = gather if is_ragged(values) else array_ops.gather
    return places.with_values(pick(params=values, indices=places.values))  # type: ignore[no-any-return]


def _offset(offset: Any, starts: Tensor, limits: Tensor) -> Tensor:
    """Where each row starts or ends, so far from its start, or from its end."""
    if isinstance(offset, Tensor):
        offset = math_ops.cast(offset, starts.dtype)
        from_start = math_ops.minimum(starts + offset, limits)
        from_end = math_ops.maximum(limits + offset, starts)
        is_from_start = array_ops.fill(array_ops.shape(starts), offset >= 0)
        return array_ops.where(is_from_start, from_start, from_end)
    if not isinstance(offset, int):
        raise TypeError("slice offsets must be integers or None")
    if offset > 0:
        return math_ops.minimum(starts + offset, limits)
    return math_ops.maximum(limits + offset, starts)


RaggedOperators.__getitem__ = getitem  # type: ignore[method-assign,assignment]
