"""Adds rows to rows of a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import torch

from tensorloom.kernels.torch.state.variable_value import to_host, to_tensor

# From this many rows on, the compiled loop is worth its loading.
_LEAST_ROWS: Final = 96
# What torch's `index_add_` adds in vectors, sums of halves without rounding each. There
# is no loop for halves.
_HALVES: Final = (torch.float16, torch.bfloat16)
# Codes of what the loop adds.
_COMPILED: Final = frozenset("fdFDbhilqB")


def add_rows(target: torch.Tensor, index: Any, update: Any, sign: int = 1) -> None:
    """target[index[i]] += sign * update[i], for each i in turn.

    Args:
      target: of shape [n, ...].
      index: int32 or int64, [k], each in [0, n); NumPy or torch.
      update: of the target's dtype, [k, ...]; NumPy or torch.
      sign: 1 or -1.

    Raises:
      RuntimeError: torch's, where the shapes do not fit.
      IndexError: an index is out of range.
    """
    is_plain = target.is_cpu and target.dtype not in _HALVES
    if is_plain and update.shape == (index.shape[0], *target.shape[1:]):
        is_done = add_rows_in_loop(target.numpy(), index, update, sign)
        if is_done is not None:
            if not is_done:
                raise IndexError("a row that is to be changed does not exist")
            return
    place = None if target.is_cpu else target.device
    add_each_row(target, to_tensor(index, place), to_tensor(update, place), sign)


def add_rows_in_loop(target: Any, index: Any, update: Any, sign: int) -> bool | None:
    """The same of an array by the compiled loop, which looks at the indices.

    Args:
      target: of shape [n, ...].
      index: int32 or int64, [k]; NumPy or torch.
      update: exactly of shape [k, ...] and of the target's dtype; NumPy or torch.
      sign: 1 or -1.

    Returns:
      None if the loop is not for these: few rows, halves, a target with gaps. Else
      whether all indices are in [0, n); if not, nothing was changed.
    """
    count = index.shape[0]
    if (
        count < _LEAST_ROWS
        or target.dtype.char not in _COMPILED
        or not target.flags.c_contiguous
    ):
        return None
    index = np.ascontiguousarray(to_host(index))
    change = np.ascontiguousarray(to_host(update))
    if target.ndim != 2:
        width = change.size // count
        target = target.reshape(len(target), width)
        change = change.reshape(count, width)
    is_done: bool = (_loops or _load())[sign](target, index, change)
    return is_done


# The compiled loops by the sign, once they are needed: they take a while to load.
_loops: dict[int, Callable[[Any, Any, Any], bool]] = {}


def _load() -> dict[int, Callable[[Any, Any, Any], bool]]:
    from tensorloom.kernels.loops.indexing import rows

    _loops.update({1: rows.add_rows, -1: rows.subtract_rows})
    return _loops


def add_each_row(
    target: torch.Tensor, rows: torch.Tensor, change: torch.Tensor, sign: int = 1
) -> torch.Tensor:
    """target[rows[i]] += sign * change[i], for each i in turn; the target.

    Raises:
      RuntimeError: torch's, where the shapes do not fit.
    """
    if target.dtype not in _HALVES:
        # A quarter of the time, but sums of halves are not rounded one by one then.
        rows = rows.long()
    return target.index_add_(0, rows, change, alpha=sign)
