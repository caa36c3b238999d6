"""`tf.contrib.training`: training steps, gradients, evaluation of checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf

training = tf.contrib.training


def _distance() -> Any:
    weights = tf.get_variable("weights", [2], initializer=tf.ones_initializer())
    return tf.reduce_sum(tf.square(weights - [3.0, 5.0]))


def test_what_was_trained_is_evaluated(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        step = training.create_train_op(
            _distance(), tf.train.GradientDescentOptimizer(0.1)
        )
        assert tf.get_collection(tf.GraphKeys.TRAIN_OP)[-1] is step
        stop = tf.train.StopAtStepHook(num_steps=3)
        last = training.train(step, tmp_path, hooks=[stop], save_summaries_steps=None)
    assert last == pytest.approx(20 * 0.64**2)
    with tf.Graph().as_default():
        mean, update = tf.metrics.mean(_distance())
        hook = training.StopAfterNEvalsHook(4)
        values = training.evaluate_repeatedly(
            tmp_path,
            eval_ops=update,
            final_ops=[mean, training.get_or_create_eval_step()],
            hooks=[hook],
            max_number_of_evaluations=1,
        )
        assert values == [pytest.approx(20 * 0.64**3), 4]


def test_updates_run_before_the_loss_and_nothing_counts() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        loss = _distance()
        seen = tf.get_variable("seen", [], tf.int32, trainable=False)
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign_add(seen, 1))
        step = training.create_train_op(
            loss, tf.train.GradientDescentOptimizer(0.0), global_step=None
        )
        assert tf.train.get_global_step() is None
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert session.run(seen) == 1


def test_a_loss_that_is_no_number_ends_the_step() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        loss = _distance() * float("nan")
        step = training.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1))
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="LossTensor is inf"):
            session.run(step)


def test_gradients_are_clipped_and_multiplied_sparse_ones_too() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.get_variable("table", [4, 1], initializer=tf.ones_initializer())
        idle = tf.get_variable("idle", [1])
        loss = 3.0 * tf.reduce_sum(tf.gather(table, [1, 3]))
        pairs = tf.train.GradientDescentOptimizer(1.0).compute_gradients(
            loss, [table, idle]
        )
        pairs = training.multiply_gradients(pairs, {"table": 2.0})
        pairs = training.clip_gradient_norms_fn(1.0)(pairs)
        (gradient, _), (nothing, _) = pairs
        assert isinstance(gradient, tf.IndexedSlices)
        assert nothing is None
        session.run(tf.global_variables_initializer())
        half = pytest.approx(0.5**0.5)
        assert session.run(gradient.values).ravel().tolist() == [half, half]
        assert [part.name for part in training.add_gradients_summaries(pairs)] == [
            "table_gradient:0",
            "table_gradient_norm:0",
        ]
        with pytest.raises(ValueError, match="idle does not influence"):
            training.multiply_gradients(pairs, {idle: 1.0})


def test_a_timeout_ends_an_evaluation_without_checkpoints(tmp_path: Path) -> None:
    asked: list[int] = []

    def enough() -> bool:
        asked.append(1)
        return len(asked) == 2

    with tf.Graph().as_default():
        found = training.evaluate_repeatedly(
            tmp_path, final_ops=_distance(), timeout=0, timeout_fn=enough
        )
    assert (found, len(asked)) == (None, 2)


def test_what_is_written_needs_a_place() -> None:
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="logdir cannot be None"):
            training.train(_distance(), None)
        with pytest.raises(ValueError, match="One of log_dir or summary_writer"):
            training.SummaryAtEndHook()
