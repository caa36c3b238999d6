"""Rows by positions that a loop finds: the same rows, and the same errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.worker.compile import loop_positions
from tensorloom.worker.compile.piece import Piece

ROWS, DEPTH, BATCH = 6, 4, 3
TABLE = np.random.RandomState(0).randn(ROWS, DEPTH).astype(np.float32)
OUTPUT = np.random.RandomState(1).randn(DEPTH, ROWS).astype(np.float32)


@pytest.fixture
def sources(monkeypatch) -> list[str]:
    made: list[str] = []
    start = Piece.__init__

    def note(self, *args, **kwargs) -> None:
        start(self, *args, **kwargs)
        made.append(self.source)

    monkeypatch.setattr(Piece, "__init__", note)
    return made


def decode(
    first: Any,
    count: int = 4,
    dtype: Any = tf.int32,
    search: Any = tf.argmax,
    table: np.ndarray = TABLE,
    output: np.ndarray = OUTPUT,
    axis: int = 1,
    dims: Any = (BATCH,),
) -> list[Any]:
    """All tokens, the last ones and the last state of a decoder."""
    with tf.Graph().as_default():
        start = tf.placeholder(dtype, dims)
        weights = tf.constant(output)

        def body(i: Any, token: Any, state: Any, tokens: Any) -> Any:
            x = tf.gather(tf.constant(table), token)
            state = tf.tanh(state + x)
            scores = tf.matmul(state, weights)
            if axis == 0:
                scores = tf.transpose(scores)
            token = search(scores, axis, output_type=dtype)
            return i + 1, token, state, tokens.write(i, token)

        array = tf.TensorArray(dtype, 0, dynamic_size=True, element_shape=[BATCH])
        state = tf.zeros([BATCH, DEPTH])
        loop = tf.while_loop(lambda i, *_: i < count, body, [0, start, state, array])
        with tf.Session() as session:
            return session.run([loop[3].stack(), *loop[1:3]], {start: first})


def expected(
    first: Any, count: int = 4, arg: Any = np.argmax, table: Any = TABLE
) -> list[Any]:
    token, state = np.array(first), np.zeros((BATCH, DEPTH), np.float32)
    tokens = []
    for _ in range(count):
        state = np.tanh(state + table[token])
        token = arg(state @ OUTPUT, 1)
        tokens.append(token)
    return [np.reshape(tokens, (count, BATCH)), token, state]


def takes_positions(source: str) -> bool:
    return ".take(p" in source.partition("while True:\n")[2]


NEGATIVE = {"table": -TABLE}
CASES: dict[str, tuple[dict[str, Any], dict[str, Any], bool]] = {
    "int32": ({}, {}, True),
    "int64": ({"dtype": tf.int64}, {}, True),
    "argmin": ({"search": tf.argmin}, {"arg": np.argmin}, True),
    "another table": (NEGATIVE, NEGATIVE, True),
    "the last axis": ({"axis": -1}, {}, True),
    "the first axis": ({"axis": 0}, {}, True),
    "no iteration": ({"count": 0}, {"count": 0}, True),
    "one iteration": ({"count": 1}, {"count": 1}, True),
    "more rows than positions": (
        {"table": np.concatenate([TABLE, TABLE])},
        {},
        True,
    ),
    "a batch of unknown size": ({"dims": (None,)}, {}, True),
}


@pytest.mark.parametrize("case", CASES)
def test_tokens(case: str, sources) -> None:
    given, reference, takes = CASES[case]
    first = [0, 5, 2]
    tokens, last, state = decode(first, **given)
    dtype = given.get("dtype", tf.int32)
    for found, wanted in zip(
        (tokens, last), expected(first, **reference), strict=False
    ):
        assert found.dtype == dtype.as_numpy_dtype
        np.testing.assert_array_equal(found, wanted)
    wanted = expected(first, **reference)[2]
    np.testing.assert_allclose(state, wanted, rtol=1e-5, atol=1e-6)
    assert takes_positions(sources[-1]) == takes, sources[-1]


def test_first_rows_beyond_the_positions() -> None:
    """What the loop starts with may be a row that no search finds."""
    table = np.concatenate([TABLE, TABLE[::-1]])
    first = [0, 9, 11]
    tokens, *_ = decode(first, table=table)
    np.testing.assert_array_equal(tokens, expected(first, table=table)[0])


def test_nothing_is_taken_of_a_smaller_table(sources) -> None:
    """There a position may be no row: the kernel looks."""
    table = np.abs(TABLE[:5])
    output = np.zeros((DEPTH, ROWS), np.float32)
    output[:, -1] = 1  # the last score is the largest
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"= 5 is not in \[0, 5\)"):
        decode([0, 1, 2], table=table, output=output)
    assert not takes_positions(sources[-1])


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
@pytest.mark.parametrize("bad", [-1, ROWS, 2**31 - 1, -(2**31)])
def test_first_index_without_a_row(bad: int, dtype: Any, monkeypatch) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError) as found:
        decode([0, bad, 2], dtype=dtype)
    assert f"indices[1] = {bad} is not in [0, {ROWS})" in found.value.message
    assert decode([0, bad, 2], count=0, dtype=dtype)[1].tolist() == [0, bad, 2]
    monkeypatch.setattr(loop_positions, "find", lambda *args: [])
    with pytest.raises(tf.errors.InvalidArgumentError) as plain:
        decode([0, bad, 2], dtype=dtype)
    assert found.value.message == plain.value.message


def test_nan_is_never_found(monkeypatch) -> None:
    output = OUTPUT.copy()
    output[:, [0, 3]] = np.nan
    found = decode([1, 5, 2], output=output)
    assert not np.isin(found[0], [0, 3]).any()
    monkeypatch.setattr(loop_positions, "find", lambda *args: [])
    for value, plain in zip(found, decode([1, 5, 2], output=output), strict=True):
        np.testing.assert_array_equal(value, plain)


def test_position_beside_other_readers() -> None:
    """A token is counted, compared and carried further, not only taken by."""
    with tf.Graph().as_default():
        start = tf.placeholder(tf.int32, [BATCH])
        table = tf.constant(TABLE)

        def body(i: Any, token: Any, before: Any, total: Any) -> Any:
            x = tf.gather(table, token) + tf.gather(table, before)
            found = tf.argmax(
                tf.matmul(x, tf.constant(OUTPUT)), 1, output_type=tf.int32
            )
            return i + 1, found, token, total + token * tf.cast(found > token, tf.int32)

        loop = tf.while_loop(
            lambda i, *_: i < 4, body, [0, start, start, tf.zeros([BATCH], tf.int32)]
        )
        with tf.Session() as session:
            found = session.run(loop[1:], {start: [3, 0, 5]})
    token = before = np.array([3, 0, 5])
    total = np.zeros(BATCH, np.int32)
    for _ in range(4):
        following = np.argmax((TABLE[token] + TABLE[before]) @ OUTPUT, 1)
        total = total + token * (following > token)
        token, before = following, token
    for value, wanted in zip(found, (token, before, total), strict=True):
        np.testing.assert_array_equal(value, wanted)


def test_scores_that_grow_find_what_the_table_lacks() -> None:
    """How many positions there are at first says nothing of later ones."""

    def body(i: Any, token: Any, scores: Any) -> Any:
        row = tf.gather(tf.constant(TABLE[:3]), token)
        more = scores[:, -1:] + 1.0 + 0.0 * tf.reduce_sum(row)
        return i + 1, tf.argmax(scores, 1), tf.concat([scores, more], 1)

    variables = [0, tf.zeros([1], tf.int64), tf.constant([[1.0, 2.0]])]
    shapes = [tf.TensorShape([]), tf.TensorShape([1]), tf.TensorShape([1, None])]
    loop = tf.while_loop(lambda i, *_: i < 5, body, variables, shapes)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
        session.run(loop[1])
