"""Model functions of canned estimators, called as TensorFlow's modules have them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.estimator.canned import model_functions
from tensorloom.estimator.canned.heads.regression import RegressionHead

_FEATURES = {"x": np.array([[1.0], [2.0]], np.float32)}
_COLUMN = [tf.feature_column.numeric_column("x")]


def _features() -> dict[str, Any]:
    tf.train.create_global_step()
    return {name: tf.constant(value) for name, value in _FEATURES.items()}


@pytest.mark.parametrize("mode", ["train", "infer"])
def test_networks(mode: str) -> None:
    labels = tf.constant([[1.0], [2.0]]) if mode == "train" else None
    spec = model_functions.dnn_model_fn(
        _features(), labels, mode, RegressionHead(), [3], _COLUMN
    )
    assert (spec.train_op is None) == (mode == "infer")
    names = {variable.op.name for variable in tf.trainable_variables()}
    assert names == {
        f"dnn/{layer}/{part}/part_0"
        for layer in ("hiddenlayer_0", "logits")
        for part in ("kernel", "bias")
    }


def test_linear_models_and_networks() -> None:
    made = model_functions.dnn_linear_combined_model_fn
    head, label = RegressionHead(), tf.constant([[1.0], [2.0]])
    spec = made(_features(), label, "train", head, _COLUMN, "Ftrl", _COLUMN, "SGD", [2])
    assert spec.train_op is not None
    with pytest.raises(ValueError, match="should be a dictionary"):
        made(tf.ones([2]), label, "train", head, _COLUMN)
    with pytest.raises(ValueError, match="must be defined"):
        made({}, label, "train", head)


def test_biases() -> None:
    logits = model_functions.baseline_logit_fn_builder(2)({"x": tf.zeros([3, 1])})
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(logits).tolist() == [[0, 0]] * 3


def test_zeros_are_counted() -> None:
    variables = {"a": [tf.Variable([0.0, 1.0])], "b": tf.Variable([[0.0, 0.0]])}
    fraction = model_functions.compute_fraction_of_zero(variables)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(fraction) == 0.75
