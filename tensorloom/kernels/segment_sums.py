"""Sums of the rows that belong together."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import torch

from tensorloom.kernels.host.stable_order import stable_order
from tensorloom.kernels.row_updates import HOST_DTYPES, add_each_row
from tensorloom.kernels.variable_value import to_host, to_tensor

# torch's `index_add_` takes 50 ns and more for each row, whatever its length, in one
# thread. Summing bags of embeddings and counting with weights are other names for the
# same sums, up to ten times as fast; but floats only, and not worth it for a few rows,
# for bags of a few rows each, or if a few thousand rows have to be sorted first.
_FEW: Final = 1 << 10
_FEW_UNSORTED: Final = 1 << 15
_PER_BAG: Final = 8
_BAGS: Final = torch.float32
_COUNTS: Final = (torch.float32, torch.float64)
# NumPy adds single elements in 3 ns each, and torch's calls take some to begin with.
_FEW_ELEMENTS: Final = 1 << 12


def sum_segments(
    data: torch.Tensor,
    ids: Any,
    rows: int,
    *,
    indices: torch.Tensor | None = None,
    is_sorted: bool = True,
) -> torch.Tensor:
    """out[ids[i]] += data[i], or data[indices[i]], from zeros [rows, ...].

    Args:
      data: [n, ...].
      ids: int32 or int64, [k], each in [0, rows); NumPy or torch.
      rows: how many sums there are.
      indices: int32 or int64, [k], each in [0, n); without them k is n.
      is_sorted: whether the ids never fall.
    """
    width = math.prod(data.shape[1:])
    if data.is_cpu and data.dtype in HOST_DTYPES and len(ids) * width <= _FEW_ELEMENTS:
        values = data if indices is None else data.index_select(0, indices)
        return _add_elements(values.numpy(), to_host(ids), rows, width)
    ids = to_tensor(ids, data.device)
    if data.is_cpu and width == 1 and data.dtype in _COUNTS:
        weights = data.reshape(-1)
        weights = weights if indices is None else weights.index_select(0, indices)
        sums = torch.bincount(ids, weights=weights, minlength=rows)
        return sums.view(rows, *data.shape[1:])
    is_bags = data.is_cpu and width > 1 and data.dtype is _BAGS
    few = _FEW if is_sorted else _FEW_UNSORTED
    if not is_bags or len(ids) < max(few, _PER_BAG * rows):
        return _add(data, ids, rows, indices)
    if not is_sorted:
        ids, order = map(torch.from_numpy, stable_order(ids.numpy()))
        indices = order if indices is None else indices.index_select(0, order)
    if indices is None:
        indices = torch.arange(len(ids), dtype=torch.int32)
    begins = torch.searchsorted(
        ids.contiguous(),
        torch.arange(rows, dtype=ids.dtype),
        out_int32=indices.dtype is torch.int32,
    )
    matrix = data.reshape(len(data), -1).contiguous()
    sums = torch.embedding_bag(matrix, indices, begins, mode=0)[0]
    return sums.view(rows, *data.shape[1:])


def _add(
    data: torch.Tensor, ids: torch.Tensor, rows: int, indices: torch.Tensor | None
) -> torch.Tensor:
    values = data if indices is None else data.index_select(0, indices)
    out = torch.zeros((rows, *data.shape[1:]), dtype=data.dtype, device=data.device)
    return add_each_row(out, ids.long(), values)


def _add_elements(values: Any, ids: Any, rows: int, width: int) -> torch.Tensor:
    """The sums of rows of so many elements each, one element after the other."""
    out = np.zeros((rows, *values.shape[1:]), values.dtype)
    places = ids.astype(np.intp, copy=False)
    if width != 1:
        places = ((places * width)[:, None] + np.arange(width)).reshape(-1)
    np.add.at(out.reshape(-1), places, values.reshape(-1))
    return torch.from_numpy(out)
