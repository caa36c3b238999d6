"""The arrays of requests as one batch, and of its outputs as each request's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tensorloom.framework import errors

Feeds = Mapping[str, Any]
#: What must be equal for two requests to be of one batch.
Shapes = tuple[tuple[int, ...], ...]


def rows_of(feeds: Feeds) -> int | None:
    """The size of the first axis; None where the inputs have not one in common."""
    sizes = {value.shape[0] if np.ndim(value) else None for value in feeds.values()}
    return sizes.pop() if len(sizes) == 1 else None


def shapes_of(feeds: Feeds, pads_rows: bool) -> Shapes:
    """What of the shapes cannot differ: all but the rows, or the ranks alone."""
    shapes = [feeds[name].shape[1:] for name in sorted(feeds)]
    return tuple((len(s),) if pads_rows else s for s in shapes)


def merge(parts: Sequence[Feeds], padding: int) -> dict[str, Any]:
    """The inputs of a batch.

    Args:
      parts: of the requests, one or more, with equal names. Where rows have different
        lengths they are filled with the request's first element, as TensorFlow
        Serving does.
      padding: how many rows to add: copies of the last request's first.
    """
    return {name: _merge([part[name] for part in parts], padding) for name in parts[0]}


def _merge(arrays: list[Any], padding: int) -> Any:
    largest = [max(sizes) for sizes in zip(*(a.shape[1:] for a in arrays), strict=True)]
    arrays = [_filled(array, largest) for array in arrays]
    if padding:
        arrays.append(np.repeat(arrays[-1][:1], padding, axis=0))
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _filled(array: Any, largest: list[int]) -> Any:
    missing = [want - have for want, have in zip(largest, array.shape[1:], strict=True)]
    if not any(missing):
        return array
    if not array.size:
        raise errors.InvalidArgumentError(
            None, None, "Got empty tensor in batch of non-empty tensors."
        )
    filled = np.full(
        (array.shape[0], *largest), array.reshape(-1)[0], dtype=array.dtype
    )
    filled[tuple(slice(size) for size in array.shape)] = array
    return filled


def split(outputs: Sequence[Any], rows: Sequence[int], padding: int) -> list[list[Any]]:
    """The outputs of each request.

    Args:
      outputs: of the batch.
      rows: of each request, in order.
      padding: rows that follow.

    Raises:
      errors.FailedPreconditionError: an output has other rows than the inputs.
    """
    total = sum(rows) + padding
    for output in outputs:
        if not np.ndim(output):
            raise errors.FailedPreconditionError(
                None, None, "Batched output tensor has 0 dimensions"
            )
        if output.shape[0] != total:
            raise errors.FailedPreconditionError(
                None,
                None,
                "Batched output tensor's 0th dimension does not equal the sum of the "
                "0th dimension sizes of the input tensors",
            )
    starts = np.cumsum([0, *rows])
    return [
        [output[start : start + count] for output in outputs]
        for start, count in zip(starts, rows, strict=False)
    ]
