"""`tf.contrib.estimator`: heads, several heads, and what extends Estimators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

ce = tf.contrib.estimator


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


_LOGITS = np.array([[1.0], [-2.0]], np.float32)
_TWO = np.array([[1.0, -1.0], [0.5, 2.0]], np.float32)
_THREE = np.array([[1.0, 0.0, -1.0], [0.5, 2.0, 0.0]], np.float32)


def _sigmoid_loss(logits: Any, labels: Any) -> Any:
    return np.maximum(logits, 0) - logits * labels + np.log1p(np.exp(-np.abs(logits)))


@pytest.mark.parametrize(
    ("make", "logits", "labels", "loss"),
    [
        (
            ce.binary_classification_head,
            _LOGITS,
            [[1.0], [0.0]],
            _sigmoid_loss(_LOGITS, [[1.0], [0.0]]).mean(),
        ),
        (ce.regression_head, _LOGITS, [[2.0], [1.0]], 5.0),
        (
            lambda: ce.regression_head(label_dimension=2),
            _TWO,
            [[2.0, 1.0], [0.5, 0.0]],
            (1.0 + 4.0 + 4.0) / 4,
        ),
        (
            lambda: ce.poisson_regression_head(compute_full_loss=False),
            _LOGITS,
            [[2.0], [1.0]],
            (np.exp(_LOGITS) - _LOGITS * [[2.0], [1.0]]).mean(),
        ),
        (
            ce.logistic_regression_head,
            _LOGITS,
            [[0.3], [0.8]],
            _sigmoid_loss(_LOGITS, [[0.3], [0.8]]).mean(),
        ),
        (
            lambda: ce.multi_class_head(3),
            _THREE,
            [[0], [2]],
            -np.log(np.exp([1.0, 0.0]) / np.exp(_THREE).sum(1)).mean(),
        ),
        (
            lambda: ce.multi_label_head(2),
            _TWO,
            [[1, 0], [1, 1]],
            _sigmoid_loss(_TWO, np.array([[1, 0], [1, 1]])).mean(),
        ),
    ],
)
def test_losses_of_heads(
    make: Callable[[], Any], logits: Any, labels: Any, loss: float
) -> None:
    spec = make().create_estimator_spec(
        {}, "eval", tf.constant(logits), tf.constant(labels)
    )
    with tf.Session() as sess:
        assert sess.run(spec.loss) == pytest.approx(loss, rel=1e-5)


def test_metrics_of_several_labels_have_their_classes() -> None:
    head = ce.multi_label_head(
        2,
        thresholds=[0.5],
        label_vocabulary=["a", "b"],
        classes_for_class_based_metrics=["b"],
        name="tags",
    )
    labels = tf.constant([[1, 0], [1, 1]], tf.int64)
    spec = head.create_estimator_spec({}, "eval", tf.constant(_TWO), labels)
    assert sorted(spec.eval_metric_ops) == [
        "accuracy/positive_threshold_0.5/tags",
        "auc/b/tags",
        "auc/tags",
        "auc_precision_recall/b/tags",
        "auc_precision_recall/tags",
        "average_loss/tags",
        "precision/positive_threshold_0.5/tags",
        "probability_mean/b/tags",
        "recall/positive_threshold_0.5/tags",
    ]
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        updates = {name: pair[1] for name, pair in spec.eval_metric_ops.items()}
        found = sess.run(updates)
    assert found["accuracy/positive_threshold_0.5/tags"] == 1.0
    mean = (1 / (1 + np.exp(-_TWO[:, 1]))).mean()
    assert found["probability_mean/b/tags"] == pytest.approx(mean)


def _several() -> Any:
    heads = [ce.regression_head(name="size"), ce.multi_class_head(3, name="kind")]
    return ce.multi_head(heads, head_weights=[2.0, 1.0])


def test_several_heads_are_one() -> None:
    head = _several()
    assert head.logits_dimension == 4
    assert head.name == "kind_size"
    logits = tf.constant(np.concatenate([_LOGITS, _THREE], 1))
    labels = {"size": tf.constant([[2.0], [1.0]]), "kind": tf.constant([[0], [2]])}
    spec = head.create_estimator_spec({}, "eval", logits, labels)
    kinds = -np.log(np.exp([1.0, 0.0]) / np.exp(_THREE).sum(1)).mean()
    with tf.Session() as sess:
        assert sess.run(spec.loss) == pytest.approx(2 * 5.0 + kinds, rel=1e-5)
    assert {"loss/size", "loss/kind", "accuracy/kind"} <= set(spec.eval_metric_ops)

    shown = head.create_estimator_spec({}, "infer", logits)
    assert ("size", "predictions") in shown.predictions
    outputs = shown.export_outputs
    assert {"serving_default", "size", "kind", "kind/predict"} <= set(outputs)
    assert "kind/probabilities" in outputs["predict"].outputs

    step = head.create_estimator_spec(
        {}, "train", logits, labels, train_op_fn=lambda loss: tf.identity(loss)
    )
    with tf.Session() as sess:
        assert sess.run(step.train_op) == pytest.approx(2 * 5.0 + kinds, rel=1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ce.multi_head([]), "Must specify heads"),
        (lambda: ce.multi_head([ce.regression_head()]), "must have name specified"),
        (
            lambda: ce.multi_head([ce.regression_head(name="a")], [1.0, 2.0]),
            "must have the same size",
        ),
        (
            lambda: _several().create_estimator_spec({}, "infer", tf.zeros([2, 3])),
            "Could not split logits",
        ),
        (lambda: ce.multi_label_head(1), "n_classes must be > 1"),
        (lambda: ce.regression_head(loss_reduction="x"), "Invalid loss_reduction"),
        (lambda: ce.binary_classification_head(thresholds=[2.0]), "thresholds not in"),
    ],
)
def test_misuse_is_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def _features() -> Any:
    return {"x": tf.constant([[1.0], [2.0]]), "id": tf.constant([["a"], ["b"]])}


def _once() -> Any:
    return tf.data.Dataset.from_tensors(_features())


def _estimator(folder: Path) -> Any:
    column = tf.feature_column.numeric_column("x")
    return tf.estimator.LinearRegressor([column], model_dir=str(folder))


def test_features_go_with_predictions(tmp_path: Path) -> None:
    plain = _estimator(tmp_path)
    plain.train(lambda: (_features(), tf.constant([[1.0], [2.0]])), steps=1)
    model = ce.forward_features(plain, "id")
    found = [prediction["id"][0] for prediction in model.predict(_once)]
    assert found == [b"a", b"b"]
    with pytest.raises(TypeError, match="should be either a string or a list"):
        ce.forward_features(plain, 3)
    with pytest.raises(ValueError, match="keys should be exist in features"):
        list(ce.forward_features(plain, "missing").predict(_once))


def test_gradients_are_clipped_together() -> None:
    values = [tf.Variable(0.0), tf.Variable(0.0)]
    loss = 3.0 * values[0] + 4.0 * values[1]
    optimizer = ce.clip_gradients_by_norm(tf.train.GradientDescentOptimizer(1.0), 1.0)
    step = optimizer.minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(step)
        np.testing.assert_allclose(sess.run(values), [-0.6, -0.8], rtol=1e-6)
    assert optimizer.get_name() == "ClipByNormGradientDescent"


def test_all_modes_are_exported(tmp_path: Path) -> None:
    model = _estimator(tmp_path / "model")
    model.train(lambda: (_features(), tf.constant([[1.0], [2.0]])), steps=1)
    x, y = tf.placeholder(tf.float32, [None, 1]), tf.placeholder(tf.float32, [None, 1])
    supervised = ce.build_raw_supervised_input_receiver_fn({"x": x}, y)
    serving = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": x})
    receivers = {"train": supervised, "eval": supervised, "infer": serving}
    folder = ce.export_all_saved_models(model, str(tmp_path / "all"), receivers)
    assert (Path(folder.decode()) / "saved_model.pb").exists()
    folder = ce.export_saved_model_for_mode(
        model, str(tmp_path / "one"), supervised, mode="eval"
    )
    assert (Path(folder.decode()) / "saved_model.pb").exists()


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("tensorrt.TrtGraphConverter", "Run the graph itself"),
        ("kinesis.KinesisDataset", "Dataset.from_generator"),
        ("bigtable.BigtableClient", "Dataset.from_generator"),
        ("mpi_collectives.DistributedOptimizer", "SyncReplicasOptimizer"),
    ],
)
def test_other_systems_are_refused_by_name(name: str, remedy: str) -> None:
    package, _, member = name.partition(".")
    refused = getattr(getattr(tf.contrib, package), member)
    with pytest.raises(RuntimeError, match=remedy) as caught:
        refused()
    assert name in str(caught.value)
    with pytest.raises(RuntimeError, match="no TensorRT"):
        tf.contrib.tensorrt.create_inference_graph(None, [])
