"""`tf.estimator.tpu`: a program for TPUs runs without them, and is told what cannot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

tpu = tf.contrib.tpu
_ROWS = np.random.RandomState(0).rand(12, 3).astype(np.float32)


def _input_fn(params: Any) -> Any:
    labels = _ROWS.sum(1, keepdims=True)
    dataset = tf.data.Dataset.from_tensor_slices((_ROWS, labels)).repeat()
    return dataset.batch(params["batch_size"], drop_remainder=True)


def _model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
    if isinstance(features, dict):
        features = features["x"]
    params["sizes"].append((mode, params.get("batch_size"), params["use_tpu"]))
    outputs = tf.layers.dense(features, 1, name="d")
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tpu.TPUEstimatorSpec(mode, predictions={"y": outputs})
    loss = tf.losses.mean_squared_error(labels, outputs)
    step = tf.train.get_global_step()
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)

    def metric_fn(labels: Any, outputs: Any) -> Any:
        return {"error": tf.metrics.mean_absolute_error(labels, outputs)}

    def host_call(losses: Any) -> Any:
        with tf.contrib.summary.create_file_writer(params["events"]).as_default():
            with tf.contrib.summary.always_record_summaries():
                tf.contrib.summary.scalar("mine", losses[0], step=step)
            return tf.contrib.summary.all_summary_ops()

    return tpu.TPUEstimatorSpec(
        mode,
        loss=loss,
        train_op=train_op,
        eval_metrics=(metric_fn, [labels, outputs]),
        host_call=(host_call, [tf.reshape(loss, [1])]) if mode == "train" else None,
    )


class _Sizes(list[Any]):
    """A list that stays itself where parameters are copied."""

    def __deepcopy__(self, memo: Any) -> _Sizes:
        return self


def _estimator(folder: Path, **options: Any) -> Any:
    config = tpu.RunConfig(
        model_dir=str(folder / "model"),
        log_step_count_steps=2,
        tpu_config=tpu.TPUConfig(iterations_per_loop=1),
    )
    params = {"sizes": _Sizes(), "events": str(folder / "events")}
    sizes = {"train_batch_size": 4, "eval_batch_size": 3, "predict_batch_size": 2}
    return tpu.TPUEstimator(
        _model_fn, config=config, params=params, use_tpu=False, **sizes, **options
    )


def _tags(folder: Path) -> list[str]:
    return [
        value.tag
        for path in sorted(folder.glob("events*"))
        for event in tf.train.summary_iterator(str(path))
        for value in event.summary.value
    ]


@pytest.mark.slow
def test_training_evaluation_prediction_and_export(tmp_path: Path) -> None:
    estimator = _estimator(tmp_path)
    estimator.train(_input_fn, max_steps=6)
    metrics = estimator.evaluate(_input_fn, steps=2)
    assert metrics["global_step"] == 6
    assert metrics["error"] < 2
    rows = tf.data.Dataset
    found = estimator.predict(
        lambda params: rows.from_tensor_slices(_ROWS).batch(params["batch_size"])
    )
    assert len(list(found)) == len(_ROWS)
    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn(
        {"x": tf.placeholder(tf.float32, [None, 3])}
    )
    estimator.export_saved_model(str(tmp_path / "export"), receiver)
    assert estimator.params["sizes"] == [
        ("train", 4, False),
        ("eval", 3, False),
        ("infer", 2, False),
        ("infer", None, False),
    ]
    assert _tags(tmp_path / "events") == ["mine"] * 6
    assert {"examples/sec", "global_step/sec"} <= set(_tags(tmp_path / "model"))
    (exported,) = (tmp_path / "export").iterdir()
    with tf.Session(graph=tf.Graph()) as session:
        loaded = tf.saved_model.load(session, ["serve"], str(exported))
        assert "serving_default" in loaded.signature_def


def test_a_tpu_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="use_tpu=False"):
        tpu.TPUEstimator(_model_fn, config=tpu.RunConfig(), train_batch_size=8)


def test_an_export_for_tpus_alone_is_refused(tmp_path: Path) -> None:
    estimator = _estimator(tmp_path, export_to_cpu=False)
    with pytest.raises(RuntimeError, match="export_to_cpu=True"):
        estimator.export_saved_model(str(tmp_path / "export"), lambda: None)


def test_hyperparameters_get_the_batch_size() -> None:
    def model_fn(features: Any, mode: str, params: Any) -> Any:
        assert (params.batch_size, params.rate, params.use_tpu) == (5, 0.5, False)
        return tpu.TPUEstimatorSpec(mode, predictions={"y": features})

    estimator = tpu.TPUEstimator(
        model_fn,
        config=tpu.RunConfig(),
        params=tf.contrib.training.HParams(rate=0.5),
        use_tpu=False,
        predict_batch_size=5,
    )
    estimator._call_input_fn(lambda params: params.batch_size, "infer")
    with tf.Graph().as_default():
        spec = estimator._call_model_fn(tf.zeros([5]), None, "infer", estimator.config)
        assert spec.predictions["y"].shape.as_list() == [5]


def test_settings_of_a_cluster() -> None:
    class Resolver:
        def master(self) -> str:
            return "grpc://a:1"

        def cluster_spec(self) -> Any:
            return tf.train.ClusterSpec({"worker": ["a:1"]})

    config = tpu.RunConfig(cluster=Resolver())
    assert (config.master, config.evaluation_master) == ("grpc://a:1", "grpc://a:1")
    assert config.session_config.isolate_session_state
    assert config.session_config.cluster_def.job[0].name == "worker"
    with pytest.raises(ValueError, match="session_config"):
        tpu.RunConfig(cluster=Resolver(), session_config=config.session_config)
    assert not tf.estimator.tpu.RunConfig().session_config
