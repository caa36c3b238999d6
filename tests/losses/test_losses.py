"""Losses: their numbers by NumPy, collections, messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

_RANDOM = np.random.RandomState(0)
_P = _RANDOM.rand(3, 4).astype(np.float32)
_Y = (_RANDOM.rand(3, 4) > 0.5).astype(np.float32)
_W = np.array([[1.0], [0.0], [2.0]], np.float32)


def _run(value: Any) -> Any:
    with tf.Session() as session:
        return session.run(value)


@pytest.mark.parametrize(
    ("reduction", "expected"),
    [
        ("none", _P * _W),
        ("weighted_sum", (_P * _W).sum()),
        ("weighted_mean", (_P * _W).sum() / (_W.sum() * 4)),
        ("weighted_sum_over_batch_size", (_P * _W).sum() / 12),
        ("weighted_sum_by_nonzero_weights", (_P * _W).sum() / 8),
    ],
)
def test_reductions(reduction: str, expected: Any) -> None:
    loss = tf.losses.compute_weighted_loss(_P, _W, reduction=reduction)
    np.testing.assert_allclose(_run(loss), expected, rtol=1e-6)


def test_no_weights_left_is_no_loss() -> None:
    assert _run(tf.losses.mean_squared_error(_Y, _P, 0.0)) == 0.0


def test_losses_by_numpy() -> None:
    losses = tf.losses
    table = [
        (losses.absolute_difference(_Y, _P), np.abs(_P - _Y).mean()),
        (losses.mean_squared_error(_Y, _P), np.square(_P - _Y).mean()),
        (losses.hinge_loss(_Y, _P), np.maximum(0, 1 - (2 * _Y - 1) * _P).mean()),
        (
            losses.log_loss(_Y, _P),
            -(_Y * np.log(_P + 1e-7) + (1 - _Y) * np.log(1 - _P + 1e-7)).mean(),
        ),
        (losses.cosine_distance(_Y, _P, axis=1), (1 - (_P * _Y).sum(1)).mean()),
    ]
    for loss, expected in table:
        np.testing.assert_allclose(_run(loss), expected, rtol=1e-5)
    assert len(losses.get_losses()) == len(table)
    total = sum(expected for _, expected in table)
    np.testing.assert_allclose(_run(losses.get_total_loss()), total, rtol=1e-5)


def test_weights_are_checked_at_run_time_where_they_are_unknown() -> None:
    weights = tf.placeholder(tf.float32, None)
    loss = tf.losses.compute_weighted_loss(_P, weights)
    with tf.Session() as session:
        for value in (2.0, _W, np.ones([3, 4])):
            session.run(loss, {weights: value})
        for wrong in ([1.0, 2.0, 3.0], np.ones([2, 4])):
            with pytest.raises(tf.errors.InvalidArgumentError, match="broadcast"):
                session.run(loss, {weights: wrong})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tf.losses.compute_weighted_loss(_P, _W[:, 0]), "weights.rank=1"),
        (lambda: tf.losses.compute_weighted_loss(_P, _P[:2]), "Mismatch at dim 0"),
        (lambda: tf.losses.compute_weighted_loss(_P, reduction="x"), "Known are: none"),
        (lambda: tf.losses.log_loss(None, _P), "labels must not be None"),
        (lambda: tf.losses.cosine_distance(_Y, _P), "must specify 'axis'"),
    ],
)
def test_misuse(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
