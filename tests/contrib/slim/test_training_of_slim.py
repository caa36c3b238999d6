"""`slim.learning` and `slim.evaluation`: a model trains, goes on, is evaluated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.contrib import slim


def _step() -> Any:
    weights = tf.get_variable("weights", [2], initializer=tf.ones_initializer())
    slim.losses.add_loss(tf.reduce_sum(tf.square(weights - [3.0, 5.0])))
    total = slim.losses.get_total_loss()
    return slim.learning.create_train_op(total, tf.train.GradientDescentOptimizer(0.1))


def test_training_goes_on_where_it_stopped_and_is_evaluated(tmp_path: Path) -> None:
    for steps in (2, 4):
        with tf.Graph().as_default():
            last = slim.learning.train(_step(), str(tmp_path), number_of_steps=steps)
        assert last == pytest.approx(20 * 0.64 ** (steps - 1))
    checkpoint = tf.train.latest_checkpoint(str(tmp_path))
    assert checkpoint is not None
    assert checkpoint.endswith("model.ckpt-4")
    with tf.Graph().as_default():
        weights = tf.get_variable("weights", [2])
        tf.train.get_or_create_global_step()
        mean, update = tf.metrics.mean(weights)
        tf.summary.scalar("average", mean)
        found = slim.evaluation.evaluate_once(
            "", checkpoint, str(tmp_path / "eval"), 2, eval_op=update, final_op=mean
        )
    assert found == pytest.approx(4 - 3 * 0.8**4)
    (file,) = (tmp_path / "eval").iterdir()
    written = [
        (event.step, part.tag)
        for event in tf.train.summary_iterator(str(file))
        for part in event.summary.value
    ]
    assert written == [(4, "average")]


def test_a_step_function_of_ones_own_says_when_to_stop() -> None:
    seen: list[int] = []

    def step(session: Any, train_op: Any, global_step: Any, given: Any) -> Any:
        loss, _ = slim.learning.train_step(session, train_op, global_step, given)
        seen.append(session.run(global_step))
        return loss, len(seen) == 3

    with tf.Graph().as_default():
        slim.learning.train(_step(), None, train_step_fn=step, train_step_kwargs={})
    assert seen == [1, 2, 3]


def test_a_traced_step_leaves_a_file(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        slim.learning.train(
            _step(), str(tmp_path), number_of_steps=2, trace_every_n_steps=2
        )
    # Before the first step, 0 is the step.
    assert [path.name for path in tmp_path.glob("*.json")] == ["tf_trace-1.json"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"train_op": None}, "train_op cannot be None"),
        ({"summary_op": "x"}, "Cannot provide summary_op because logdir=None"),
        ({"trace_every_n_steps": 1}, "Cannot provide trace_every_n_steps"),
        ({"number_of_steps": 0}, "must be either None or a positive number, not 0"),
        ({"sync_optimizer": [1]}, "must be a tf.train.SyncReplicasOptimizer, not int"),
    ],
)
def test_refusals(arguments: dict[str, Any], message: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        slim.learning.train(
            **{"train_op": tf.constant(1.0), "logdir": None, **arguments}
        )
