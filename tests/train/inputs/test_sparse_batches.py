"""Batches of sparse tensors, of the elements that are kept."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf


def _batches(make: Any, count: int) -> list[Any]:
    """The dense forms of the batches that queue runners fill."""
    with tf.Graph().as_default():
        numbers = tf.train.range_input_producer(8, num_epochs=1, shuffle=False)
        number = tf.cast(numbers.dequeue(), tf.int64)
        sparse = tf.SparseTensor([[0], [2]], tf.stack([number, -number]), [3])
        batch = make(number, sparse)
        dense = tf.sparse.to_dense(batch)
        with tf.train.MonitoredSession() as session:
            return [session.run(dense).tolist() for _ in range(count)]


@pytest.mark.parametrize("keep", ["always", "even"])
def test_elements_are_kept(keep: str) -> None:
    def make(number: tf.Tensor, sparse: tf.SparseTensor) -> Any:
        chosen = True if keep == "always" else tf.equal(number % 2, 0)
        return tf.train.maybe_batch([sparse], chosen, 2)

    step = 1 if keep == "always" else 2
    first, second = _batches(make, 2)
    assert first == [[0, 0, 0], [step, 0, -step]]
    assert second == [[2 * step, 0, -2 * step], [3 * step, 0, -3 * step]]


@pytest.mark.parametrize("keep", [True, None])
def test_several_sources_share_a_map(keep: bool | None) -> None:
    def make(number: tf.Tensor, sparse: tf.SparseTensor) -> Any:
        chosen = number >= 0 if keep is None else keep
        return tf.train.maybe_batch_join([[sparse], [sparse]], chosen, 4)

    rows = [row for batch in _batches(make, 2) for row in batch]
    assert sorted(row[0] for row in rows) == list(range(8))
    assert all(row[2] == -row[0] for row in rows)


def test_shuffled_batches() -> None:
    def make(number: tf.Tensor, sparse: tf.SparseTensor) -> Any:
        return tf.train.maybe_shuffle_batch([sparse], 4, 16, 1, number < 4)

    (batch,) = _batches(make, 1)
    assert sorted(row[0] for row in batch) == [0, 1, 2, 3]
