"""Ready-made models: their variables, and that they learn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

_RANDOM = np.random.RandomState(0)
_X = {
    "x": _RANDOM.randn(32, 2).astype(np.float32),
    "c": np.array(list("abcd") * 8, object),
}
_Y = (_X["x"].sum(axis=1) > 0).astype(np.int64)


def _columns() -> tuple[Any, Any]:
    columns = tf.feature_column
    words = columns.categorical_column_with_hash_bucket("c", 10)
    return columns.numeric_column("x", shape=(2,)), words


def _linear(directory: str) -> Any:
    return tf.estimator.LinearClassifier(_columns(), directory)


def _dnn(directory: str) -> Any:
    numbers, words = _columns()
    embedded = tf.feature_column.embedding_column(words, 3)
    return tf.estimator.DNNClassifier([8], [numbers, embedded], directory)


def _both(directory: str) -> Any:
    numbers, words = _columns()
    return tf.estimator.DNNLinearCombinedClassifier(
        directory,
        linear_feature_columns=[words],
        dnn_feature_columns=[numbers],
        dnn_hidden_units=[8],
        dnn_optimizer=tf.train.AdamOptimizer(0.05),
    )


def _baseline(directory: str) -> Any:
    return tf.estimator.BaselineClassifier(directory)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "least", "variables"),
    [
        (
            _linear,
            0.9,
            ["linear/linear_model/bias_weights", "linear/linear_model/c/weights"],
        ),
        (
            _dnn,
            0.9,
            [
                "dnn/hiddenlayer_0/kernel",
                "dnn/input_from_feature_columns/input_layer/c_embedding/"
                "embedding_weights",
                "dnn/logits/bias",
            ],
        ),
        (_both, 0.8, ["dnn/logits/kernel", "linear/linear_model/c/weights"]),
        (_baseline, 0.5, ["baseline/bias"]),
    ],
)
def test_classifiers_learn(
    tmp_path: Path, make: Any, least: float, variables: list[str]
) -> None:
    model = make(str(tmp_path))
    inputs = tf.estimator.inputs
    model.train(inputs.numpy_input_fn(_X, _Y, 16, num_epochs=20, shuffle=True))
    result = model.evaluate(inputs.numpy_input_fn(_X, _Y, 16, shuffle=False))
    assert set(result) == {
        *("accuracy", "accuracy_baseline", "auc", "auc_precision_recall"),
        *("average_loss", "global_step", "label/mean", "loss", "precision"),
        *("prediction/mean", "recall"),
    }
    assert result["accuracy"] >= least
    assert set(variables) <= set(model.get_variable_names())
    first = next(model.predict(inputs.numpy_input_fn(_X, shuffle=False)))
    assert set(first) == {
        *("all_class_ids", "all_classes", "class_ids", "classes", "logistic"),
        *("logits", "probabilities"),
    }


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: tf.estimator.DNNLinearCombinedClassifier(),
            "Either linear_feature_columns or dnn_feature_columns",
        ),
        (
            lambda: tf.estimator.BaselineClassifier(n_classes=1),
            "n_classes must be > 2",
        ),
        (
            lambda: tf.estimator.BaselineRegressor(label_dimension=0),
            "Invalid label_dimension",
        ),
        (
            lambda: tf.estimator.BaselineClassifier(loss_reduction="none"),
            "Invalid loss_reduction",
        ),
    ],
)
def test_wrong_arguments(make: Any, message: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        make()
