"""Ops over lists of tensors: what TensorFlow 1.15 gives, or the class of its error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

R = tf.raw_ops
X = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


def _shape(dims: Any) -> Any:
    return tf.constant(dims, tf.int32)


def listed(x: Any = X, element_shape: Any = (2,)) -> Any:
    return R.TensorListFromTensor(tensor=x, element_shape=_shape(list(element_shape)))


def reserved(element_shape: Any = (2,), count: int = 3) -> Any:
    shape = list(element_shape) if isinstance(element_shape, tuple) else element_shape
    return R.TensorListReserve(
        element_shape=_shape(shape), num_elements=count, element_dtype=tf.float32
    )


def get(handle: Any, index: int, element_shape: Any = -1) -> Any:
    return R.TensorListGetItem(
        input_handle=handle,
        index=index,
        element_shape=_shape(element_shape),
        element_dtype=tf.float32,
    )


def put(handle: Any, index: int, item: Any) -> Any:
    return R.TensorListSetItem(input_handle=handle, index=index, item=item)


def stack(handle: Any, element_shape: Any = -1, count: int = -1) -> Any:
    return R.TensorListStack(
        input_handle=handle,
        element_shape=_shape(element_shape),
        element_dtype=tf.float32,
        num_elements=count,
    )


def concat(handle: Any, element_shape: Any = -1, leading: Any = ()) -> Any:
    return R.TensorListConcatV2(
        input_handle=handle,
        element_shape=_shape(element_shape),
        leading_dims=tf.constant(list(leading), tf.int64),
        element_dtype=tf.float32,
    )[0]


def gather(handle: Any, indices: Any) -> Any:
    return R.TensorListGather(
        input_handle=handle,
        indices=tf.constant(indices, tf.int32),
        element_shape=_shape(-1),
        element_dtype=tf.float32,
    )


def scattered(indices: Any, count: int = -1) -> Any:
    return R.TensorListScatterV2(
        tensor=X, indices=indices, element_shape=_shape([2]), num_elements=count
    )


def split(lengths: Any) -> Any:
    return R.TensorListSplit(
        tensor=X, element_shape=_shape([-1, 2]), lengths=tf.constant(lengths, tf.int64)
    )


VALUES: list[tuple[Callable[[], Any], Any]] = [
    (lambda: get(listed(), 1), [3, 4]),
    (lambda: get(reserved(), 0), [0, 0]),
    (lambda: get(reserved(-1), 0, [1]), [0]),
    (lambda: stack(put(reserved(), 1, [7.0, 8.0])), [[0, 0], [7, 8], [0, 0]]),
    (lambda: stack(listed(), count=3), X),
    (lambda: stack(reserved(count=0)), np.zeros([0, 2])),
    (lambda: concat(listed(X, (2,))), [1, 2, 3, 4, 5, 6]),
    (lambda: concat(reserved(count=0)), []),
    (
        lambda: concat(put(reserved((-1, 2), 2), 0, [[1.0, 2.0]]), leading=[1, 2]),
        [[1, 2], [0, 0], [0, 0]],
    ),
    (
        lambda: concat(put(reserved((-1, 2), 2), 0, [[1.0, 2.0]])),
        [[1, 2], [0, 0]],
    ),
    (lambda: gather(listed(), [2, 0, 2]), [[5, 6], [1, 2], [5, 6]]),
    (lambda: gather(listed(), []), np.zeros([0, 2])),
    (lambda: gather(reserved(), [0, 1]), [[0, 0], [0, 0]]),
    (lambda: stack(scattered([2, 0, 1])), [[3, 4], [5, 6], [1, 2]]),
    (lambda: stack(scattered([2, 0, 1], 4)), [[3, 4], [5, 6], [1, 2], [0, 0]]),
    (lambda: stack(scattered([0, 0, 1])), [[3, 4], [5, 6]]),
    (lambda: get(split([1, 2]), 1), [[3, 4], [5, 6]]),
    (lambda: stack(R.TensorListResize(input_handle=listed(), size=1)), [[1, 2]]),
    (
        lambda: stack(R.TensorListResize(input_handle=listed(), size=4)),
        [*X, [0, 0]],
    ),
    (
        lambda: stack(
            R.TensorListScatterIntoExistingList(
                input_handle=listed(), tensor=[[9.0, 9.0]], indices=[1]
            )
        ),
        [[1, 2], [9, 9], [5, 6]],
    ),
    (
        lambda: stack(
            R.TensorListConcatLists(
                input_a=listed(), input_b=listed(), element_dtype=tf.float32
            )
        ),
        X + X,
    ),
]


@pytest.mark.parametrize(("make", "wanted"), VALUES)
def test_values(make: Callable[[], Any], wanted: Any) -> None:
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(make()), np.array(wanted, np.float32))


WRONG: list[Callable[[], Any]] = [
    lambda: get(listed(), 3),
    lambda: get(listed(), -1),
    lambda: get(reserved(-1), 0),
    lambda: put(reserved(), 3, [7.0, 8.0]),
    lambda: put(reserved(), 1, tf.placeholder_with_default([1.0, 2.0, 3.0], None)),
    lambda: put(reserved(), 1, [1, 2]),
    lambda: stack(listed(), count=2),
    lambda: stack(reserved(-1, 0)),
    lambda: stack(reserved(-1)),
    lambda: stack(split([1, 2])),
    lambda: concat(reserved(-1, 0)),
    lambda: gather(listed(), [3]),
    lambda: gather(listed(), [-1]),
    lambda: scattered([2, 0]),
    lambda: scattered([-1, 0, 1]),
    lambda: scattered([2, 0, 1], 1),
    lambda: scattered([2, 0, 1], -2),
    lambda: split([1, 1]),
    lambda: split([1, 3]),
    lambda: split([-1, 4]),
    lambda: reserved(count=-1),
    lambda: R.TensorListResize(input_handle=listed(), size=-1),
]


@pytest.mark.parametrize("make", WRONG)
def test_what_does_not_fit(make: Callable[[], Any]) -> None:
    tensor = make()
    if tensor.dtype == tf.variant:
        tensor = R.TensorListLength(input_handle=tensor)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tensor)


def test_static_checks() -> None:
    with pytest.raises(ValueError, match="Dimension 0 in both shapes"):
        get(listed(), 0, [3])
    with pytest.raises(ValueError, match="Dimension 0 in both shapes"):
        listed(element_shape=(3,))
    with pytest.raises(ValueError, match="rank"):
        listed(1.0)
    with pytest.raises(ValueError, match="rank"):
        concat(listed([1.0, 2.0], ()))
    assert get(listed(), 0).shape.as_list() == [2]
    assert stack(listed(), count=3).shape.as_list() == [3, 2]
    assert concat(reserved((-1, 2), 2)).shape.as_list() == [None, 2]


GRADIENTS: list[tuple[Callable[[Any], Any], Any]] = [
    (lambda x: get(listed(x), 1) * 3.0, [[0, 0], [3, 3], [0, 0]]),
    (
        lambda x: gather(listed(x), [0, 2, 0]),
        [[1, 1], [0, 0], [1, 1]],
    ),  # TensorFlow counts it once
    (lambda x: concat(listed(x)) ** 2, [[2, 4], [6, 8], [10, 12]]),
    (
        lambda x: stack(put(listed(x), 1, x[0] * 5.0)) ** 2,
        [[52, 104], [0, 0], [10, 12]],
    ),
    (
        lambda x: stack(
            R.TensorListScatterV2(
                tensor=x,
                indices=[2, 0, 1],
                element_shape=_shape([2]),
                num_elements=-1,
            )
        )[:1],
        [[0, 0], [1, 1], [0, 0]],
    ),
    (
        lambda x: (
            get(
                R.TensorListSplit(
                    tensor=x,
                    element_shape=_shape([-1, 2]),
                    lengths=tf.constant([1, 2], tf.int64),
                ),
                1,
            )
            ** 2
        ),
        [[0, 0], [6, 8], [10, 12]],
    ),
    (
        lambda x: stack(R.TensorListResize(input_handle=listed(x), size=2)) ** 2,
        [[2, 4], [6, 8], [0, 0]],
    ),
]


@pytest.mark.parametrize(("make", "wanted"), GRADIENTS)
def test_gradients(make: Callable[[Any], Any], wanted: Any) -> None:
    x = tf.constant(X)
    gradient = tf.gradients(make(x), x)[0]
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(gradient), np.array(wanted, np.float32))


def test_a_batch_of_lists() -> None:
    lists = R.TensorListPushBackBatch(
        input_handles=tf.stack([listed(), listed()]), tensor=[[9.0, 9.0], [8.0, 8.0]]
    )
    with tf.Session() as sess:
        values = sess.run([stack(h) for h in tf.unstack(lists)])
    np.testing.assert_array_equal(values, [[*X, [9, 9]], [*X, [8, 8]]])


def test_setting_in_a_loop_keeps_the_lists_of_before() -> None:
    start = reserved((), 3)
    _, full = tf.while_loop(
        lambda i, _: i < 3,
        lambda i, h: (i + 1, put(h, i, tf.cast(i, tf.float32) + 1.0)),
        [0, start],
    )
    with tf.Session() as sess:
        values = sess.run([stack(full), stack(start), stack(put(full, 0, 9.0))])
    np.testing.assert_array_equal(values, [[1, 2, 3], [0, 0, 0], [9, 2, 3]])
