"""Ragged ranges of plain and of great numbers are those of `range`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorloom as tf
from tensorloom.framework.errors import InvalidArgumentError


def run(starts: Any, limits: Any, deltas: Any, dtype: Any, **options: Any) -> Any:
    inputs = (np.array(x, dtype) for x in (starts, limits, deltas))
    with tf.Graph().as_default(), tf.Session() as session:
        starts, limits, deltas = map(tf.constant, inputs)
        call = {"starts": starts, "limits": limits, "deltas": deltas, **options}
        return session.run(tf.raw_ops.RaggedRange(**call))


_SMALL = st.integers(-20, 20)
_NEAR_ENDS = st.sampled_from([-(2**63), 2**63 - 1]).flatmap(
    lambda end: st.integers(max(end - 20, -(2**63)), min(end + 20, 2**63 - 1))
)


@given(
    st.lists(st.tuples(_SMALL, _SMALL, st.sampled_from([1, 1, 1, 2, -1, -3, 7]))),
    st.sampled_from([np.int32, np.int64, np.float32]),
)
def test_rows(rows: list[tuple[int, int, int]], dtype: Any) -> None:
    expected = [list(range(*row)) for row in rows]
    columns = zip(*rows, strict=True) if rows else ([], [], [])
    splits, values = run(*map(list, columns), dtype)
    assert values.tolist() == [x for row in expected for x in row]
    assert splits.tolist() == [0, *np.cumsum([len(row) for row in expected])]
    assert values.dtype == dtype


@pytest.mark.parametrize("delta", [1, 2, -1])
def test_one_step_for_all(delta: int) -> None:
    splits, values = run([0, 5, 3], [3, 1, 3], delta, np.int32)
    expected = [range(0, 3, delta), range(5, 1, delta), range(3, 3, delta)]
    assert values.tolist() == [x for row in expected for x in row]
    assert np.diff(splits).tolist() == [len(row) for row in expected]


@given(_NEAR_ENDS, st.integers(-30, 30), st.sampled_from([1, 2, -1, -3, 7]))
def test_near_the_ends_of_int64(start: int, length: int, delta: int) -> None:
    limit = min(max(start + length, -(2**63)), 2**63 - 1)
    _, values = run([start], [limit], delta, np.int64)
    # A range of Python ends with the numbers that there are.
    assert values.tolist() == list(range(start, limit, delta))


@pytest.mark.parametrize(
    ("start", "limit", "delta", "message"),
    [
        ([0], [2**31], [1], "Requires ((limit - start) / delta) <= 2147483647"),
        ([0] * 4, [2**30] * 4, [1], "Requires ((limit - start) / delta) <="),
        ([-(2**63)], [2**63 - 1], [1], "Requires ((limit - start) / delta) <="),
        ([0], [5], [0], "Requires delta != 0"),
    ],
)
def test_refused(start: Any, limit: Any, delta: Any, message: str) -> None:
    if len(delta) < len(start):
        delta = delta[0]
    with pytest.raises(InvalidArgumentError) as error:
        run(start, limit, delta, np.int64, Tsplits=tf.int32)
    assert message in str(error.value)
