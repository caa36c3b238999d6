"""A rate made of the global step, beside an update of the step that waits for nothing.

TensorFlow 1.15 gives either value in a session's first hundred steps and the one from
before the update after that, which is what is given here from the first step on.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

import tensorloom as tf

UPDATES: dict[str, Callable[[Any], Any]] = {
    "assign": lambda step: step.assign(step + 1),
    "assign_add": lambda step: tf.assign_add(step, 1),
}


@pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])
@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES)
def test_the_rate_is_that_of_the_step_before_the_update(
    update: Callable[[Any], Any], use_resource: bool
) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable_scope().set_use_resource(use_resource)
        step = tf.train.create_global_step()
        decayed = tf.train.polynomial_decay(1.0, step, 8, end_learning_rate=0.0)
        warm = tf.to_float(tf.cast(step, tf.int32)) / 4.0
        rate = tf.where(step < 4, warm, decayed)
        w = tf.get_variable("w", [3], initializer=tf.zeros_initializer())
        gradients = tf.gradients(tf.reduce_sum(w), [w])
        clipped, _ = tf.clip_by_global_norm(gradients, 10.0)
        trained = tf.train.GradientDescentOptimizer(rate).apply_gradients(
            zip(clipped, [w], strict=True)
        )
        train_op = tf.group(trained, [update(step)])
        session.run(tf.global_variables_initializer())
        moved = [0.0]
        for _ in range(6):
            session.run(train_op)
            moved.append(float(session.run(w)[0]))
    rates = [before - after for before, after in pairwise(moved)]
    assert rates == pytest.approx([0.0, 0.25, 0.5, 0.75, 0.5, 0.375])
