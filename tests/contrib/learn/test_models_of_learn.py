"""Estimators, experiments, monitors and exports of `tf.contrib.learn`."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib.learn.utils import session_bundle
from tensorloom.protos import session_bundle_pb2

if TYPE_CHECKING:
    from pathlib import Path

learn = tf.contrib.learn
_X: Any = np.array([[1.0], [2.0], [3.0], [4.0]], np.float32)
_Y: Any = 2 * _X + 1


def _input_fn() -> Any:
    return {"x": tf.constant(_X)}, tf.constant(_Y)


def _model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
    x = features["x"] if isinstance(features, dict) else features
    weights = tf.get_variable("w", [1, 1], initializer=tf.zeros_initializer())
    predictions = tf.matmul(x, weights)
    if mode == learn.ModeKeys.INFER:
        return learn.ModelFnOps(mode, {"y": predictions})
    if labels.shape.ndims == 1:
        labels = tf.expand_dims(labels, 1)
    loss = tf.losses.mean_squared_error(labels, predictions)
    step = tf.train.get_global_step()
    train_op = tf.train.GradientDescentOptimizer(params["rate"]).minimize(loss, step)
    return learn.ModelFnOps(mode, {"y": predictions}, loss, train_op)


def _estimator(directory: Any, **options: Any) -> Any:
    return learn.Estimator(
        _model_fn, model_dir=str(directory), params={"rate": 0.05}, **options
    )


@pytest.mark.slow
def test_fits_evaluates_and_predicts(tmp_path: Path) -> None:
    estimator = _estimator(tmp_path)
    assert estimator.fit(input_fn=_input_fn, steps=3) is estimator
    metrics = {
        "error": learn.MetricSpec(tf.metrics.mean_absolute_error, prediction_key="y")
    }
    results = estimator.evaluate(input_fn=_input_fn, steps=1, metrics=metrics)
    assert results["global_step"] == 3
    weight = estimator.get_variable_value("w")[0, 0]
    assert results["error"] == pytest.approx(np.abs(_Y - _X * weight).mean(), rel=1e-5)
    assert results["loss"] == pytest.approx(
        np.square(_Y - _X * weight).mean(), rel=1e-5
    )
    found = list(estimator.predict(input_fn=_input_fn))
    np.testing.assert_allclose([one["y"] for one in found], _X * weight, rtol=1e-6)
    assert sorted(estimator.get_variable_names()) == ["global_step", "w"]
    estimator.fit(input_fn=_input_fn, max_steps=3)  # reached already
    assert estimator.evaluate(input_fn=_input_fn, steps=1)["global_step"] == 3
    estimator.partial_fit(input_fn=_input_fn)
    assert estimator.get_variable_value("global_step") == 4


@pytest.mark.slow
def test_arrays_as_scikit_learn_gives_them(tmp_path: Path) -> None:
    model = learn.SKCompat(_estimator(tmp_path))
    model.fit(_X, _Y[:, 0], batch_size=2, steps=3)
    assert model.score(_X, _Y[:, 0], batch_size=2)["global_step"] == 3
    predictions = model.predict(_X, batch_size=3)["y"]
    assert predictions.shape == (4, 1)
    both = _estimator(tmp_path).predict(x=_X, batch_size=3, iterate_batches=True)
    assert [len(batch["y"]) for batch in both] == [3, 1]


def test_wrong_calls_are_refused(tmp_path: Path) -> None:
    estimator = _estimator(tmp_path)
    with pytest.raises(learn.NotFittedError, match="trained model"):
        estimator.evaluate(input_fn=_input_fn, steps=1)
    with pytest.raises(learn.NotFittedError):
        estimator.predict(input_fn=_input_fn)
    with pytest.raises(ValueError, match="steps and max_steps"):
        estimator.fit(input_fn=_input_fn, steps=1, max_steps=1)
    with pytest.raises(ValueError, match="input_fn and x"):
        estimator.fit(x=_X, input_fn=_input_fn)
    with pytest.raises(ValueError, match="Either x or input_fn"):
        estimator.fit()
    with pytest.raises(ValueError, match="Inputs cannot be tensors"):
        estimator.fit(x=tf.constant(_X), y=tf.constant(_Y))
    with pytest.raises(ValueError, match="does not have a params"):
        learn.Estimator(lambda features, labels: None, params={"a": 1})
    with pytest.raises(ValueError, match="different values"):
        _estimator(tmp_path, config=learn.RunConfig(model_dir="other"))
    estimator.fit(input_fn=_input_fn, steps=1)
    with pytest.raises(ValueError, match="Features are incompatible"):
        estimator.fit(input_fn=lambda: ({"x": tf.constant([1])}, None), steps=1)
    with pytest.raises(ValueError, match="at least one output"):
        list(estimator.predict(input_fn=_input_fn, outputs=["z"]))


@pytest.mark.slow
def test_saved_models_and_bundles(tmp_path: Path) -> None:
    estimator = _estimator(tmp_path / "model")
    estimator.fit(input_fn=_input_fn, steps=2)
    spec = {"x": tf.FixedLenFeature([1], tf.float32)}
    serving = learn.build_parsing_serving_input_fn(spec)
    strategy = learn.make_export_strategy(serving, exports_to_keep=1)
    path = strategy.export(estimator, str(tmp_path / "saved")).decode()
    example = tf.train.Example()
    example.features.feature["x"].float_list.value.append(2.0)
    weight = estimator.get_variable_value("w")[0, 0]
    with tf.Session(graph=tf.Graph()) as session:
        loaded = tf.saved_model.load(session, ["serve"], path)
        signature = loaded.signature_def["serving_default"]
        value = session.run(
            signature.outputs["y"].name,
            {signature.inputs["examples"].name: [example.SerializeToString()]},
        )
    np.testing.assert_allclose(value, [[2 * weight]], rtol=1e-6)
    predict = tf.contrib.predictor.from_contrib_estimator(estimator, serving)
    found = predict({"examples": [example.SerializeToString()]})
    np.testing.assert_allclose(found["y"], [[2 * weight]], rtol=1e-6)
    bundle = estimator.export(str(tmp_path / "bundles"), exports_to_keep=2)
    assert os.path.basename(bundle) == "00000002"
    meta_graph = tf.MetaGraphDef()
    with open(os.path.join(bundle, "export.meta"), "rb") as file:
        meta_graph.ParseFromString(file.read())
    kept = meta_graph.collection_def[session_bundle.SIGNATURES_KEY].any_list.value[0]
    signatures = session_bundle_pb2.Signatures.FromString(kept.value)
    assert kept.type_url.endswith("/tensorflow.serving.Signatures")
    tensors = signatures.default_signature.generic_signature.map
    assert sorted(tensors) == ["inputs", "y"]
    with tf.Graph().as_default():
        saver = tf.train.import_meta_graph(os.path.join(bundle, "export.meta"))
        again = saver.export_meta_graph().collection_def[session_bundle.SIGNATURES_KEY]
        assert again.any_list.value[0].value == kept.value
    with pytest.raises(RuntimeError, match="Duplicate export dir"):
        estimator.export(str(tmp_path / "bundles"))


class _Seen(learn.monitors.EveryN):  # type: ignore[misc]
    """Keeps the steps that it sees."""

    def __init__(self) -> None:
        super().__init__(every_n_steps=2, first_n_steps=1)
        self.steps: list[int] = []

    def every_n_step_end(self, step: int, outputs: Any) -> Any:
        self.steps.append(step)
        return False


@pytest.mark.slow
def test_monitors_look_on(tmp_path: Path) -> None:
    monitors = learn.monitors
    seen, kept = _Seen(), monitors.CaptureVariable("w/read:0", every_n=2)
    validation = monitors.ValidationMonitor(
        input_fn=_input_fn,
        eval_steps=1,
        every_n_steps=1,
        early_stopping_rounds=2,
        early_stopping_metric_minimize=False,
        check_interval_secs=None,
    )
    config = learn.RunConfig(save_checkpoints_steps=1)
    estimator = _estimator(tmp_path, config=config)
    estimator.fit(
        input_fn=_input_fn,
        steps=20,
        monitors=[seen, kept, validation, monitors.StopAtStep(num_steps=15)],
    )
    assert validation.early_stopped  # the loss falls, which is worse here
    assert seen.steps[:2] == [1, 3]
    assert sorted(kept.values)[:2] == [1, 3]
    hooks = monitors.replace_monitors_with_hooks(
        [tf.train.StopAtStepHook(1)], estimator
    )
    assert [type(hook) for hook in hooks] == [tf.train.StopAtStepHook]


def test_losses_of_nan_stop_training(tmp_path: Path) -> None:
    monitor = learn.monitors.NanLoss("loss", fail_on_nan_loss=True)
    monitor.begin()
    assert monitor.step_begin(1) == ["loss"]
    with pytest.raises(learn.NanLossDuringTrainingError, match="NaN"):
        monitor.step_end(1, {"loss": np.nan})
    gentle = learn.monitors.NanLoss("loss", fail_on_nan_loss=False)
    gentle.begin()
    gentle.step_begin(1)
    assert gentle.step_end(1, {"loss": np.nan})


def _experiment(directory: Path, **options: Any) -> Any:
    return learn.Experiment(
        _estimator(directory, config=options.pop("config", None)),
        _input_fn,
        _input_fn,
        eval_steps=1,
        eval_delay_secs=0,
        **options,
    )


@pytest.mark.slow
def test_experiments_train_evaluate_and_export(tmp_path: Path) -> None:
    exported: list[Any] = []
    strategy = learn.ExportStrategy(
        "kept",
        lambda estimator, path, checkpoint_path, eval_result: exported.append(
            (path, eval_result["global_step"])
        ),
    )
    result, exports = learn.learn_runner.run(
        lambda output_dir: _experiment(
            output_dir, train_steps=3, export_strategies=strategy
        ),
        output_dir=str(tmp_path),
    )
    assert result["global_step"] == 3
    assert exports == [None]
    assert exported == [(os.path.join(str(tmp_path), "export", "kept").encode(), 3)]
    experiment = _experiment(tmp_path, train_steps=6, train_steps_per_iteration=2)
    result, _ = experiment.continuous_train_and_eval()
    assert result["global_step"] >= 6
    experiment.continuous_eval(throttle_delay_secs=0)
    assert experiment.test()["global_step"] == result["global_step"] + 1


@pytest.mark.slow
def test_experiments_export_each_checkpoint(tmp_path: Path) -> None:
    steps: list[int] = []
    strategy = learn.ExportStrategy(
        "kept",
        lambda estimator, path, checkpoint_path, eval_result: steps.append(
            int(eval_result["global_step"])
        ),
    )
    experiment = _experiment(
        tmp_path,
        config=learn.RunConfig(save_checkpoints_steps=2),
        train_steps=5,
        export_strategies=[strategy],
        checkpoint_and_export=True,
    )
    experiment.train_and_evaluate()
    assert steps == [0, 2, 4, 5]


def test_schedules_by_the_task(monkeypatch: pytest.MonkeyPatch) -> None:
    run = learn.learn_runner.run
    with pytest.raises(ValueError, match="Must set value for"):
        run(lambda output_dir: None)
    with pytest.raises(TypeError, match="not callable"):
        run(1, output_dir="d")
    with pytest.raises(TypeError, match="did not return an Experiment"):
        run(lambda output_dir: 1, output_dir="d")
    with pytest.raises(ValueError, match="model_dir"):
        run(lambda run_config, hparams: 1, run_config=learn.RunConfig())
    with pytest.raises(ValueError, match="non-existent task no_such"):
        run(lambda output_dir: _experiment(output_dir), "d", schedule="no_such")
    with pytest.raises(TypeError, match="non-callable member train_steps"):
        run(lambda output_dir: _experiment(output_dir), "d", schedule="train_steps")


def test_settings_of_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = {"ps": ["p:1"], "worker": ["w:1", "w:2"], "master": ["m:1"]}
    settings = {"cluster": cluster, "task": {"type": "worker", "index": 1}}
    monkeypatch.setenv("TF_CONFIG", json.dumps({**settings, "model_dir": "/d"}))
    config = learn.RunConfig(tf_random_seed=3)
    assert config.master == "grpc://w:2"
    assert (config.num_ps_replicas, config.num_worker_replicas) == (1, 3)
    assert (config.task_type, config.task_id, config.is_chief) == ("worker", 1, False)
    assert config.model_dir == "/d"
    assert config.save_checkpoints_secs == 600
    assert learn.RunConfig(save_checkpoints_steps=5).save_checkpoints_secs is None
    assert config.uid() == learn.RunConfig(tf_random_seed=4).uid()
    assert config.uid([]) != learn.RunConfig(tf_random_seed=4).uid([])
    assert config.replace(model_dir="/e").model_dir == "/e"
    with pytest.raises(ValueError, match="model_dir"):
        learn.RunConfig(model_dir="/f")
    bad = {"cluster": cluster, "task": {"type": "worker", "index": 2}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(bad))
    with pytest.raises(ValueError, match="not a valid task_id"):
        learn.RunConfig()


def test_graph_actions(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        step = tf.train.create_global_step()
        weight = tf.get_variable("w", [], initializer=tf.ones_initializer())
        fed = tf.placeholder_with_default(1.0, [])
        loss = tf.square(weight * fed)
        train_op = tf.train.GradientDescentOptimizer(0.25).minimize(loss, step)
        assert learn.run_n({"l": loss}, n=2) == [{"l": 1.0}, {"l": 1.0}]
        last = learn.train(graph, str(tmp_path), train_op, loss, steps=2)
        assert last == pytest.approx(0.25)
        path = tf.train.latest_checkpoint(str(tmp_path))
    with tf.Graph().as_default() as again:
        tf.train.create_global_step()
        weight = tf.get_variable("w", [])
        loss = tf.square(weight)
        assert learn.infer(path, {"w": weight})["w"] == 0.25
        found, at_step = learn.evaluate(
            again, str(tmp_path / "eval"), path, {"l": loss}, max_steps=2
        )
        assert (found["l"], at_step) == (0.0625, 2)
    with pytest.raises(ValueError, match="output_dict"):
        learn.run_feeds({}, [None])
    with pytest.raises(ValueError, match="Missing train_op"):
        learn.train(graph, str(tmp_path), None, loss)


def test_metric_specs_find_arguments() -> None:
    def metric(predictions: Any, labels: Any, weights: Any = None) -> Any:
        return predictions, labels, weights

    spec = learn.MetricSpec(metric, "p", "l", "w")
    made = spec.create_metric_ops({"w": 3}, {"l": 2}, {"p": 1, "q": 0})
    assert made == (1, 2, 3)
    assert "metric_fn=metric, prediction_key=p" in str(spec)
    only = learn.MetricSpec(lambda label, logit: (label, logit))
    assert only.create_metric_ops({}, {"l": 2}, 1) == (2, 1)
    with pytest.raises(ValueError, match="prediction_key"):
        learn.MetricSpec(metric).create_metric_ops({}, 1, {"p": 1, "q": 2})
    with pytest.raises(KeyError, match="missing"):
        spec.create_metric_ops({}, {"l": 1}, {"q": 1})
    with pytest.raises(ValueError, match="missing from"):
        learn.MetricSpec(lambda predictions: 1, label_key="l")
    with pytest.raises(ValueError, match="Ambiguous"):
        learn.MetricSpec(lambda labels, label, predictions: 1)


def test_model_results_are_checked() -> None:
    mode = learn.ModeKeys
    one, vector = tf.constant(1.0), tf.constant([1.0, 2.0])
    with pytest.raises(ValueError, match="Missing train_op"):
        learn.ModelFnOps(mode.TRAIN, one, one)
    with pytest.raises(ValueError, match="Missing loss"):
        learn.ModelFnOps(mode.EVAL, one)
    with pytest.raises(ValueError, match="Missing predictions"):
        learn.ModelFnOps(mode.INFER)
    with pytest.raises(ValueError, match="Loss must be scalar"):
        learn.ModelFnOps(mode.EVAL, one, vector)
    with pytest.raises(ValueError, match="Invalid mode"):
        learn.ModelFnOps("other", one)
    with pytest.raises(TypeError, match="SessionRunHook"):
        learn.ModelFnOps(mode.INFER, one, training_hooks=[1])
    kind = learn.ProblemType.CLASSIFICATION
    outputs = {None: (kind, {"probabilities": vector, "classes": tf.constant(["a"])})}
    spec = learn.ModelFnOps(mode.INFER, one, output_alternatives=outputs)
    assert None in spec.estimator_spec().export_outputs
