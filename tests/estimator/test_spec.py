"""`EstimatorSpec`: what it demands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorloom as tf

_TRAIN, _EVAL, _PREDICT = "train", "eval", "infer"


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as made:
        yield made


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (lambda: {"mode": _TRAIN}, ValueError, "Missing train_op"),
        (
            lambda: {"mode": _TRAIN, "train_op": tf.no_op()},
            ValueError,
            "Missing loss",
        ),
        (lambda: {"mode": _EVAL}, ValueError, "Missing loss"),
        (lambda: {"mode": _PREDICT}, ValueError, "Missing predictions"),
        (lambda: {"mode": _EVAL, "loss": 1.0}, TypeError, "loss must be Tensor"),
        (
            lambda: {"mode": _EVAL, "loss": tf.constant([1.0, 2.0])},
            ValueError,
            "Loss must be scalar",
        ),
        (
            lambda: {"mode": _TRAIN, "loss": tf.constant(1.0), "train_op": "x"},
            TypeError,
            "train_op must be Operation or Tensor",
        ),
        (
            lambda: {"mode": _PREDICT, "predictions": {"a": 1}},
            TypeError,
            r"predictions\[a\] must be Tensor",
        ),
        (
            lambda: {
                "mode": _EVAL,
                "loss": tf.constant(1.0),
                "eval_metric_ops": {"a": tf.constant(1.0)},
            },
            TypeError,
            r"must be \(metric_value, update_op\) tuples",
        ),
        (
            lambda: {
                "mode": _EVAL,
                "loss": tf.constant(1.0),
                "evaluation_hooks": ["x"],
            },
            TypeError,
            "must be SessionRunHook instances",
        ),
        (
            lambda: {"mode": _EVAL, "loss": tf.constant(1.0), "scaffold": "x"},
            TypeError,
            "must be tf.train.Scaffold",
        ),
        (
            lambda: {
                "mode": _PREDICT,
                "predictions": tf.constant(1.0),
                "export_outputs": {"a": 1},
            },
            TypeError,
            "must be ExportOutput objects",
        ),
    ],
)
def test_wrong_arguments(
    arguments: Callable[[], dict[str, Any]], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        tf.estimator.EstimatorSpec(**arguments())


def test_tensors_of_other_graphs_are_refused() -> None:
    with tf.Graph().as_default():
        loss = tf.constant(1.0, name="elsewhere")
    with pytest.raises(ValueError, match='loss with "elsewhere:0" must be from'):
        tf.estimator.EstimatorSpec(_EVAL, loss=loss)


def test_a_loss_of_one_element_becomes_a_scalar() -> None:
    spec = tf.estimator.EstimatorSpec(_EVAL, loss=tf.constant([1.0]))
    assert spec.loss.shape == []
    assert spec.predictions == {}
    assert spec.training_hooks == ()


def test_predictions_are_the_default_output() -> None:
    tensor = tf.constant([1.0])
    spec = tf.estimator.EstimatorSpec(_PREDICT, predictions={"y": tensor})
    assert spec.export_outputs["serving_default"].outputs == {"y": tensor}
    output = tf.estimator.export.RegressionOutput(tensor)
    spec = tf.estimator.EstimatorSpec(
        _PREDICT, predictions=tensor, export_outputs={"head": output}
    )
    assert set(spec.export_outputs) == {"head", "serving_default"}


def test_replace_keeps_the_mode() -> None:
    spec = tf.estimator.EstimatorSpec(_EVAL, loss=tf.constant(1.0))
    assert spec._replace(loss=tf.constant(2.0)).mode == _EVAL
    with pytest.raises(ValueError, match="mode of EstimatorSpec cannot be changed"):
        spec._replace(mode=_TRAIN)
