"""Sums of the rows that belong together."""

from __future__ import annotations

from typing import Final

import torch

from tensorloom.kernels.host.stable_order import stable_order
from tensorloom.kernels.row_updates import add_each_row

# torch's `index_add_` takes 50 ns and more for each row, whatever its length, in one
# thread. Summing bags of embeddings and counting with weights are other names for the
# same sums, ten times as fast; but floats only, and not worth it for a few rows.
_FEW: Final = 256
_BAGS: Final = torch.float32
_COUNTS: Final = (torch.float32, torch.float64)


def sum_segments(
    data: torch.Tensor,
    ids: torch.Tensor,
    rows: int,
    *,
    indices: torch.Tensor | None = None,
    is_sorted: bool = True,
) -> torch.Tensor:
    """out[ids[i]] += data[i], or data[indices[i]], from zeros [rows, ...].

    Args:
      data: [n, ...].
      ids: int32 or int64, [k], each in [0, rows).
      rows: how many sums there are.
      indices: int32 or int64, [k], each in [0, n); without them k is n.
      is_sorted: whether the ids never fall.
    """
    if not data.is_cpu or len(ids) < _FEW or not data.numel():
        return _add(data, ids, rows, indices)
    if data.dim() == 1 and data.dtype in _COUNTS:
        weights = data if indices is None else data.index_select(0, indices)
        return torch.bincount(ids, weights=weights, minlength=rows)
    if data[0].numel() == 1 or data.dtype is not _BAGS:
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
