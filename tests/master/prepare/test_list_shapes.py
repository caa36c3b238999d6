"""What is learned of lists' elements stays apart from what the lists say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf


def _pushed(x: Any, shape: Any) -> Any:
    empty = tf.raw_ops.EmptyTensorList(
        element_shape=shape, max_num_elements=-1, element_dtype=tf.float32
    )
    return tf.raw_ops.TensorListPushBack(input_handle=empty, tensor=x)


def _pushed_in_loop(x: Any, shape: Any) -> Any:
    def push(i: Any, handle: Any) -> list[Any]:
        return [
            i + 1,
            tf.raw_ops.TensorListPushBack(input_handle=handle, tensor=x),
        ]

    return tf.while_loop(lambda i, _: i < 2, push, [0, _pushed(x, shape)])[1]


def _from_tensor(x: Any, shape: Any) -> Any:
    return tf.raw_ops.TensorListFromTensor(
        tensor=tf.expand_dims(x, 0), element_shape=shape
    )


@pytest.mark.parametrize("make", [_pushed, _pushed_in_loop, _from_tensor])
@pytest.mark.parametrize(
    ("declared", "answers"), [(-1, [-1, 0, 1, -1]), ([-1, 3], [[-1, 3], 1, 2, [3]])]
)
def test_a_list_tells_the_shape_that_was_declared(
    make: Any, declared: Any, answers: list[Any]
) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3])
        told = tf.raw_ops.TensorListElementShape(
            input_handle=make(x, tf.constant(declared)), shape_type=tf.int32
        )
        rank = tf.rank(told)
        # As the graphs of `tf.vectorized_map` ask.
        rest = tf.cond(tf.equal(rank, 0), lambda: told, lambda: told[1:])
        for rows in (2, 5, 2):
            feed = {x: np.ones((rows, 3))}
            found = session.run([told, rank, tf.size(told), rest], feed)
            assert [value.tolist() for value in found] == answers
