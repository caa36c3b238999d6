"""Sums of rows, few and many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from tensorloom.kernels.torch.reductions.segment_sums import sum_segments

SEGMENTS = 37


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.int32, torch.complex64]
)
@pytest.mark.parametrize(
    "shape",
    [
        (9,),
        (900, 1),
        (5000,),
        (5000, 1),
        (900, 4),
        (900, 3, 4),
        (2000, 3),
        (40000, 2),
        (0, 5),
        (5, 0),
    ],
)
@pytest.mark.parametrize("is_sorted", [True, False])
@pytest.mark.parametrize("id_dtype", [torch.int32, torch.int64])
def test_sums(
    dtype: torch.dtype, shape: tuple[int, ...], is_sorted: bool, id_dtype: torch.dtype
) -> None:
    random = torch.Generator().manual_seed(1)
    data = torch.randint(-9, 9, shape, generator=random).to(dtype)
    ids = torch.randint(0, SEGMENTS, shape[:1], generator=random, dtype=id_dtype)
    if is_sorted:
        ids = ids.sort().values
    gathered = torch.randint(0, max(shape[0], 1), shape[:1], generator=random)
    for indices in (None, gathered, gathered.int()):
        wanted = _sums(data if indices is None else data[gathered], ids)
        for given_ids in (ids, ids.numpy()):
            given = sum_segments(data, given_ids, SEGMENTS + 2, indices=indices)
            assert given.dtype == dtype
            assert torch.equal(given, wanted)


def _sums(rows: torch.Tensor, ids: torch.Tensor) -> Any:
    """Exact for small integers, whatever their dtype."""
    is_of = np.eye(SEGMENTS + 2)[ids.numpy()].T
    wide = np.complex128 if rows.is_complex() else np.float64
    flat = rows.numpy().reshape(len(rows), int(np.prod(rows.shape[1:]))).astype(wide)
    return (
        torch.from_numpy(is_of @ flat)
        .to(rows.dtype)
        .view(SEGMENTS + 2, *rows.shape[1:])
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("width", [1, 2, 400])
@pytest.mark.parametrize("gathers", [False, True])
def test_rows_are_added_in_order(dtype: torch.dtype, width: int, gathers: bool) -> None:
    data = torch.tensor([1e30, 1.0, -1e30, 1.0], dtype=dtype)[:, None].repeat(1, width)
    indices = torch.arange(4) if gathers else None
    sums = sum_segments(data, torch.tensor([0, 0, 0, 0]), 1, indices=indices)
    assert sums.tolist() == [[1.0] * width]


@pytest.mark.parametrize("count", [600, 6000])
def test_columns_of_larger_tensors(count: int) -> None:
    places = torch.arange(count)
    pairs = torch.stack([places * 30 // count, places % 50], 1)
    ids, indices = pairs[:, 0], pairs[:, 1]
    data = torch.arange(300.0).reshape(3, 100).t()
    given = sum_segments(data, ids, 30, indices=indices)
    wanted = torch.zeros(30, 3).index_add_(0, ids, data[indices])
    assert torch.equal(given, wanted)
