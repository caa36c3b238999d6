"""Checked elements, windows and reductions of `tf.contrib.data`."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf

data = tf.contrib.data


def _all(dataset: Any) -> list[Any]:
    element = dataset.make_one_shot_iterator().get_next()
    found = []
    with tf.Session() as sess:
        try:
            while True:
                found.append(sess.run(element).tolist())
        except tf.errors.OutOfRangeError:
            return found


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, [[0, 1, 2], [1, 2, 3], [2, 3, 4]]),
        ({"window_shift": 2}, [[0, 1, 2], [2, 3, 4]]),
        ({"window_stride": 2}, [[0, 2, 4]]),
    ],
)
def test_windows(arguments: dict[str, int], expected: list[list[int]]) -> None:
    windows = data.sliding_window_batch(3, **arguments)
    assert _all(tf.data.Dataset.range(5).apply(windows)) == expected


def test_batches_of_one_size() -> None:
    batches = tf.data.Dataset.range(5).apply(data.batch_and_drop_remainder(2))
    assert batches.output_shapes.as_list() == [2]
    assert _all(batches) == [[0, 1], [2, 3]]


def test_shapes_are_checked_when_elements_come() -> None:
    lengths = tf.data.Dataset.range(1, 3).map(lambda n: tf.ones([n]))
    checked = lengths.apply(data.assert_element_shape(tf.TensorShape([1])))
    assert checked.output_shapes.as_list() == [1]
    element = checked.make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        assert sess.run(element).tolist() == [1.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Wrong shape"):
            sess.run(element)
    known = tf.data.Dataset.from_tensors(tf.ones([2]))
    with pytest.raises(ValueError, match="not compatible"):
        known.apply(data.assert_element_shape(tf.TensorShape([3])))


def test_reduction() -> None:
    reducer = data.Reducer(lambda n: n + 1, lambda state, x: state * 2 + x, lambda s: s)
    with tf.Session() as sess:
        assert sess.run(data.reduce_dataset(tf.data.Dataset.range(3), reducer)) == 12
    with pytest.raises(TypeError, match=r"must be a `tf\.data\.Dataset`"):
        data.reduce_dataset([1], reducer)
