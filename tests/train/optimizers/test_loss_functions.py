"""A loss may be a function that builds it."""

from __future__ import annotations

import tensorloom as tf


def test_functions_are_minimized() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.get_variable("x", initializer=[1.0, 2.0], use_resource=True)
        y = tf.get_variable("y", initializer=3.0, use_resource=True)
        optimizer = tf.train.GradientDescentOptimizer(0.5)
        pairs = optimizer.compute_gradients(lambda: tf.reduce_sum(x * x))
        assert [variable for _, variable in pairs] == [x]
        both = optimizer.compute_gradients(lambda: tf.reduce_sum(x * x), [x, y])
        assert [grad is None for grad, _ in both] == [False, True]
        step = optimizer.minimize(lambda: tf.reduce_sum(x * x) * y, var_list=[x])
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert session.run(x).tolist() == [-2.0, -4.0]
        assert session.run(y) == 3.0
