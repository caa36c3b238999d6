"""Blocks of rows that grow in place."""

from __future__ import annotations

import numpy as np
import pytest

from tensorloom.framework import errors
from tensorloom.kernels.host.embedding.growing_rows import GrowingRows


def test_rows_stay_as_the_block_grows() -> None:
    block = GrowingRows(np.float32, (3,), 0.5)
    for i in range(8):
        block.extend(100)
        block.rows[-1] = i
    assert block.rows.shape == (800, 3)
    assert block.nbytes == 800 * 12
    assert block.rows[99::100, 0].tolist() == list(range(8))
    assert (np.delete(block.rows, slice(99, 800, 100), axis=0) == 0.5).all()


def test_rows_stay_while_somebody_holds_some_of_them() -> None:
    block = GrowingRows(np.int64)
    block.extend(2)
    block.rows[:] = 7, 8
    held = block.rows
    block.extend(100_000)
    assert held.tolist() == [7, 8]
    assert block.rows[:3].tolist() == [7, 8, 0]


def test_a_cleared_block_begins_anew() -> None:
    block = GrowingRows(np.int64, fill=3)
    block.extend(5)
    block.rows[:] = 9
    block.clear()
    assert len(block) == 0
    block.extend(2)
    assert block.rows.tolist() == [3, 3]


def test_too_many_rows_are_an_error_and_leave_what_there_was() -> None:
    block = GrowingRows(np.int64, (1 << 40,))
    with pytest.raises(errors.ResourceExhaustedError, match="no memory for"):
        block.extend(1 << 20)
    assert len(block) == 0
