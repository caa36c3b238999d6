"""Dual coordinate ascent finds the minimum that its losses have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

_LABELS = {
    "logistic_loss": [1.0, 0.0, 1.0, 0.0, 1.0, 0.0],
    "hinge_loss": [1.0, 0.0, 1.0, 0.0, 1.0, 0.0],
    "smooth_hinge_loss": [1.0, 0.0, 1.0, 0.0, 1.0, 0.0],
    "squared_loss": [1.5, -2.0, 0.5, 3.0, -1.0, 0.0],
    "poisson_loss": [1.0, 0.0, 3.0, 2.0, 1.0, 5.0],
}


def _round(loss: str, adaptive: bool, state: Any, sparse: Any, dense: Any) -> Any:
    """Six examples: feature i % 3, one shared feature 7, and two dense numbers."""
    rng = np.random.RandomState(0)
    features = rng.randn(6, 2).astype(np.float32)
    owners = np.repeat(np.arange(6, dtype=np.int64), 2)
    columns = np.stack([np.arange(6) % 3, np.full(6, 7)], 1).reshape(-1)
    return tf.train.sdca_optimizer(
        [owners],
        [columns.astype(np.int64)],
        [],
        [features],
        np.linspace(0.5, 1.5, 6).astype(np.float32),
        np.array(_LABELS[loss], np.float32),
        [np.array([0, 1, 2, 7], np.int64)],
        [sparse],
        [dense],
        state,
        loss_type=loss,
        l1=0.1,
        l2=1.0,
        num_loss_partitions=1,
        num_inner_iterations=1,
        adaptative=adaptive,
    )


def _gap(state: Any, weights: list[Any]) -> float:
    """Primal less dual: losses, their conjugates, and the penalties of both."""
    penalty = 0.0
    for weight in weights:
        shrunk = np.maximum(np.abs(weight) - 0.1, 0)
        penalty += float(np.square(shrunk).sum() + 0.1 * shrunk.sum())
    return float(state[:, 1].sum() + state[:, 2].sum()) + penalty


@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("loss", sorted(_LABELS))
def test_the_duality_gap_closes(loss: str, adaptive: bool) -> None:
    state = tf.placeholder(tf.float32, [6, 4])
    sparse, dense = tf.placeholder(tf.float32, [4]), tf.placeholder(tf.float32, [2])
    step = _round(loss, adaptive, state, sparse, dense)
    values: list[Any] = [np.zeros((6, 4)), np.zeros(4), np.zeros(2)]
    with tf.Session() as session:
        for _ in range(60):
            feeds = dict(zip([state, sparse, dense], values, strict=True))
            new_state, (change,), (dense_change,) = session.run(tuple(step), feeds)
            values = [new_state, values[1] + change, values[2] + dense_change]
    assert abs(_gap(values[0], values[1:])) < 1e-3


def test_features_without_a_weight_are_refused() -> None:
    state = np.zeros((6, 4), np.float32)
    step = _round("squared_loss", False, state, np.zeros(3, np.float32), np.zeros(2))
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match="4 sparse indices for 3"),
    ):
        session.run(tuple(step))
