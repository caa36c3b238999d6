"""Gradients of what a loop looks up in, which stay sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

TABLE = np.arange(12.0, dtype=np.float32).reshape(6, 2) / 10


def _table(use_resource: bool) -> Any:
    return tf.get_variable(
        "table", initializer=tf.constant(TABLE), use_resource=use_resource
    )


def _plain(table: Any, ids: Any, i: Any) -> Any:
    return tf.gather(table, ids[i])


def _in_a_branch(table: Any, ids: Any, i: Any) -> Any:
    return tf.cond(i < 9, lambda: tf.gather(table, ids[i]), lambda: tf.zeros([2]))


def _in_a_loop(table: Any, ids: Any, i: Any) -> Any:
    return tf.while_loop(
        lambda j, _: j < 1,
        lambda j, row: (j + 1, row + tf.gather(table, ids[i])),
        [0, tf.zeros([2])],
    )[1]


def _loss(look_up: Any, table: Any, ids: Any) -> Any:
    _, loss = tf.while_loop(
        lambda i, _: i < tf.size(ids),
        lambda i, s: (i + 1, s + tf.reduce_sum(look_up(table, ids, i) ** 2)),
        [0, 0.0],
    )
    return loss


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("look_up", [_plain, _in_a_branch, _in_a_loop])
@pytest.mark.parametrize("ids", [[1, 4, 1], [5], []])
def test_rows_are_collected(use_resource: bool, look_up: Any, ids: list[int]) -> None:
    table = _table(use_resource)
    fed = tf.placeholder(tf.int32, [None])
    (gradient,) = tf.gradients(_loss(look_up, table, fed), table)
    assert isinstance(gradient, tf.IndexedSlices)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        value = sess.run(gradient, {fed: ids})
    assert sorted(value.indices) == sorted(ids)
    assert value.values.shape == (len(ids), 2)
    assert list(value.dense_shape) == [6, 2]
    np.testing.assert_allclose(value.values, 2 * TABLE[value.indices], rtol=1e-6)


def test_momentum_moves_the_rows_in_use_alone() -> None:
    table = _table(use_resource=False)
    fed = tf.placeholder(tf.int32, [None])
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(_loss(_plain, table, fed))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train, {fed: [1]})
        after_first = sess.run(table)
        sess.run(train, {fed: [2]})
        after_second = sess.run(table)
    np.testing.assert_array_equal(after_second[1], after_first[1])
    np.testing.assert_allclose(after_second[2], TABLE[2] * 0.8, rtol=1e-6)


def test_rows_and_the_whole_table_in_one_loop() -> None:
    table = _table(use_resource=False)
    _, total = tf.while_loop(
        lambda i, _: i < 2,
        lambda i, s: (i + 1, s + tf.reduce_sum(table) + tf.reduce_sum(table[i])),
        [0, 0.0],
    )
    (gradient,) = tf.gradients(total, table)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        expected = np.full((6, 2), 2.0)
        expected[:2] += 1.0
        np.testing.assert_array_equal(sess.run(gradient), expected)
