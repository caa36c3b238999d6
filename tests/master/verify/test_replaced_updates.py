"""Updates that two optimizers make of the same variables, each fused by itself."""

from __future__ import annotations

import numpy as np

import tensorloom as tf


def test_two_optimizers_in_one_step() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [8, 6])
        kernel = tf.get_variable("kernel", [6, 4], initializer=tf.ones_initializer())
        weights = tf.get_variable("weights", [4, 2], initializer=tf.ones_initializer())
        loss = tf.reduce_mean(tf.tanh(x @ kernel) @ weights)
        # Gradients of their own: one comes after a read that the other does not make.
        steps = [
            tf.train.AdamOptimizer(0.1).minimize(loss),
            tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(loss)),
        ]
        session.run(tf.global_variables_initializer())
        before = session.run(kernel)
        session.run(steps, {x: np.full([8, 6], 0.1)})
        assert not np.array_equal(session.run(kernel), before)
