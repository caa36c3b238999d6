"""Adds rows to rows of a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import torch

from tensorloom.kernels.variable_value import to_host, to_tensor

# From this many rows on, the compiled loop is worth its loading.
_LEAST_ROWS: Final = 96
# What torch's `index_add_` adds in vectors, sums of halves without rounding each. There
# is no loop for halves.
_HALVES: Final = (torch.float16, torch.bfloat16)
# What the loop adds.
_COMPILED: Final = (
    *(torch.float32, torch.float64, torch.complex64, torch.complex128),
    *(torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8),
)


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
    is_worth = len(index) >= _LEAST_ROWS and target.dtype in _COMPILED
    if is_worth and target.is_cpu and target.is_contiguous():
        whole, change = target.numpy(), to_host(update)
        if change.shape == (len(index), *whole.shape[1:]):
            (_loops or _load())[sign](
                _matrix(whole), np.ascontiguousarray(to_host(index)), _matrix(change)
            )
            return
    place = None if target.is_cpu else target.device
    add_each_row(target, to_tensor(index, place), to_tensor(update, place), sign)


# The compiled loops by the sign, once they are needed: they take a while to load.
_loops: dict[int, Callable[[Any, Any, Any], None]] = {}


def _load() -> dict[int, Callable[[Any, Any, Any], None]]:
    from tensorloom.kernels.loops import rows

    _loops.update({1: rows.add_rows, -1: rows.subtract_rows})
    return _loops


def _matrix(rows: Any) -> Any:
    whole = np.ascontiguousarray(rows)
    return whole if whole.ndim == 2 else whole.reshape(len(whole), -1)


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
