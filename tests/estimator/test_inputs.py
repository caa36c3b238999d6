"""`tf.estimator.inputs`: arrays that come out of queues."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.estimator.inputs.feed_functions import RowCursor
from tensorloom.estimator.inputs.padding import pad_rows


def _batches(input_fn: Any) -> list[Any]:
    found = []
    with tf.Graph().as_default():
        tensors = input_fn()
        with tf.train.MonitoredSession() as session:
            while not session.should_stop():
                found.append(session.run(tensors))
    return found


@pytest.mark.slow
def test_features_and_labels_come_in_order() -> None:
    x = {"a": np.arange(5), "b": np.arange(10.0).reshape(5, 2)}
    y = np.arange(5, 10)
    made = tf.estimator.inputs.numpy_input_fn(
        x, y, batch_size=2, num_epochs=1, shuffle=False
    )
    batches = _batches(made)
    assert [list(features["a"]) for features, _ in batches] == [[0, 1], [2, 3], [4]]
    assert [list(labels) for _, labels in batches] == [[5, 6], [7, 8], [9]]
    np.testing.assert_array_equal(batches[1][0]["b"], [[4, 5], [6, 7]])


@pytest.mark.slow
def test_an_array_alone() -> None:
    made = tf.estimator.inputs.numpy_input_fn(np.arange(3), shuffle=False)
    (batch,) = _batches(made)
    np.testing.assert_array_equal(batch, [0, 1, 2])


@pytest.mark.slow
def test_shuffled_rows_are_all_there() -> None:
    made = tf.estimator.inputs.numpy_input_fn(
        {"a": np.arange(20)}, batch_size=6, num_epochs=2, shuffle=True
    )
    rows = np.concatenate([batch["a"] for batch in _batches(made)])
    assert sorted(rows) == sorted([*range(20)] * 2)


@pytest.mark.parametrize(
    ("x", "y", "kind", "message"),
    [
        ({}, None, ValueError, "x cannot be an empty dict"),
        (np.zeros([0]), None, ValueError, "x cannot be an empty array"),
        ([1], None, TypeError, "x must be a dict or array; got list"),
        ({"a": np.zeros(2)}, {}, ValueError, "y cannot be empty dict"),
        ({"a": np.zeros(2)}, np.zeros(3), ValueError, "Length of tensors in x and y"),
        (
            {"a": np.zeros(2)},
            {"a": np.zeros(2)},
            ValueError,
            "1 duplicate keys are found",
        ),
    ],
)
def test_wrong_arrays(x: Any, y: Any, kind: type[Exception], message: str) -> None:
    made = tf.estimator.inputs.numpy_input_fn(x, y, shuffle=False)
    with tf.Graph().as_default(), pytest.raises(kind, match=message):
        made()


def test_shuffle_must_be_said() -> None:
    with pytest.raises(ValueError, match="shuffle must be provided"):
        tf.estimator.inputs.numpy_input_fn({"a": np.zeros(2)})


def test_rows_of_epochs() -> None:
    cursor = RowCursor(length=3, batch_size=2, num_epochs=2)
    assert [cursor.next_batch() for _ in range(3)] == [[0, 1], [2, 0], [1, 2]]
    with pytest.raises(tf.errors.OutOfRangeError, match="Already emitted 2 epochs"):
        cursor.next_batch()
    cursor = RowCursor(length=3, batch_size=7)
    assert cursor.next_batch() == [0, 1, 2, 0, 1, 2, 0]


def test_short_rows_are_filled_up() -> None:
    rows = [np.array([1, 2, 3]), np.array([4])]
    np.testing.assert_array_equal(pad_rows(rows, 9), [[1, 2, 3], [4, 9, 9]])
    with pytest.raises(ValueError, match="Array shapes must match"):
        pad_rows([np.zeros([1, 2]), np.zeros([2, 2])])
