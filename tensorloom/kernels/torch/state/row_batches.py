"""Updates of a few rows of many variables, computed together.

A step that looks words up in dozens of tables updates some hundred rows of each. Most
of what that takes are calls, so the rows of several tables are taken out into one
array, updated in a few calls, and put back.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import torch

from tensorloom.kernels.host.indexing.stable_order import find_repeats
from tensorloom.kernels.torch.state.row_updates import add_each_row

# Numbers that are updated together: their rows stay in the processor's cache.
_TOGETHER: Final = 1 << 15

# (rows of the variable and of each slot, gradients) -> their next values, which may be
# in the same memory; None for what stays.
Formula = Callable[[list[Any], Any], Sequence[Any]]


def update_batches(
    arrays: Sequence[Sequence[Any]],
    gradients: Sequence[Any],
    indices: Sequence[Any],
    formula: Formula,
    are_distinct: bool = False,
) -> None:
    """Updates rows of variables in place, each once with the sum of its gradients.

    Args:
      arrays: the variables, and each of their slots; contiguous, [n, ...], with rows of
        one shape.
      gradients: [k, ...] of each, of the variables' dtype.
      indices: np.intp, [k], in [0, n) of each.
      formula: elementwise.
      are_distinct: whether no row of a variable comes twice.
    """
    for batch in _batches(gradients):
        gradient = np.concatenate([gradients[i] for i in batch])
        if not gradient.size:
            continue
        lengths = [len(indices[i]) for i in batch]
        bounds = list(itertools.pairwise(itertools.accumulate(lengths, initial=0)))
        if not are_distinct:
            # Rows of different variables get different numbers.
            heights = itertools.accumulate(
                (len(arrays[0][i]) for i in batch), initial=0
            )
            numbers = np.concatenate([indices[i] for i in batch])
            numbers += np.repeat(list(heights)[:-1], lengths)
            later, first = find_repeats(numbers)
            if len(later):
                _share_sums(gradient, later, first)
        places = [(i, indices[i], *b) for i, b in zip(batch, bounds, strict=True)]
        rows = [_taken(column, places, gradient) for column in arrays]
        for column, updated in zip(arrays, formula(rows, gradient), strict=True):
            if updated is not None:
                _put(column, places, updated)


def _batches(gradients: Sequence[Any]) -> Iterator[list[int]]:
    """Positions of gradients that are small enough together, at least one each."""
    batch: list[int] = []
    size = 0
    for i, gradient in enumerate(gradients):
        if batch and size + gradient.size > _TOGETHER:
            yield batch
            batch, size = [], 0
        batch.append(i)
        size += gradient.size
    if batch:
        yield batch


def _share_sums(gradient: Any, later: Any, first: Any) -> None:
    """Gives each row the sum of all gradients of that row, in their order.

    So all of them give the same update, and none has to be left out.
    """
    add_each_row(
        torch.from_numpy(gradient),
        torch.from_numpy(first),
        torch.from_numpy(gradient.take(later, 0)),
    )
    gradient[later] = gradient.take(first, 0)


_Places = Sequence[tuple[int, Any, int, int]]


def _taken(column: Sequence[Any], places: _Places, like: Any) -> Any:
    rows = np.empty(like.shape, like.dtype)
    for i, at, begin, end in places:
        # What is written into directly; checked before.
        column[i].take(at, 0, rows[begin:end], "clip")
    return rows


def _put(column: Sequence[Any], places: _Places, rows: Any) -> None:
    kind = _row_type(rows.nbytes // len(rows))
    # A row as one element is put back in a third of the time.
    flat = np.ascontiguousarray(rows).reshape(-1).view(kind)
    for i, at, begin, end in places:
        column[i].reshape(-1).view(kind).put(at, flat[begin:end], "clip")


@functools.lru_cache(maxsize=256)
def _row_type(size: int) -> np.dtype[Any]:
    return np.dtype((np.void, size))
