"""`tf.estimator.*Head`: losses by hand, and what they refuse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

_E = tf.estimator


def _evaluated(head: Any, logits: Any, labels: Any, features: Any) -> dict[str, Any]:
    with tf.Graph().as_default():
        tensors = {key: tf.constant(value) for key, value in features.items()}
        spec = head.create_estimator_spec(
            features=tensors,
            mode="eval",
            logits=tf.constant(logits),
            labels=tf.constant(labels),
        )
        with tf.Session() as session:
            session.run([tf.local_variables_initializer(), tf.tables_initializer()])
            updates = {k: update for k, (_, update) in spec.eval_metric_ops.items()}
            session.run(updates)
            values = {k: value for k, (value, _) in spec.eval_metric_ops.items()}
            return dict(session.run({**values, "loss": spec.loss}))


@pytest.mark.parametrize(
    ("make", "logits", "labels", "expected"),
    [
        (
            lambda: _E.RegressionHead(weight_column="w"),
            [[1.0], [3.0]],
            [[0.0], [1.0]],
            {"loss": 4.5, "average_loss": 3.0, "label/mean": 2 / 3},
        ),
        (
            lambda: _E.RegressionHead(loss_reduction="sum"),
            [[1.0], [3.0]],
            [[0.0], [1.0]],
            {"loss": 5.0, "average_loss": 2.5, "prediction/mean": 2.0},
        ),
        (
            lambda: _E.BinaryClassHead(thresholds=[0.6]),
            [[0.0], [2.0]],
            [[0], [1]],
            {
                "accuracy": 1.0,
                "accuracy_baseline": 0.5,
                "recall/positive_threshold_0.6": 1.0,
                "average_loss": (math.log(2) + math.log1p(math.exp(-2))) / 2,
            },
        ),
        (
            lambda: _E.MultiClassHead(3, name="h"),
            [[9.0, 0.0, 0.0], [0.0, 0.0, 9.0]],
            [[0], [1]],
            {"accuracy/h": 0.5},
        ),
        (
            lambda: _E.MultiLabelHead(2),
            [[0.0, 0.0], [0.0, 0.0]],
            [[1, 0], [0, 1]],
            {"loss": math.log(2), "auc": 0.5},
        ),
        (
            lambda: _E.PoissonRegressionHead(compute_full_loss=False),
            [[0.0], [0.0]],
            [[1.0], [3.0]],
            {"loss": 1.0, "prediction/mean": 1.0},
        ),
    ],
)
def test_metrics(
    make: Any, logits: Any, labels: Any, expected: dict[str, float]
) -> None:
    features = {"w": np.array([[1.0], [2.0]], np.float32)}
    with tf.Graph().as_default():
        head = make()
    found = _evaluated(head, logits, labels, features)
    for key, value in expected.items():
        np.testing.assert_allclose(found[key], value, rtol=1e-5, err_msg=key)


def test_heads_together() -> None:
    with tf.Graph().as_default():
        heads = [_E.RegressionHead(name="a"), _E.RegressionHead(name="b")]
        head = _E.MultiHead(heads, [1.0, 2.0])
        logits = tf.constant([[1.0, 2.0]])
        labels = {"a": tf.constant([[0.0]]), "b": tf.constant([[0.0]])}
        loss = head.loss(labels, logits, {})
        spec = head.create_estimator_spec({}, "infer", logits)
        with tf.Session() as session:
            assert session.run(loss) == 1.0 + 2.0 * 4.0
        assert set(spec.predictions) == {("a", "predictions"), ("b", "predictions")}
        assert {"serving_default", "a", "b/predict", "predict"} <= set(
            spec.export_outputs
        )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: _E.MultiClassHead(2), "n_classes must be > 2"),
        (lambda: _E.MultiClassHead(3, label_vocabulary=["a"]), "n_classes"),
        (lambda: _E.BinaryClassHead(thresholds=[1.0]), r"not in \(0, 1\)"),
        (lambda: _E.RegressionHead(0), "Invalid label_dimension"),
        (lambda: _E.RegressionHead(loss_reduction="none"), "Invalid loss_reduction"),
        (lambda: _E.RegressionHead(loss_fn=lambda x: x), "must contain argument"),
        (lambda: _E.MultiLabelHead(1), "n_classes must be > 1"),
        (lambda: _E.MultiHead([]), "Must specify heads"),
        (lambda: _E.MultiHead([_E.RegressionHead()]), "must have name specified"),
    ],
)
def test_wrong_arguments(make: Any, message: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        make()


def test_labels_must_fit_logits() -> None:
    head = _E.RegressionHead()
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Mismatched label"):
        head.loss(tf.zeros([2, 3]), tf.zeros([2, 1]))
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Given: None"):
        head.loss(None, tf.zeros([2, 1]))
