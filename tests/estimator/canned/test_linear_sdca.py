"""`LinearSDCA` comes to the optimum, and refuses what it cannot train."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

_RANDOM = np.random.RandomState(0)
_X = _RANDOM.rand(20, 2).astype(np.float32)
_Y = (_X @ [2.0, -1.0] + 0.5).astype(np.float32)


def _sdca(**options: Any) -> Any:
    return tf.estimator.experimental.LinearSDCA("id", **options)


def _read() -> Any:
    features = {"x": _X, "id": np.array([str(i) for i in range(20)])}
    return tf.estimator.inputs.numpy_input_fn(
        features, _Y, batch_size=20, num_epochs=None, shuffle=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("shards", [None, 3])
def test_squared_loss_ends_at_the_ridge_solution(shards: int | None) -> None:
    column = tf.feature_column.numeric_column("x", 2)
    optimizer = _sdca(symmetric_l2_regularization=1.5, num_table_shards=shards)
    model = tf.estimator.LinearRegressor([column], optimizer=optimizer)
    model.train(_read(), steps=60)
    inputs = np.concatenate([_X, np.ones([20, 1], np.float32)], 1)
    expected = np.linalg.solve(inputs.T @ inputs + 1.5 * np.eye(3), inputs.T @ _Y)
    names = ("x/weights", "bias_weights")
    found = [model.get_variable_value(f"linear/linear_model/{name}") for name in names]
    np.testing.assert_allclose(
        np.concatenate([f.ravel() for f in found]), expected, 1e-3
    )


MISTAKES = [
    (
        lambda c: tf.estimator.LinearClassifier([c], n_classes=3, optimizer=_sdca()),
        "multi-class",
    ),
    (
        lambda c: tf.estimator.LinearRegressor(
            [c], label_dimension=2, optimizer=_sdca()
        ),
        "one-dimensional label",
    ),
    (
        lambda c: tf.estimator.LinearRegressor(
            [c], optimizer=_sdca(), sparse_combiner="mean"
        ),
        'must be "sum"',
    ),
    (
        lambda c: tf.estimator.LinearRegressor(
            [c], optimizer=_sdca(symmetric_l2_regularization=0.0)
        ).train(_read(), steps=1),
        "should be positive",
    ),
]


@pytest.mark.parametrize(("use", "message"), MISTAKES)
def test_mistakes(use: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        use(tf.feature_column.numeric_column("x", 2))
