"""The names of tf.contrib.distribute that are not tf.distribute's."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

dist = tf.contrib.distribute
DEVICES = ["/device:CPU:0", "/device:CPU:1"]
CONFIG = tf.ConfigProto(device_count={"CPU": 2})


def test_a_datasets_batches_are_the_replicas() -> None:
    strategy = dist.MirroredStrategy(DEVICES)
    iterator = strategy.make_dataset_iterator(tf.data.Dataset.range(4).batch(2))
    element = iterator.get_next()
    with tf.Session(config=CONFIG) as session:
        session.run(iterator.initialize())
        found = session.run(list(element.values))
    assert [part.tolist() for part in found] == [[0, 1], [2, 3]]


@pytest.mark.parametrize("iterations", [1, 2])
def test_a_monitor_runs_steps_until_the_input_ends(iterations: int) -> None:
    strategy = dist.MirroredStrategy(DEVICES)
    with strategy.scope():
        w = tf.get_variable("w", initializer=0.0)

    def loss_fn(_: Any, x: Any) -> Any:
        return tf.reduce_sum(tf.square(w - x))

    step = dist.StandardSingleLossStep(
        lambda: tf.data.Dataset.from_tensors([1.0]).repeat(8),
        loss_fn,
        tf.train.GradientDescentOptimizer(0.125),
        strategy,
        iterations_per_step=iterations,
    )
    with tf.Session(config=CONFIG) as session:
        monitor = dist.Monitor(step, session)
        monitor.run_steps()
        # Each update halves the distance.
        np.testing.assert_allclose(session.run(list(w.values)), [1 - 0.5**4] * 2)
    with pytest.raises(ValueError, match="Should provide a `session`"):
        dist.Monitor(step)


def test_a_loss_reads_variables() -> None:
    step = dist.StandardSingleLossStep(
        lambda: tf.data.Dataset.from_tensors([1.0]),
        lambda _, x: tf.reduce_sum(x),
        tf.train.GradientDescentOptimizer(0.1),
        dist.OneDeviceStrategy("/cpu:0"),
    )
    with pytest.raises(ValueError, match="No trainable variables"):
        step()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"num_gpus": 1, "num_gpus_per_worker": 1}, ValueError),
        ({"devices": DEVICES, "num_gpus": 1}, ValueError),
    ],
)
def test_arguments_that_do_not_fit(options: Any, error: Any) -> None:
    with pytest.raises(error):
        dist.MirroredStrategy(**options)


def test_the_server_of_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)
    with pytest.raises(ValueError, match='"cluster" is not found'):
        dist.run_standard_tensorflow_server()
    config = {"cluster": {"ps": ["localhost:0"]}, "task": {"type": "ps", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    with pytest.raises(ValueError, match="`chief` or `worker`"):
        dist.run_standard_tensorflow_server()


def test_other_names() -> None:
    assert dist.DistributeConfig(train_distribute=1).eval_distribute is None
    assert dist.ParameterServerStrategy().num_replicas_in_sync == 1
    assert dist.CollectiveAllReduceStrategy().num_replicas_in_sync == 1
    assert dist.get_distribution_strategy() is tf.distribute.get_strategy()
    with pytest.raises(RuntimeError, match="no TPUs"):
        dist.initialize_tpu_system()
