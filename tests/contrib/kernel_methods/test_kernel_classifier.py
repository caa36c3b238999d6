"""A linear classifier in the space of a kernel, and models by dual coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib.kernel_methods.classifier import updated_features_and_columns

km: Any = tf.contrib.kernel_methods
lo: Any = tf.contrib.linear_optimizer
_COLUMN: Any = tf.contrib.layers.real_valued_column("x", 2)


def test_mappers_add_a_column() -> None:
    mapper = km.RandomFourierFeatureMapper(2, 5)
    features = {"x": tf.constant([[1.0, 2.0]])}
    same = updated_features_and_columns(features, [_COLUMN], None)
    assert same == (features, [_COLUMN])
    found, columns = updated_features_and_columns(
        features, [], {_COLUMN: [mapper, mapper]}
    )
    assert found["x_MAPPED"].shape == (1, 10)
    assert [column.name for column in columns] == ["x_MAPPED"]
    assert list(features) == ["x"]


@pytest.mark.slow
def test_a_circle_is_linear_for_a_kernel(tmp_path: Any) -> None:
    x = np.random.RandomState(0).uniform(-2, 2, [60, 2]).astype(np.float32)
    y = (np.sum(x * x, 1) > 1.5).astype(np.int64)

    def data() -> Any:
        return {"x": tf.constant(x)}, tf.constant(y)

    model = km.KernelLinearClassifier(
        [],
        str(tmp_path),
        optimizer=tf.train.AdamOptimizer(0.5),
        kernel_mappers={_COLUMN: [km.RandomFourierFeatureMapper(2, 40)]},
    )
    model.fit(input_fn=data, steps=30)
    assert model.evaluate(input_fn=data, steps=1)["accuracy"] > 0.95
    classes, probabilities = model.predict_classes(data), model.predict_proba(data)
    for label in y[:5]:
        assert next(classes) == label
        assert next(probabilities)[label] > 0.5


def _model(loss: str, **options: Any) -> tuple[Any, dict[str, Any]]:
    column = lo.SparseFeatureColumn([0, 1], [0, 1], None)
    examples = {
        "sparse_features": [column],
        "dense_features": [],
        "example_labels": tf.constant([0.0, 1.0]),
        "example_weights": tf.constant([1.0, 1.0]),
        "example_ids": ["a", "b"],
    }
    variables = {
        "sparse_features_weights": [tf.Variable(tf.zeros([2]))],
        "dense_features_weights": [],
    }
    chosen = {
        "loss_type": loss,
        "symmetric_l1_regularization": 0.0,
        "symmetric_l2_regularization": 1.0,
        **options,
    }
    return lo.SdcaModel(examples, variables, chosen), examples


@pytest.mark.parametrize("loss", ["logistic_loss", "squared_loss"])
def test_dual_coordinates_reach_the_optimum(loss: str) -> None:
    model, examples = _model(loss)
    step = model.minimize()
    update = model.update_weights(step)
    found = [
        model.approximate_duality_gap(),
        model.predictions(examples),
        model.regularized_loss(examples) - model.unregularized_loss(examples),
    ]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(15):
            session.run(update)
        gap, predictions, penalty = session.run(found)
    assert abs(gap) < 1e-4
    # Of squares: the first weight stays 0, the second is 1 / 2.
    assert predictions[0] < predictions[1]
    if loss == "squared_loss":
        assert predictions == pytest.approx([0.0, 0.5], abs=1e-3)
        assert penalty == pytest.approx(0.25 / 2 / 2, abs=1e-3)


@pytest.mark.parametrize(
    ("loss", "options", "message"),
    [
        ("other", {}, "Unsupported loss_type"),
        ("squared_loss", {"symmetric_l1_regularization": -1.0}, "non-negative"),
        ("squared_loss", {"symmetric_l2_regularization": None}, "must be specified"),
    ],
)
def test_a_wrong_option_is_said(
    loss: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        _model(loss, **options)
