"""Models on several devices, and models with notes of their layers."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib.estimator import towers
from tensorloom.contrib.estimator.annotated_layers import (
    LayerAnnotationsCollectionNames,
)
from tensorloom.feature_column.earlier.columns import _numeric_column

ce: Any = tf.contrib.estimator
_X = np.arange(4, dtype=np.float32)


def _model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
    weight = tf.get_variable("w", initializer=1.0)
    line = weight * features
    loss = None if labels is None else tf.losses.mean_squared_error(labels, line)
    train_op = None
    if mode == "train":
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        if params["wrap"]:
            optimizer = ce.TowerOptimizer(optimizer)
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
    metrics = {"mean": tf.metrics.mean(line)}
    return tf.estimator.EstimatorSpec(mode, {"line": line}, loss, train_op, metrics)


def _data() -> Any:
    return tf.constant(_X), tf.constant(3 * _X)


def _model(count: int, folder: Any, wrap: bool = True) -> Any:
    config = tf.estimator.RunConfig(
        session_config=tf.ConfigProto(device_count={"CPU": 2})
    )
    devices = [f"/cpu:{index % 2}" for index in range(count)]
    model_fn = ce.replicate_model_fn(_model_fn, devices=devices)
    return tf.estimator.Estimator(model_fn, str(folder), config, {"wrap": wrap})


@pytest.mark.slow
def test_towers_train_as_one_model_does(tmp_path: Any) -> None:
    alone, towers_of = _model(1, tmp_path / "1"), _model(2, tmp_path / "2")
    for model in (alone, towers_of):
        model.train(_data, steps=2)
    weight = alone.get_variable_value("w")
    assert towers_of.get_variable_value("w") == pytest.approx(weight, rel=1e-6)
    want, got = (m.evaluate(_data, steps=1) for m in (alone, towers_of))
    assert got["loss"] == pytest.approx(want["loss"], rel=1e-6)
    assert got["mean"] == pytest.approx(want["mean"], rel=1e-6)
    rows = towers_of.predict(lambda: tf.data.Dataset.from_tensors(_X))
    np.testing.assert_allclose([row["line"] for row in rows], weight * _X, rtol=1e-6)


@pytest.mark.parametrize(
    ("count", "wrap", "message"),
    [(3, True, "needs to be divisible"), (2, False, "Please wrap optimizers")],
)
def test_towers_need_even_batches_and_wrapped_optimizers(
    count: int, wrap: bool, message: str, tmp_path: Any
) -> None:
    with pytest.raises(ValueError, match=message):
        _model(count, tmp_path, wrap).train(_data, steps=1)


def test_losses_of_towers_must_be_reduced() -> None:
    with pytest.raises(ValueError, match="need to be reduced"):
        ce.replicate_model_fn(_model_fn, tf.losses.Reduction.NONE)


def test_sparse_batches_are_cut_too() -> None:
    sparse = tf.SparseTensor([[0, 0], [3, 1]], [1, 2], [4, 2])
    shards, none = towers.split_batch({"s": sparse}, None, 2, "/cpu:0")
    with tf.Session() as session:
        found = session.run([tf.sparse_tensor_to_dense(one["s"]) for one in shards])
    assert none is None
    assert [part.tolist() for part in found] == [[[1, 0], [0, 0]], [[0, 0], [0, 2]]]


def test_earlier_columns_leave_notes_in_the_graph(tmp_path: Any) -> None:
    column = _numeric_column("x")
    model = ce.DNNRegressorWithLayerAnnotations([2], [column], str(tmp_path))
    names = LayerAnnotationsCollectionNames
    with tf.Graph().as_default() as graph:
        tf.train.create_global_step()
        model.model_fn({"x": tf.constant([[1.0]])}, None, "infer", model.config)
        keys = graph.get_collection(names.keys(names.UNPROCESSED_FEATURES))
        processed = graph.get_collection(names.keys(names.PROCESSED_FEATURES))
        (columns,) = graph.get_collection(names.FEATURE_COLUMNS)
        (value,) = graph.get_collection(names.values(names.UNPROCESSED_FEATURES))
    assert (keys, processed) == (["x"], ["x"])
    assert pickle.loads(columns).key == "x"
    assert b"Const" in value.value
