"""`Estimator`: training, prediction and export of a small model."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

_X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [2.0, 1.0]], np.float32)
_Y = (_X @ [[1.0], [2.0]] + 3).astype(np.float32)


def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
    """A line."""
    weights = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
    bias = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
    y = tf.matmul(features["x"], weights) + bias
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"y": y, "twice": 2 * y})
    loss = tf.reduce_mean(tf.square(y - labels))
    optimizer = tf.train.GradientDescentOptimizer(params["rate"])
    step = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)


def input_fn() -> Any:
    """Four examples, again and again."""
    data = tf.data.Dataset.from_tensor_slices(({"x": _X}, _Y))
    return data.repeat().batch(4)


def _estimator(directory: Path, **settings: Any) -> Any:
    config = tf.estimator.RunConfig(str(directory), **settings)
    return tf.estimator.Estimator(model_fn, config=config, params={"rate": 0.1})


def _threads() -> set[threading.Thread]:
    """All but those of event files, which stay open for the next call."""
    return {t for t in threading.enumerate() if t.name != "tensorloom_events"}


def _receiver() -> Any:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


@pytest.mark.slow
def test_trains_predicts_and_exports(tmp_path: Path) -> None:
    before = _threads()
    estimator = _estimator(tmp_path, save_checkpoints_steps=5)
    assert estimator.train(input_fn, steps=7) is estimator
    estimator.train(input_fn, max_steps=12)
    assert estimator.latest_checkpoint() == str(tmp_path / "model.ckpt-12")
    assert estimator.get_variable_names() == ["b", "global_step", "w"]
    weights = estimator.get_variable_value("w")
    once = tf.estimator.inputs.numpy_input_fn({"x": _X}, shuffle=False)
    predictions = list(estimator.predict(once))
    expected = _X @ weights + estimator.get_variable_value("b")
    np.testing.assert_allclose([p["y"] for p in predictions], expected, rtol=1e-5)
    (batch,) = estimator.predict(once, "twice", yield_single_examples=False)
    assert list(batch) == ["twice"]
    assert batch["twice"].shape == (4, 1)
    path = estimator.export_saved_model(tmp_path / "export", _receiver).decode()
    assert Path(path).parent == tmp_path / "export"
    assert Path(path).name.isdigit()
    with tf.Session(graph=tf.Graph()) as session:
        model = tf.saved_model.loader.load(session, ["serve"], path)
        signature = model.signature_def["serving_default"]
        assert signature.method_name == "tensorflow/serving/predict"
        y = session.run(signature.outputs["y"].name, {"x:0": _X})
    np.testing.assert_allclose(y, expected, rtol=1e-5)
    assert _threads() <= before


@pytest.mark.slow
def test_warm_start(tmp_path: Path) -> None:
    first = _estimator(tmp_path / "a")
    first.train(input_fn, steps=3)
    second = tf.estimator.Estimator(
        model_fn,
        str(tmp_path / "b"),
        params={"rate": 0.0},
        warm_start_from=str(tmp_path / "a"),
    )
    second.train(input_fn, steps=1)
    np.testing.assert_array_equal(
        second.get_variable_value("w"), first.get_variable_value("w")
    )
    assert second.get_variable_value("global_step") == 1


@pytest.mark.slow
def test_nothing_to_do(tmp_path: Path) -> None:
    estimator = _estimator(tmp_path)
    estimator.train(input_fn, steps=2)
    estimator.train(lambda: pytest.fail("called"), max_steps=2)
    with pytest.raises(ValueError, match="both steps and max_steps"):
        estimator.train(input_fn, steps=1, max_steps=1)
    with pytest.raises(ValueError, match="steps > 0"):
        estimator.train(input_fn, steps=0)
    with pytest.raises(TypeError, match="SessionRunHook"):
        estimator.train(input_fn, hooks=["x"], steps=1)
    with pytest.raises(TypeError, match=r"unsupported callable.* got int"):
        estimator.train(3, steps=1)


class _Own(Exception):
    pass


def _fails(*_: Any, **__: Any) -> Any:
    raise _Own("of the program")


class _FailingHook(tf.train.SessionRunHook):
    def after_run(self, run_context: Any, run_values: Any) -> None:
        _fails()


@pytest.mark.slow
@pytest.mark.parametrize("place", ["input_fn", "model_fn", "hook"])
def test_errors_of_functions_reach_the_caller(tmp_path: Path, place: str) -> None:
    def failing_model(features: Any, labels: Any, mode: str) -> Any:
        return _fails()

    before = _threads()
    estimator = _estimator(tmp_path)
    if place == "model_fn":
        estimator = tf.estimator.Estimator(failing_model, str(tmp_path))
    hooks = [_FailingHook()] if place == "hook" else []
    with pytest.raises(_Own, match="of the program") as error:
        estimator.train(_fails if place == "input_fn" else input_fn, hooks, steps=3)
    assert error.traceback[-1].name == "_fails"
    assert _threads() <= before


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda labels: None, "must include features argument"),
        (lambda features, other: None, "not expected args: .'other'"),
        (None, "model_fn must be provided"),
    ],
)
def test_wrong_model_functions(function: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tf.estimator.Estimator(function, "/tmp/unused")


def test_what_a_model_function_must_return(tmp_path: Path) -> None:
    def wrong(features: Any, labels: Any, mode: str) -> Any:
        return features

    with pytest.raises(ValueError, match=r"should return an EstimatorSpec\. wrong"):
        tf.estimator.Estimator(wrong, str(tmp_path)).train(input_fn, steps=1)

    def unlabelled(features: Any) -> Any:
        return None

    with pytest.raises(ValueError, match="does not take labels"):
        tf.estimator.Estimator(unlabelled, str(tmp_path)).train(input_fn, steps=1)


def test_members_are_not_overridden() -> None:
    class Other(tf.estimator.Estimator):  # type: ignore[misc,name-defined]
        def train(self) -> None:
            pass

    with pytest.raises(ValueError, match=r"does override \['train'\]"):
        Other(model_fn, params={})


def test_an_export_needs_a_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Couldn't find trained model"):
        _estimator(tmp_path).export_saved_model(str(tmp_path), _receiver)
    with pytest.raises(ValueError, match="input_receiver_fn must be defined"):
        _estimator(tmp_path).export_saved_model(str(tmp_path), None)
