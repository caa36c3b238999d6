"""Adds rows to rows of a tensor."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import torch

from tensorloom.kernels.host.stable_order import are_distinct
from tensorloom.kernels.variable_value import to_host, to_tensor

# torch's `index_add_` takes 40 ns and more for each row, whatever its length. NumPy
# takes the rows out, adds, and puts them back, each in one call: from this many rows
# on that is faster, up to five times, and until rows have more than so many bytes.
_LEAST_ROWS: Final = 96
_GREATEST_ROW: Final = 512
# What NumPy adds in vectors; and single elements one after the other as quickly as
# torch, with a third of what torch's calls take.
HOST_DTYPES: Final = (torch.float32, torch.float64, torch.int32, torch.int64)
# What torch's `index_add_` adds in vectors. For other rows it goes through
# `index_put_` up to six times as fast.
_HALVES: Final = (torch.float16, torch.bfloat16)
_FLOATS: Final = (*_HALVES, torch.float32, torch.float64)


def add_rows(target: torch.Tensor, index: Any, update: Any, sign: int = 1) -> None:
    """target[index[i]] += sign * update[i], for each i in turn.

    Args:
      target: of shape [n, ...].
      index: int32 or int64, [k], each in [0, n); NumPy or torch.
      update: of the target's dtype, [k, ...]; NumPy or torch.
      sign: 1 or -1.

    Raises:
      RuntimeError: torch's, where the shapes do not fit.
    """
    may_suit = target.dim() == 1 or len(index) >= _LEAST_ROWS
    if may_suit and target.is_cpu and target.dtype in HOST_DTYPES:
        ufunc = np.add if sign > 0 else np.subtract
        if _add_on_host(ufunc, target.numpy(), to_host(index), to_host(update)):
            return
    place = None if target.is_cpu else target.device
    rows, change = to_tensor(index, place), to_tensor(update, place)
    add_each_row(target, rows, change, sign)


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
    fits = change.shape == (len(rows), *target.shape[1:])
    if fits and target.is_cpu and target.dim() > 1 and target.dtype not in _FLOATS:
        signed = change if sign > 0 else -change
        return target.index_put_((rows,), signed, accumulate=True)
    return target.index_add_(0, rows, change, alpha=sign)


def _add_on_host(ufunc: np.ufunc, whole: Any, rows: Any, change: Any) -> bool:
    """Adds if NumPy is the faster one for these rows; whether it did."""
    if change.shape != (len(rows), *whole.shape[1:]):
        return False
    if whole.ndim == 1:
        ufunc.at(whole, rows, change)
        return True
    is_narrow = whole.nbytes <= _GREATEST_ROW * len(whole)
    if len(rows) > len(whole) or not is_narrow or not whole.flags.c_contiguous:
        return False
    # Added at once, a row that comes twice would get one update of the two.
    if not are_distinct(rows):
        return False
    taken = whole.take(rows, 0)
    ufunc(taken, change, taken)
    whole[rows] = taken
    return True
