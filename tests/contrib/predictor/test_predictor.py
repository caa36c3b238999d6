"""`tf.contrib.predictor`: exported models and estimators as functions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

predictor = tf.contrib.predictor


@pytest.fixture(name="exported")
def _exported(tmp_path: Path) -> str:
    """A model that doubles `x` under "serving_default", and adds 1 under "more"."""
    folder = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        factor = tf.get_variable("factor", initializer=2.0)
        y = tf.multiply(x, factor, name="y")
        z = tf.add(y, 1.0, name="z")
        session.run(tf.global_variables_initializer())
        signature = tf.saved_model.predict_signature_def
        builder = tf.saved_model.Builder(folder)
        builder.add_meta_graph_and_variables(
            session,
            ["serve", "more"],
            {
                "serving_default": signature({"x": x}, {"y": y}),
                "default_input_alternative:more": signature({"a": x}, {"z": z}),
            },
        )
        builder.save()
    return folder


@pytest.mark.parametrize(
    ("options", "key", "result", "expected"),
    [
        ({}, "x", "y", [2, 4]),
        ({"signature_def_key": "more"}, "a", "z", [3, 5]),
        ({"input_names": {"i": "x:0"}, "output_names": {"o": "z:0"}}, "i", "o", [3, 5]),
    ],
)
def test_a_saved_model(
    exported: str, options: Any, key: str, result: str, expected: Any
) -> None:
    predict = predictor.from_saved_model(exported, tags="serve, more", **options)
    assert predict({key: [1.0, 2.0]})[result].tolist() == expected
    assert predict.feed_tensors[key].name == "x:0"
    assert list(predict.fetch_tensors) == [result]
    assert predict.session.graph is predict.graph
    with pytest.raises(ValueError, match="unexpected keys in input_dict"):
        predict({"no": 1})


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"input_names": {}}, ValueError, "must both be specified"),
        (
            {"input_names": {}, "output_names": {}, "signature_def_key": "more"},
            ValueError,
            "at most one of",
        ),
        ({"signature_def_key": "no"}, ValueError, "Available signatures are"),
        ({"tags": "serve"}, RuntimeError, "could not be found"),
    ],
)
def test_what_a_saved_model_does_not_have(
    exported: str, options: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        predictor.from_saved_model(exported, **{"tags": "serve,more", **options})


def _model_fn(features: Any, labels: Any, mode: str) -> Any:
    outputs = tf.layers.dense(features["x"], 1, kernel_initializer=tf.ones_initializer)
    loss = train_op = None
    if labels is not None:
        loss = tf.losses.mean_squared_error(labels, outputs)
        train_op = tf.assign_add(tf.train.get_global_step(), 1)
    return tf.estimator.EstimatorSpec(
        mode,
        predictions=outputs,
        loss=loss,
        train_op=train_op,
        export_outputs={
            "serving_default": tf.estimator.export.PredictOutput({"y": outputs})
        },
    )


def _receiver() -> Any:
    x = tf.placeholder(tf.float32, [None, 2])
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"in": x})


@pytest.mark.slow
def test_an_estimator(tmp_path: Path) -> None:
    estimator = tf.estimator.Estimator(_model_fn, str(tmp_path))
    rows = np.ones([4, 2], np.float32)
    estimator.train(lambda: ({"x": tf.constant(rows)}, tf.zeros([4, 1])), steps=1)
    predict = predictor.from_estimator(estimator, _receiver)
    assert predict({"in": rows})["y"].tolist() == [[2.0]] * 4
    with pytest.raises(KeyError, match="output_key must be one of"):
        predictor.from_estimator(estimator, _receiver, output_key="no")


def test_what_is_no_estimator() -> None:
    with pytest.raises(TypeError, match=r"tf\.estimator\.Estimator, but got type int"):
        predictor.from_estimator(3, _receiver)
    with pytest.raises(TypeError, match="but got type int"):
        predictor.from_contrib_estimator(3, _receiver)
    core = tf.estimator.Estimator(_model_fn)
    with pytest.raises(TypeError, match="from_estimator"):
        predictor.from_contrib_estimator(core, _receiver)
