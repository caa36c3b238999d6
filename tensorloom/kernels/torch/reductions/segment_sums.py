"""Sums of the rows that belong together."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from tensorloom.kernels.torch.reductions.segment_rows import (
    COMPILED,
    FEW,
    combine_rows,
    matrix,
    places,
)
from tensorloom.kernels.torch.state.variable_value import to_host, to_tensor


def sum_segments(
    data: torch.Tensor, ids: Any, rows: int, *, indices: torch.Tensor | None = None
) -> torch.Tensor:
    """out[ids[i]] += data[i], or data[indices[i]], from zeros [rows, ...].

    On a CPU they are added in the order of i, except halves.

    Args:
      data: [n, ...].
      ids: int32 or int64, [k], each in [0, rows); NumPy or torch.
      rows: how many sums there are.
      indices: int32 or int64, [k], each in [0, n); without them k is n.
    """
    shape = (rows, *data.shape[1:])
    is_compiled = data.is_cpu and data.dtype in COMPILED
    width = math.prod(shape[1:])
    if indices is not None and is_compiled and len(ids) * width > FEW:
        return _sum_gathered(data, to_host(ids), to_host(indices), shape, width)
    values = data if indices is None else data.index_select(0, indices)
    if is_compiled:
        sums = np.zeros(shape, values.numpy().dtype)
        combine_rows("add", sums, values.numpy(), to_host(ids))
        return torch.from_numpy(sums)
    # A quarter of the time, but sums of halves are not rounded one by one.
    at = to_tensor(ids, data.device).long()
    out = torch.zeros(shape, dtype=data.dtype, device=data.device)
    return out.index_add_(0, at, values)


def _sum_gathered(
    data: torch.Tensor, ids: Any, indices: Any, shape: tuple[int, ...], width: int
) -> torch.Tensor:
    # Loaded here: it takes some tenths of a second.
    from tensorloom.kernels.loops.reductions import segments

    values = data.numpy()
    sums = np.zeros((shape[0], width), values.dtype)
    segments.add_gathered(sums, matrix(values, width), places(indices), places(ids))
    return torch.from_numpy(sums.reshape(shape))
