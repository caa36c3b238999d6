"""`with_shape` and `with_same_shape`: what passes, what is made to fit, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

framework = tf.contrib.framework


def test_known_shapes_that_fit_add_nothing() -> None:
    with tf.Graph().as_default() as graph:
        tensor, other = tf.zeros([2, 3]), tf.ones([2, 3])
        count = len(graph.get_operations())
        assert framework.with_shape([2, 3], tensor) is tensor
        assert framework.with_same_shape(other, tensor) is tensor
        assert len(graph.get_operations()) == count


def test_unknown_shapes_are_checked_when_run() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.float32, [None, None], name="fed")
        checked = framework.with_shape([2, 3], fed)
        assert checked.name == "fed/Identity:0"
        assert checked.shape.as_list() == [2, 3]
        assert session.run(checked, {fed: np.ones([2, 3])}).shape == (2, 3)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Wrong shape for fed"):
            session.run(checked, {fed: np.ones([3, 2])})
        like = framework.with_same_shape(fed, tf.ones([2, 2]))
        with pytest.raises(tf.errors.InvalidArgumentError, match="Wrong shape for"):
            session.run(like, {fed: np.ones([3, 2])})


def test_one_element_becomes_a_scalar() -> None:
    with tf.Graph().as_default():
        assert framework.with_shape([], tf.ones([1])).shape.as_list() == []


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ([3, 2], "Invalid shape for tensor"),
        ([[2, 3]], "Invalid rank"),
        ([2.0, 3.0], "Invalid dtype"),
    ],
)
def test_what_is_refused(shape: Any, message: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        framework.with_shape(shape, tf.ones([2, 3]))
