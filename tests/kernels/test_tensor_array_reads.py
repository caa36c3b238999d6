"""Reading many elements of a tensor array: all in order, some, and a second time."""

from __future__ import annotations

import numpy as np
import pytest

import tensorloom as tf


def _array(dynamic: bool, clear: bool, known: bool) -> tf.TensorArray:
    array = tf.TensorArray(
        tf.float32,
        3,
        dynamic_size=dynamic,
        clear_after_read=clear,
        element_shape=[2] if known else None,
        infer_shape=known,
    )
    for i in range(3):
        array = array.write(i, [float(i), float(-i)])
    return array


ROWS = np.array([[0, 0], [1, -1], [2, -2]], np.float32)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("clear", [False, True])
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("indices", [None, [0, 1, 2], [2, 0], [1], [2, 1, 0]])
def test_rows(
    dynamic: bool, clear: bool, known: bool, indices: list[int] | None
) -> None:
    array = _array(dynamic, clear, known)
    rows = array.stack() if indices is None else array.gather(indices)
    with tf.Session() as sess:
        for _ in range(2):
            wanted = ROWS if indices is None else ROWS[indices]
            np.testing.assert_array_equal(sess.run(rows), wanted)


@pytest.mark.parametrize("second", [[0, 1, 2], [2]])
@pytest.mark.parametrize("first", [[0, 1, 2], [2, 0], [2, 1, 0]])
def test_what_was_cleared_is_not_read_again(
    first: list[int], second: list[int]
) -> None:
    array = _array(False, True, True)
    read = array.gather(first)
    with tf.control_dependencies([read]):
        again = array.gather(second)
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="twice"):
            sess.run(again)
        np.testing.assert_array_equal(sess.run(read), ROWS[first])


def test_what_is_kept_is_read_again() -> None:
    array = _array(False, False, True)
    read = array.stack()
    with tf.control_dependencies([read]):
        again = array.stack()
    with tf.Session() as sess:
        for rows in sess.run([read, again]):
            np.testing.assert_array_equal(rows, ROWS)
