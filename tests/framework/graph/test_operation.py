"""Operations whose inputs are replaced."""

from __future__ import annotations

import pytest

import tensorloom as tf


def test_a_replaced_input_is_computed_with() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
        total = tf.reduce_sum(a)
        total.op._update_input(0, b)
        assert a.consumers() == []
        assert b.consumers() == [total.op]
        assert session.run(total) == 7.0


def test_inputs_that_cannot_be_replaced() -> None:
    with tf.Graph().as_default():
        product = tf.matmul(tf.ones([2, 3]), tf.ones([3, 1]))
        with pytest.raises(tf.errors.OutOfRangeError, match="number of total inputs"):
            product.op._update_input(2, tf.ones([2, 3]))
        with pytest.raises(tf.errors.InvalidArgumentError, match="incompatible shapes"):
            product.op._update_input(0, tf.ones([2, 4]))
        product.op._update_input(0, tf.placeholder(tf.float32))
