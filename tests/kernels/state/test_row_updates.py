"""Adding rows to rows gives the sum of each row's updates, in their order."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tensorloom.kernels.torch.state.row_updates import add_rows, add_rows_in_loop

DTYPES = (
    *(torch.float16, torch.float32, torch.float64),
    *(torch.int16, torch.int32, torch.int64, torch.complex64),
)


@given(
    rows=st.integers(1, 600),
    width=st.integers(0, 140),
    count=st.integers(0, 400),
    dtype=st.sampled_from(DTYPES),
    sign=st.sampled_from([1, -1]),
    is_host=st.booleans(),
    seed=st.integers(0, 99),
)
def test_sums(
    rows: int,
    width: int,
    count: int,
    dtype: torch.dtype,
    sign: int,
    is_host: bool,
    seed: int,
) -> None:
    random = np.random.default_rng(seed)
    index = random.integers(0, rows, count).astype(np.int32)
    if count <= rows and seed % 2:  # no row twice
        index = random.permutation(rows)[:count].astype(np.int32)
    target = torch.from_numpy(random.normal(0, 9, [rows, width])).to(dtype)
    update = torch.from_numpy(random.normal(0, 9, [count, width])).to(dtype)
    expected = target.clone()
    expected.index_add_(0, torch.from_numpy(index), update, alpha=sign)
    if is_host:
        add_rows(target, index, update.numpy(), sign)
    else:
        add_rows(target, torch.from_numpy(index), update, sign)
    assert torch.equal(target, expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("short", [True, False])
@pytest.mark.parametrize("count", [0, 1, 90, 1000])
def test_single_elements(count: int, short: bool, dtype: torch.dtype) -> None:
    random = np.random.default_rng(count)
    index = random.integers(0, 60, count).astype(np.int32 if short else np.int64)
    target = torch.from_numpy(random.normal(0, 9, 60)).to(dtype)
    update = torch.from_numpy(random.normal(0, 9, count)).to(dtype)
    for sign in (1, -1):
        expected = target.clone()
        expected.index_add_(0, torch.from_numpy(index), update, alpha=sign)
        add_rows(target, index, update, sign)
        assert torch.equal(target, expected)


def test_elements_of_a_column() -> None:
    matrix = torch.zeros(5, 3)
    index = np.array([4, 0, 4, 4])
    add_rows(matrix[:, 1], index, np.array([1, 2, 3, 4], np.float32))
    assert matrix.tolist() == [[0, 2, 0], [0] * 3, [0] * 3, [0] * 3, [0, 8, 0]]


def test_rows_with_several_axes() -> None:
    target, update = torch.zeros(300, 2, 3), torch.randn(200, 2, 3)
    index = torch.randperm(300)[:200]
    add_rows(target, index, update)
    assert torch.equal(target[index], update)


@pytest.mark.parametrize("shape", [(200, 1), (200, 4), (1, 3), (3,), (100, 3)])
def test_other_shapes_are_refused(shape: tuple[int, ...]) -> None:
    target = torch.zeros(300, 3)
    with pytest.raises((RuntimeError, IndexError)):
        add_rows(target, torch.arange(200), torch.zeros(shape))
    assert not target.any()


@pytest.mark.parametrize("shape", [(300, 3), (300,), (300, 2, 3), (300, 0), (0, 3)])
@pytest.mark.parametrize("wrong", [-1, 300, -(1 << 31)])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_loop_looks_at_the_indices_first(
    dtype: type[np.generic], wrong: int, shape: tuple[int, ...]
) -> None:
    target, index = np.zeros(shape, np.float32), np.zeros(200, dtype)
    index[150] = wrong
    update = np.ones((200, *shape[1:]), np.float32)
    for sign in (1, -1):
        assert add_rows_in_loop(target, index, update, sign) is False
    assert not target.any()
    with pytest.raises(IndexError):
        add_rows(torch.from_numpy(target), index, update)


def test_loop_leaves_what_is_not_for_it() -> None:
    target, index = np.zeros((300, 3), np.float32), np.arange(200)
    update = np.ones((200, 3), np.float32)
    assert add_rows_in_loop(target, index[:3], update[:3], 1) is None
    assert add_rows_in_loop(target[:, ::-1], index, update, 1) is None
    half = target.astype(np.float16), index, update.astype(np.float16), 1
    assert add_rows_in_loop(*half) is None
    assert not target.any()
