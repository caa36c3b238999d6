"""Initializers: configurations, fans and partitions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

# What get_config gives under TensorFlow 1.15.0.
CONFIGS: list[tuple[Any, dict[str, Any]]] = [
    (tf.initializers.zeros(), {"dtype": "float32"}),
    (tf.ones_initializer(tf.int32), {"dtype": "int32"}),
    (tf.initializers.constant([1, 2]), {"value": [1, 2], "dtype": "float32"}),
    (
        tf.random_uniform_initializer(1, 2, seed=3),
        {"minval": 1, "maxval": 2, "seed": 3, "dtype": "float32"},
    ),
    (
        tf.truncated_normal_initializer(dtype=tf.float64),
        {"mean": 0.0, "stddev": 1.0, "seed": None, "dtype": "float64"},
    ),
    (
        tf.initializers.variance_scaling(2.0, "FAN_OUT".lower(), "Uniform"),
        {
            "scale": 2.0,
            "mode": "fan_out",
            "distribution": "uniform",
            "seed": None,
            "dtype": "float32",
        },
    ),
    (tf.glorot_uniform_initializer(seed=4), {"seed": 4, "dtype": "float32"}),
    (
        tf.initializers.he_normal(),
        {
            "scale": 2.0,
            "mode": "fan_in",
            "distribution": "truncated_normal",
            "seed": None,
            "dtype": "float32",
        },
    ),
    (
        tf.orthogonal_initializer(2.0),
        {"gain": 2.0, "seed": None, "dtype": "float32"},
    ),
    (tf.initializers.identity(3.0), {"gain": 3.0, "dtype": "float32"}),
    (
        tf.uniform_unit_scaling_initializer(),
        {"factor": 1.0, "seed": None, "dtype": "float32"},
    ),
]


@pytest.mark.parametrize(("initializer", "config"), CONFIGS)
def test_configurations(initializer: Any, config: dict[str, Any]) -> None:
    assert initializer.get_config() == config
    assert type(initializer).from_config(config).get_config() == config


def _value(tensor: Any) -> Any:
    with tf.Session() as session:
        return session.run(tensor)


@pytest.mark.parametrize(
    ("shape", "fan_in", "fan_out"),
    [((), 1, 1), ((5,), 5, 5), ((4, 6), 4, 6), ((3, 3, 8, 16), 72, 144)],
)
def test_variance_scaling_uses_the_fans(
    shape: tuple[int, ...], fan_in: int, fan_out: int
) -> None:
    for mode, fan in (
        ("fan_in", fan_in),
        ("fan_out", fan_out),
        ("fan_avg", (fan_in + fan_out) / 2),
    ):
        initializer = tf.initializers.variance_scaling(3.0, mode, "uniform")
        limit = np.sqrt(9.0 / fan)
        value = _value(initializer(shape))
        assert value.shape == shape
        assert np.all(np.abs(value) <= limit)
        # Of many values the largest comes near the limit.
        if value.size > 500:
            assert np.abs(value).max() > 0.95 * limit


def test_orthogonal_and_identity() -> None:
    for shape in ((6, 4), (4, 6), (2, 3, 4)):
        matrix = _value(tf.initializers.orthogonal()(shape)).reshape(-1, shape[-1])
        if matrix.shape[0] < matrix.shape[1]:
            matrix = matrix.T
        product = matrix.T @ matrix
        np.testing.assert_allclose(product, np.eye(len(product)), atol=1e-5)
    identity = _value(tf.initializers.identity(2.0)([2, 3]))
    np.testing.assert_array_equal(identity, 2 * np.eye(2, 3))


def test_a_partition_is_scaled_by_the_whole_variable() -> None:
    part = SimpleNamespace(full_shape=[1000, 2], var_offset=[0, 0])
    initializer = tf.initializers.he_uniform()
    value = _value(initializer([4, 2], partition_info=part))
    assert np.abs(value).max() <= np.sqrt(6 / 1000)
    identity = tf.initializers.identity()
    part = SimpleNamespace(full_shape=[3, 3], var_offset=[1, 0])
    value = _value(identity([2, 3], partition_info=part))
    np.testing.assert_array_equal(value, np.eye(3)[1:])
