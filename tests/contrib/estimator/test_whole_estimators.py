"""`tf.contrib.estimator`: Estimators of SavedModels, and trees that grow in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

ce = tf.contrib.estimator
_X: Any = np.arange(8, dtype=np.float32)


@pytest.fixture(autouse=True)
def _reference_variables() -> Iterator[None]:
    """Trees turn on resource variables for the process, as in TensorFlow."""
    yield
    tf.disable_resource_variables()


def _model_fn(features: Any, labels: Any, mode: str) -> Any:
    weight = tf.get_variable("w", initializer=1.0)
    line = weight * features["x"]
    if mode == "infer":
        outputs = {"serving_default": tf.estimator.export.PredictOutput({"y": line})}
        return tf.estimator.EstimatorSpec(mode, {"y": line}, export_outputs=outputs)
    loss = tf.losses.mean_squared_error(labels, line)
    step = tf.train.get_global_step()
    return tf.estimator.EstimatorSpec(
        mode,
        {"y": line},
        loss,
        tf.train.GradientDescentOptimizer(0.01).minimize(loss, step),
        {"size": tf.metrics.mean(line)},
    )


def _data() -> Any:
    return tf.data.Dataset.from_tensors(({"x": _X}, 3 * _X)).repeat()


def _inputs() -> Any:
    return {"x": tf.placeholder(tf.float32, [None], name="x")}


@pytest.fixture(scope="module", params=["all", "predict"])
def exported(request: Any, tmp_path_factory: Any) -> tuple[str, str, Any]:
    """Which modes a SavedModel has, its path, and what it was made of."""
    folder = tmp_path_factory.mktemp("saved")
    model = tf.estimator.Estimator(_model_fn, str(folder / "model"))
    model.train(_data, steps=2)

    def serving() -> Any:
        inputs = _inputs()
        return tf.estimator.export.ServingInputReceiver(inputs, inputs)

    if request.param == "predict":
        path = model.export_saved_model(str(folder / "export"), serving)
        return request.param, path.decode(), model

    def supervised() -> Any:
        make = tf.estimator.experimental.build_raw_supervised_input_receiver_fn
        return make(_inputs(), tf.placeholder(tf.float32, [None], name="y"))()

    receivers = {"train": supervised, "eval": supervised, "infer": serving}
    path = model.experimental_export_all_saved_models(str(folder / "export"), receivers)
    return request.param, path.decode(), model


def test_a_saved_model_is_used_as_an_estimator(exported: Any, tmp_path: Any) -> None:
    modes, path, model = exported
    loaded = ce.SavedModelEstimator(path, str(tmp_path))
    weight = model.get_variable_value("w")

    def features() -> Any:
        return tf.data.Dataset.from_tensors({"x": _X})

    found = [row["y"] for row in loaded.predict(features)]
    np.testing.assert_allclose(found, weight * _X, rtol=1e-6)
    with pytest.raises(ValueError, match='Key "x" not found'):
        next(loaded.predict(lambda: tf.data.Dataset.from_tensors({"z": _X})))
    with pytest.raises(ValueError, match="Tensor shape and/or dtype"):
        next(loaded.predict(lambda: tf.data.Dataset.from_tensors({"x": [1, 2]})))
    if modes == "predict":
        with pytest.raises(RuntimeError, match="train mode is not available"):
            loaded.train(_data, steps=1)
        return
    want, got = model.evaluate(_data, steps=1), loaded.evaluate(_data, steps=1)
    assert got["loss"] == pytest.approx(want["loss"])
    assert got["metrics/size"] == pytest.approx(want["size"])
    loaded.train(_data, steps=3)
    assert loaded.get_variable_value("global_step") == 5
    model.train(_data, steps=3)
    assert loaded.get_variable_value("w") == pytest.approx(
        model.get_variable_value("w")
    )


_COLUMN = tf.feature_column.bucketized_column(
    tf.feature_column.numeric_column("x"), [2.0, 5.0]
)


def _whole(labels: Any) -> Any:
    return lambda: tf.data.Dataset.from_tensors(({"x": _X}, labels))


@pytest.mark.slow
def test_trees_grow_from_one_batch() -> None:
    labels = ((_X >= 2) & (_X < 5)).astype(np.float32)[:, None]
    classifier = ce.boosted_trees_classifier_train_in_memory(
        _whole(labels), [_COLUMN], n_trees=3, max_depth=2, learning_rate=0.5
    )
    assert classifier.evaluate(_whole(labels), steps=1)["accuracy"] == 1.0
    regressor = ce.boosted_trees_regressor_train_in_memory(
        _whole(labels), [_COLUMN], n_trees=4, max_depth=2, learning_rate=1.0
    )
    assert regressor.evaluate(_whole(labels), steps=1)["average_loss"] < 1e-6
    assert regressor.get_variable_value("global_step") >= 8
    with pytest.raises(ValueError, match="binary classification"):
        ce.boosted_trees_classifier_train_in_memory(
            _whole(labels), [_COLUMN], n_classes=3, pruning_mode=None
        )
