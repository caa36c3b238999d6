"""`tf.contrib.losses.metric_learning`, beside NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib.losses import metric_learning

Array = np.ndarray[Any, Any]
LABELS = np.array([0, 1, 0, 2, 1, 0], np.int32)


def _embeddings(seed: int, rows: int = 6) -> Array:
    values = np.random.RandomState(seed).randn(rows, 4).astype(np.float32)
    return values / np.linalg.norm(values, axis=1, keepdims=True)


def _run(fetches: Any, **feeds: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetches, feeds or None)


def _distances(x: Array) -> Array:
    return np.linalg.norm(x[:, None].astype(np.float64) - x, axis=-1)


def test_contrastive_loss() -> None:
    a, b, alike = _embeddings(0), _embeddings(1), np.array([1, 0, 0, 1, 1, 0])
    with tf.Graph().as_default():
        loss = _run(metric_learning.contrastive_loss(alike, a, b, margin=1.5))
    d = np.linalg.norm(a - b, axis=1)
    expected = np.mean(np.where(alike, d**2, np.maximum(1.5 - d, 0) ** 2))
    np.testing.assert_allclose(loss, expected, rtol=1e-5)


def test_triplet_semihard_loss() -> None:
    x = _embeddings(2)
    with tf.Graph().as_default():
        loss = _run(metric_learning.triplet_semihard_loss(tf.constant(LABELS), x, 0.7))
    d = _distances(x) ** 2
    losses = []
    for i in range(6):
        others = d[i][LABELS[i] != LABELS]
        for j in np.flatnonzero(LABELS[i] == LABELS):
            if i != j:
                further = others[others > d[i, j]]
                negative = further.min() if len(further) else others.max()
                losses.append(max(0.0, 0.7 + d[i, j] - negative))
    np.testing.assert_allclose(loss, np.mean(losses), rtol=1e-4)


def test_lifted_struct_loss() -> None:
    x = _embeddings(3)
    with tf.Graph().as_default():
        loss = _run(metric_learning.lifted_struct_loss(tf.constant(LABELS), x))
    d = _distances(x)
    losses = []
    for i in range(6):
        for j in range(i + 1, 6):
            if LABELS[i] == LABELS[j]:
                terms = [
                    np.exp(1.0 - d[k, other])
                    for k in (i, j)
                    for other in np.flatnonzero(LABELS[k] != LABELS)
                ]
                losses.append(max(0.0, np.log(sum(terms)) + d[i, j]) ** 2)
    np.testing.assert_allclose(loss, np.mean(losses) / 2, rtol=1e-4)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_npairs_loss(is_sparse: bool) -> None:
    a, b, labels = 2 * _embeddings(4, 3), _embeddings(5, 3), np.array([0, 1, 0])
    with tf.Graph().as_default():
        if is_sparse:
            sets = [
                tf.SparseTensor([[label]], [True], [3]) for label in labels.tolist()
            ]
            loss = metric_learning.npairs_loss_multilabel(sets, a, b, 0.1)
        else:
            loss = metric_learning.npairs_loss(tf.constant(labels), a, b, 0.1)
        value = _run(loss)
    similar = a.astype(np.float64) @ b.T
    wanted = (labels[:, None] == labels).astype(np.float64)
    wanted /= wanted.sum(1, keepdims=True)
    logs = similar - np.log(np.exp(similar).sum(1, keepdims=True))
    l2_loss = 0.025 * ((a**2).sum(1).mean() + (b**2).sum(1).mean())
    np.testing.assert_allclose(value, l2_loss - (wanted * logs).sum(1).mean(), 1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("margin_type", ["nmi", "ami", "ari", "vmeasure", "const"])
def test_cluster_loss_pulls_classes_together(margin_type: str) -> None:
    pytest.importorskip("sklearn")
    x = _embeddings(6)
    with tf.Graph().as_default(), tf.Session() as session:
        embeddings = tf.get_variable("x", initializer=x)
        loss = metric_learning.cluster_loss(
            tf.constant(LABELS[:, None]), embeddings, 1.0, margin_type=margin_type
        )
        step = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
        session.run(tf.global_variables_initializer())
        first = session.run(loss)
        for _ in range(20):
            session.run(step)
        assert session.run(loss) < first
        tags = [op.name for op in tf.get_collection(tf.GraphKeys.SUMMARIES)]
        assert tags == [
            "losses/score_pred:0",
            f"losses/{margin_type}:0",
            "losses/score_gt:0",
        ]


def test_refusals() -> None:
    with tf.Graph().as_default():
        x = tf.constant(_embeddings(0))
        with pytest.raises(ValueError, match="Unrecognized margin_type: f1"):
            metric_learning.cluster_loss(LABELS, x, 1.0, margin_type="f1")
        with pytest.raises(TypeError, match="must be a list of SparseTensors"):
            metric_learning.npairs_loss_multilabel([x], x, x)
        with pytest.raises(AssertionError, match="must be of rank 1"):
            metric_learning.lifted_struct_loss(tf.ones([2, 1]), x)
