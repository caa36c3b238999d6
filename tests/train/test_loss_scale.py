"""Loss scales; numbers are compared with TensorFlow's in tests/peer."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

experimental = tf.train.experimental


def scaled_training(scale: Any) -> tuple[Any, Any, Any]:
    """(operation, variable, placeholder of its gradient)."""
    v = tf.get_variable("v", initializer=[1.0])
    x = tf.placeholder(tf.float32, [1])
    optimizer = experimental.MixedPrecisionLossScaleOptimizer(
        tf.train.GradientDescentOptimizer(1.0), scale
    )
    return optimizer.minimize(tf.reduce_sum(v * x)), v, x


def test_fixed_scale_does_not_change_an_update() -> None:
    train, v, x = scaled_training(128)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train, {x: [0.25]})
        assert sess.run(v) == [0.75]


def test_dynamic_scale_grows_and_shrinks() -> None:
    scale = experimental.DynamicLossScale(4, increment_period=2, multiplier=2)
    train, v, x = scaled_training(scale)
    value = scale()
    scales = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for gradient in (0.0, 0.0, np.inf, 0.0, np.nan, np.nan, np.nan, np.nan):
            sess.run(train, {x: [gradient]})
            scales.append(float(sess.run(value)))
        assert sess.run(v) == [1.0]
    assert scales == [4.0, 8.0, 4.0, 4.0, 2.0, 1.0, 1.0, 1.0]


def test_scale_is_in_checkpoints_of_objects(tmp_path: Any) -> None:
    scale = experimental.DynamicLossScale(4)
    checkpoint = tf.train.Checkpoint(scale=scale)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = checkpoint.save(str(tmp_path / "c"), session=sess)
    names = [name for name, _ in tf.train.list_variables(path)]
    assert "scale/current_loss_scale/.ATTRIBUTES/VARIABLE_VALUE" in names
    assert "scale/good_steps/.ATTRIBUTES/VARIABLE_VALUE" in names


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: experimental.FixedLossScale(0.5), "at least 1"),
        (lambda: experimental.FixedLossScale("2"), "int or float"),
        (lambda: scaled_training("other"), "identifier: other"),
        (
            lambda: experimental.enable_mixed_precision_graph_rewrite(3),
            "tf.train.Optimizer",
        ),
    ],
)
def test_bad_arguments(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        make()


def test_rewrite_wraps_an_optimizer_once() -> None:
    wrapped = experimental.enable_mixed_precision_graph_rewrite(
        tf.train.AdamOptimizer()
    )
    assert isinstance(wrapped, experimental.MixedPrecisionLossScaleOptimizer)
    with pytest.raises(ValueError, match="already be an instance"):
        experimental.enable_mixed_precision_graph_rewrite(wrapped)
    experimental.disable_mixed_precision_graph_rewrite()


@pytest.mark.parametrize(("infinite", "expected"), [(False, 0.0), (True, 1.0)])
def test_replicas_are_updated_if_all_gradients_are_finite(
    infinite: bool, expected: float
) -> None:
    strategy = tf.distribute.MirroredStrategy(["/device:CPU:0", "/device:CPU:1"])
    with strategy.scope():
        v = tf.get_variable("v", initializer=1.0)
        optimizer = tf.train.experimental.MixedPrecisionLossScaleOptimizer(
            tf.train.GradientDescentOptimizer(0.25), "dynamic"
        )

        def fn() -> Any:
            number = tf.distribute.get_replica_context().replica_id_in_sync_group
            last = tf.cast(tf.equal(number, 1), tf.float32)
            factor = 1.0 + (last * 1e38 * 1e38 if infinite else 0.0)
            return optimizer.minimize(v * v * factor)

        step = strategy.group(strategy.experimental_run_v2(fn))
        with pytest.raises(ValueError, match="in a replica context"):
            optimizer.apply_gradients([(1.0, v)])
        init = tf.global_variables_initializer()
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        session.run(init)
        session.run(step)
        assert session.run(list(v.values)) == [expected] * 2
