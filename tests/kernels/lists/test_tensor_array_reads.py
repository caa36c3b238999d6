"""Reading many elements of a tensor array: all in order, some, and a second time."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import tensorloom as tf
from tensorloom.kernels.torch.state.variable_value import (
    is_host,
    ready_to_slice,
    to_tensor,
)


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


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.complex64, torch.bool]
)
@pytest.mark.parametrize("ready", [True, False])
def test_small_slices_are_taken_in_host_memory(dtype: torch.dtype, ready: bool) -> None:
    columns = 4096 if ready else 4097
    tensor = torch.arange(2 * columns).remainder(3).reshape(columns, 2).T
    tensor = tensor.to(dtype)
    found = ready_to_slice(tensor, 2)
    assert is_host(found) == ready
    assert ready_to_slice(found, 2) is found
    for i in range(2):
        assert torch.equal(to_tensor(found[i]), tensor[i])


@pytest.mark.parametrize("use_resource", [False, True])
def test_slices_of_a_variable_stay_as_they_were(use_resource: bool) -> None:
    initial = np.arange(12, dtype=np.float32).reshape(3, 4).repeat(500, 1)
    variable = tf.Variable(initial, use_resource=use_resource)
    array = tf.TensorArray(tf.float32, 3).unstack(variable)
    with tf.control_dependencies([array.flow]):
        update = variable.assign_add(np.ones_like(initial))
        with tf.control_dependencies([update]):
            rows = [array.read(2) + 0, array.read(0) + 0]
    with tf.Session() as sess:
        sess.run(variable.initializer)
        for i in range(2):
            for found, row in zip(sess.run(rows), (2, 0), strict=True):
                np.testing.assert_array_equal(found, initial[row] + i)
