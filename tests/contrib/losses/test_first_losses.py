"""`tf.contrib.losses`: numbers, the collection, and refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

losses = tf.contrib.losses
_PREDICTIONS = np.array([[0.2, 0.9], [0.5, 0.1], [0.7, 0.3]], np.float32)
_LABELS = np.array([[0, 1], [1, 0], [1, 0]], np.float32)
_WEIGHTS = np.array([1.0, 0.0, 3.0], np.float32)
_WEIGHED = np.array([1, 0, 3], np.float32)[:, None]


def _log_softmax(logits: Any) -> Any:
    return logits - np.log(np.exp(logits).sum(1, keepdims=True))


_SQUARES = (_PREDICTIONS - _LABELS) ** 2
_CASES: dict[str, tuple[Callable[..., Any], float]] = {
    "differences": (
        lambda p, y: losses.absolute_difference(p, y, 2.0),
        2 * np.abs(_PREDICTIONS - _LABELS).mean(),
    ),
    "squares by example": (
        lambda p, y: losses.mean_squared_error(p, y, _WEIGHTS),
        (_SQUARES * _WEIGHED).sum() / 4,
    ),
    "squares of nothing": (lambda p, y: losses.mean_squared_error(p, y, 0.0), 0.0),
    "columns weigh as rows": (
        lambda p, y: losses.mean_squared_error(p, y, _WEIGHED),
        (_SQUARES * _WEIGHED).sum() / 4,
    ),
    "logarithms": (
        lambda p, y: losses.log_loss(p, y, epsilon=0.0),
        -np.log(np.where(_LABELS == 1, _PREDICTIONS, 1 - _PREDICTIONS)).mean(),
    ),
    "classes": (
        lambda p, y: losses.softmax_cross_entropy(p, y, _WEIGHTS),
        -(_LABELS * _log_softmax(_PREDICTIONS) * _WEIGHED).sum() / 2,
    ),
    "classes by number": (
        lambda p, y: losses.sparse_softmax_cross_entropy(p, tf.argmax(y, 1)),
        -(_LABELS * _log_softmax(_PREDICTIONS)).sum() / 3,
    ),
    "cosines": (
        lambda p, y: losses.cosine_distance(p, y, axis=1),
        (1 - (_PREDICTIONS * _LABELS).sum(1)).mean(),
    ),
    "pairs": (
        lambda p, y: losses.mean_pairwise_squared_error(p, y),
        # Of two elements there is one pair, which counts from both sides.
        (np.diff(_PREDICTIONS - _LABELS) ** 2).sum() / 2,
    ),
}


@pytest.mark.parametrize("case", _CASES)
def test_losses_are_means_over_weighed_elements(case: str) -> None:
    make, expected = _CASES[case]
    with tf.Graph().as_default(), tf.Session() as session:
        loss = make(tf.constant(_PREDICTIONS), tf.constant(_LABELS))
        assert losses.get_losses() == [loss]
        assert session.run(loss) == pytest.approx(expected, rel=1e-5)


def test_the_total_has_the_penalties_of_weights() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        losses.add_loss(tf.constant(2.0))
        losses.add_loss(tf.constant(8.0), "mine")
        tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(0.5))
        assert session.run(losses.get_total_loss()) == 2.5
        assert session.run(losses.get_total_loss(False)) == 2.0
        assert len(losses.get_losses(loss_collection="mine")) == 1


def test_hinges_are_not_collected() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        loss = losses.hinge_loss(tf.constant([[0.5, -2.0]]), tf.constant([[1, 0]]))
        assert losses.get_losses() == []
        assert session.run(loss).tolist() == [[0.5, 0.0]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda a: losses.mean_squared_error(a, tf.ones([3, 5])), "are incompatible"),
        (lambda a: losses.cosine_distance(a, a), "You must specify 'axis'"),
        (lambda a: losses.cosine_distance(a, a, axis=1, dim=1), "'dim' and 'axis'"),
        (
            lambda a: losses.compute_weighted_loss(tf.placeholder(tf.float32)),
            r"losses.get_shape\(\).ndims cannot be None",
        ),
    ],
)
def test_refusals(make: Callable[[Any], Any], message: str) -> None:
    with (
        tf.Graph().as_default(),
        pytest.raises(ValueError, match=message),
    ):
        make(tf.constant(_PREDICTIONS))
