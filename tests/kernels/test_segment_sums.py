"""Sums of rows, whichever of torch's functions makes them."""

from __future__ import annotations

import pytest
import torch

from tensorloom.kernels.segment_sums import sum_segments

SEGMENTS = 37


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.int32, torch.complex64]
)
@pytest.mark.parametrize("shape", [(9,), (900,), (900, 1), (900, 3, 4), (0, 5)])
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
        wanted = torch.zeros((SEGMENTS + 2, *shape[1:]), dtype=dtype)
        rows = data if indices is None else data[gathered]
        for segment, row in zip(ids.tolist(), rows, strict=True):
            wanted[segment] += row
        given = sum_segments(
            data, ids, SEGMENTS + 2, indices=indices, is_sorted=is_sorted
        )
        assert given.dtype == dtype
        assert torch.equal(given, wanted)


def test_columns_of_larger_tensors() -> None:
    pairs = torch.stack([torch.arange(600) // 20, torch.arange(600) % 50], 1)
    ids, indices = pairs[:, 0], pairs[:, 1]
    data = torch.arange(300.0).reshape(3, 100).t()
    given = sum_segments(data, ids, 30, indices=indices)
    wanted = torch.zeros(30, 3).index_add_(0, ids, data[indices])
    assert torch.equal(given, wanted)
