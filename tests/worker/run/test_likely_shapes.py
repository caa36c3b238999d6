"""Batches of a dataset tell how much there will be of what their size is not known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.worker.compile import piece


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch) -> list[piece.Piece]:
    """The pieces that are compiled from now on."""
    made: list[piece.Piece] = []
    compile_piece = piece.Piece.__init__

    def compile_and_note(self: piece.Piece, *arguments: Any, **options: Any) -> None:
        compile_piece(self, *arguments, **options)
        made.append(self)

    monkeypatch.setattr(piece.Piece, "__init__", compile_and_note)
    return made


def _trained(session: Any, rows: int, batch: int) -> tuple[Any, list[Any]]:
    """(a step that gives a loss and its gradient, the batches that it will see)."""
    random = np.random.RandomState(0)
    x, y = random.rand(rows, 6).astype("f"), random.rand(rows, 1).astype("f")
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(batch).prefetch(1)
    iterator = tf.data.make_initializable_iterator(data)
    features, labels = iterator.get_next()
    weights = tf.get_variable("w", [6, 1], initializer=tf.ones_initializer())
    bias = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
    predictions = tf.matmul(features, weights) + bias
    loss = tf.reduce_mean(tf.square(predictions - labels))
    gradients = tf.gradients(loss, [weights, bias])
    session.run([tf.global_variables_initializer(), iterator.initializer])
    parts = [(x[i : i + batch], y[i : i + batch]) for i in range(0, rows, batch)]
    return [loss, *gradients], parts


@pytest.mark.parametrize(("batch", "uses_torch"), [(4, False), (40000, True)])
def test_small_batches_stay_in_host_memory(
    pieces: list[piece.Piece], batch: int, uses_torch: bool
) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        step, parts = _trained(session, batch + 2, batch)
        for x, y in parts:  # the last one is smaller
            found = session.run(step)
            error = x.sum(1, keepdims=True) - y
            expected = [(error**2).mean(), 2 * x.T @ error / len(x), [2 * error.mean()]]
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-4)
    assert pieces[-1].uses_torch == uses_torch


def test_batches_may_become_large() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        size = tf.placeholder(tf.int64, [])
        data = tf.data.Dataset.range(20000).map(lambda i: tf.cast(i, tf.float32))
        iterator = tf.data.make_initializable_iterator(data.batch(size))
        total = tf.reduce_sum(tf.square(iterator.get_next()))
        for count in (2, 20000, 3):
            session.run(iterator.initializer, {size: count})
            expected = (np.arange(count, dtype=np.float64) ** 2).sum()
            assert session.run(total) == pytest.approx(expected, rel=1e-4)
