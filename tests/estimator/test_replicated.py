"""An Estimator whose model is built for each replica of a strategy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

DEVICES = ["/device:CPU:0", "/device:CPU:1"]
CONFIG = tf.ConfigProto(device_count={"CPU": 2})
X = np.linspace(-1.0, 1.0, 8).reshape(8, 1).astype(np.float32)


def _input_fn() -> Any:
    return tf.data.Dataset.from_tensor_slices((X, 2.0 * X)).repeat().batch(2)


def _eval_fn() -> Any:
    return tf.data.Dataset.from_tensor_slices((X, 2.0 * X)).batch(2)


def _model_fn(features: Any, labels: Any, mode: str) -> Any:
    w = tf.get_variable("w", [1, 1], initializer=tf.zeros_initializer())
    loss = tf.losses.mean_squared_error(labels, tf.matmul(features, w))
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"mae": tf.metrics.mean_absolute_error(labels, features @ w)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    optimizer = tf.train.GradientDescentOptimizer(0.5)
    step = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)


def _estimator(path: Any, **options: Any) -> Any:
    config = tf.estimator.RunConfig(
        model_dir=str(path), session_config=CONFIG, tf_random_seed=1, **options
    )
    return tf.estimator.Estimator(_model_fn, config=config)


def _by_hand(steps: int, replicas: int) -> float:
    """The weight after steps on the mean loss of all replicas' batches."""
    w, place = 0.0, 0
    for _ in range(steps):
        gradients = []
        for _ in range(replicas):
            x = X[[(place + i) % 8 for i in range(2)], 0]
            place += 2
            gradients.append(np.mean(2.0 * x * (w - 2.0) * x))
        w -= 0.5 * np.mean(gradients)
    return w


STRATEGIES = {
    "mirrored": (lambda: tf.distribute.MirroredStrategy(DEVICES), 2),
    "one device": (lambda: tf.distribute.OneDeviceStrategy(DEVICES[0]), 1),
    "central": (
        lambda: tf.distribute.experimental.CentralStorageStrategy(DEVICES),
        2,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", STRATEGIES)
def test_replicas_are_trained_and_evaluated(name: str, tmp_path: Any) -> None:
    make, replicas = STRATEGIES[name]
    strategy = make()
    estimator = _estimator(
        tmp_path, train_distribute=strategy, eval_distribute=strategy
    )
    estimator.train(_input_fn, steps=3)
    w = estimator.get_variable_value("w").item()
    assert w == pytest.approx(_by_hand(3, replicas), rel=1e-5)
    assert estimator.get_variable_names() == ["global_step", "w"]
    found = estimator.evaluate(_eval_fn)
    assert found["global_step"] == 3
    errors = np.abs((2.0 - w) * X)
    assert found["mae"] == pytest.approx(errors.mean(), rel=1e-5)
    assert found["loss"] == pytest.approx(np.mean(errors**2), rel=1e-4)
    # What was trained without a strategy goes on with one, and the other way round.
    plain = _estimator(tmp_path)
    assert plain.evaluate(_eval_fn)["mae"] == pytest.approx(found["mae"], rel=1e-5)


def test_strategies_are_said_in_one_place() -> None:
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    config = tf.contrib.distribute.DistributeConfig(train_distribute=strategy)
    made = tf.estimator.RunConfig(experimental_distribute=config)
    assert made.train_distribute is strategy
    with pytest.raises(ValueError, match="Either `train_distribute` or"):
        tf.estimator.RunConfig(
            experimental_distribute=config, train_distribute=strategy
        )
    with pytest.raises(ValueError, match="remote_cluster"):
        tf.estimator.RunConfig(
            experimental_distribute=config._replace(remote_cluster={"worker": ["a:1"]})
        )
