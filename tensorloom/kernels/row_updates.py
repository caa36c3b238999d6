"""Adds rows to rows of a tensor."""

from __future__ import annotations

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

HOST_DTYPES: Final = (torch.float32, torch.float64, torch.int32, torch.int64)


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
    if len(index) >= _LEAST_ROWS and _may_loop(target, index, update):
        _add_in_loop(target, to_host(index), to_host(update), sign)
        return
    place = None if target.is_cpu else target.device
    rows, change = to_tensor(index, place), to_tensor(update, place)
    add_each_row(target, rows, change, sign)


def _may_loop(target: torch.Tensor, index: Any, update: Any) -> bool:
    return (
        target.is_cpu
        and target.dtype in _COMPILED
        and target.is_contiguous()
        and update.shape == (len(index), *target.shape[1:])
    )


def _add_in_loop(target: torch.Tensor, index: Any, update: Any, sign: int) -> None:
    # Loaded here: it takes some tenths of a second.
    from tensorloom.kernels.loops import rows

    add = rows.add_rows if sign > 0 else rows.subtract_rows
    matrix = target.numpy().reshape(len(target), -1)
    change = np.ascontiguousarray(update).reshape(len(index), -1)
    add(matrix, np.ascontiguousarray(index), change)


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
