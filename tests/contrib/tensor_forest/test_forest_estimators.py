"""Estimators of random forests: they learn known data, stop, and are exported."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tensorloom as tf

if TYPE_CHECKING:
    from pathlib import Path

_FORESTS = tf.contrib.tensor_forest.tensor_forest
_CLIENT = tf.contrib.tensor_forest.client.random_forest
_DATA: Any = np.random.RandomState(0).randn(200, 3).astype(np.float32)
_CLASSES: Any = (_DATA[:, 0] > 0).astype(np.int32)


def _params(**options: Any) -> Any:
    settings: Any = {
        "num_classes": 2,
        "num_features": 3,
        "num_trees": 2,
        "max_nodes": 50,
        "split_after_samples": 15,
        "base_random_seed": 5,
    }
    return _FORESTS.ForestHParams(**(settings | options))


def _given() -> Any:
    features = {"x": tf.constant(_DATA), "key": tf.range(200)}
    return features, tf.constant(_CLASSES)


@pytest.mark.slow
def test_a_forest_learns_and_tells_keys(tmp_path: Path) -> None:
    model = _CLIENT.TensorForestEstimator(
        _params(inference_tree_paths=True),
        model_dir=str(tmp_path / "model"),
        keys_column="key",
        report_feature_importances=True,
        include_all_in_serving=True,
    )
    model.fit(input_fn=_given, steps=12)
    assert model.evaluate(input_fn=_given, steps=1)["accuracy"] > 0.9
    rows = list(model.predict(input_fn=lambda: _given()[0]))
    assert [row["key"] for row in rows[:3]] == [0, 1, 2]
    assert np.mean([row["classes"] for row in rows] == _CLASSES) > 0.9
    assert rows[0]["tree_paths"].shape == (2,)
    assert rows[0]["prediction_variance"].shape == (2,)

    def inputs() -> Any:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        # Several inputs: classes of a single one would have to come from messages.
        received = {"x": x, "unused": tf.placeholder_with_default(0, None)}
        return tf.contrib.learn.InputFnOps({"x": x}, None, received)

    folder = model.export_savedmodel(
        str(tmp_path / "export"),
        inputs,
        default_output_alternative_key=_CLIENT.ALL_SERVING_KEY,
    )
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.loader.load(session, ["serve"], folder)
        outputs = [
            op for op in session.graph.get_operations() if op.name == "probabilities"
        ]
        found = session.run(outputs[0].outputs[0], {"x:0": _DATA})
    expected = [row["probabilities"] for row in rows]
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.slow
def test_a_core_forest_predicts_numbers(tmp_path: Path) -> None:
    model = _CLIENT.CoreTensorForestEstimator(
        _params(num_classes=1, regression=True), model_dir=str(tmp_path)
    )
    values = _DATA[:, :1] > 0

    def data() -> Any:
        given = {"x": _DATA}, 2 * values.astype(np.float32)
        return tf.data.Dataset.from_tensors(given).repeat(12)

    model.train(data)
    found = model.evaluate(data, steps=1)
    assert found["average_loss"] < 0.3
    assert found["global_step"] == 12


@pytest.mark.slow
def test_forests_of_several_labels(tmp_path: Path) -> None:
    model = _CLIENT.MultiForestMultiHeadEstimator(
        [_params(), _params()], model_dir=str(tmp_path)
    )
    labels = np.stack([_CLASSES, 1 - _CLASSES], 1)
    model.fit(
        input_fn=lambda: ({"x": tf.constant(_DATA)}, tf.constant(labels)), steps=10
    )
    fn = _CLIENT.get_combined_model_fn([])
    assert callable(fn)
    assert model.get_variable_value("global_step") >= 10


def test_training_stops_when_the_loss_stays() -> None:
    with tf.Graph().as_default():
        tf.train.create_global_step()
        hook = _CLIENT.TensorForestLossHook(2, 0.1, loss_op=tf.constant(1.0))
        stops = []
        context = SimpleNamespace(request_stop=lambda: stops.append(True))
        assert set(hook.before_run(context).fetches) == {"global_step", "current_loss"}
        for step, loss in enumerate([5.0, 5.0, 4.0, 3.9, 3.8, 3.7, 3.65]):
            values = SimpleNamespace(
                results={"global_step": step, "current_loss": loss}
            )
            hook.after_run(context, values)
            assert bool(stops) == (step >= 5)
            stops.clear()


def test_operations_run_at_the_end_by_name() -> None:
    ran: list[str] = []
    hook = _CLIENT.TensorForestRunOpAtEndHook({"b": "second", "a": "first"})
    hook.end(SimpleNamespace(run=ran.append))
    assert ran == ["first", "second"]


def test_names_are_tensorflows() -> None:
    assert _CLIENT.KEYS_NAME == "keys"
    assert _CLIENT.EPSILON == 1e-6
    assert _CLIENT.PredictOutput is tf.estimator.export.PredictOutput
    with pytest.raises(AttributeError, match="num_classes"):
        _CLIENT.TensorForestEstimator(_FORESTS.ForestHParams(num_features=3))
