"""Heads and canned models of `tf.contrib.learn`, over `tf.feature_column`'s columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib.learn.estimators import other_models, rnn_parts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

learn = tf.contrib.learn
_RANDOM = np.random.RandomState(0)
_X: Any = _RANDOM.randn(20, 2).astype(np.float32)
_CLASSES: Any = (_X[:, :1] > 0).astype(np.int64)
_NUMBERS: Any = _X[:, :1] * 2 + 1
_COLUMNS = [tf.feature_column.numeric_column("x", [2])]


def _input(labels: Any) -> Callable[[], Any]:
    return lambda: ({"x": tf.constant(_X)}, tf.constant(labels))


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        lambda: learn.LinearClassifier(_COLUMNS),
        lambda: learn.DNNClassifier([4], _COLUMNS, activation_fn="tanh"),
        lambda: learn.DNNLinearCombinedClassifier(
            linear_feature_columns=_COLUMNS,
            dnn_feature_columns=_COLUMNS,
            dnn_hidden_units=[4],
            fix_global_step_increment_bug=True,
        ),
    ],
)
def test_classifiers_learn(make: Callable[[], Any]) -> None:
    model = make()
    input_fn = _input(_CLASSES)
    model.fit(input_fn=input_fn, steps=60)
    results = model.evaluate(input_fn=input_fn, steps=1)
    assert results["accuracy"] >= 0.85
    assert results["global_step"] == 60
    classes = np.array(list(model.predict(input_fn=input_fn)))
    assert np.mean(classes == _CLASSES[:, 0]) == pytest.approx(results["accuracy"])
    probabilities = np.array(list(model.predict_proba(input_fn=input_fn)))
    np.testing.assert_array_equal(np.argmax(probabilities, 1), classes)
    both = model.predict(input_fn=input_fn, outputs=["classes", "logits"])
    assert sorted(next(both)) == ["classes", "logits"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        lambda: learn.LinearRegressor(
            _COLUMNS, optimizer=tf.train.GradientDescentOptimizer(0.3)
        ),
        lambda: learn.DNNRegressor([8], _COLUMNS),
        lambda: learn.DNNLinearCombinedRegressor(
            linear_feature_columns=_COLUMNS, gradient_clip_norm=5.0
        ),
    ],
)
def test_regressors_learn(make: Callable[[], Any]) -> None:
    model = make()
    input_fn = _input(_NUMBERS)
    model.fit(input_fn=input_fn, steps=1)
    before = model.evaluate(input_fn=input_fn, steps=1)["loss"]
    model.fit(input_fn=input_fn, steps=60)
    assert model.evaluate(input_fn=input_fn, steps=1)["loss"] < 0.6 * before
    scores = np.array(list(model.predict(input_fn=input_fn)))
    assert scores.shape == (20,)
    tensor = model.predict_scores(input_fn=input_fn, as_iterable=False)
    np.testing.assert_allclose(tensor, scores, rtol=1e-6)


@pytest.mark.slow
def test_clusters_are_found(tmp_path: Path) -> None:
    points = np.concatenate([_X * 0.1, _X * 0.1 + 5])
    model = learn.KMeansClustering(
        2, str(tmp_path), initial_clusters=points[[0, 20]], relative_tolerance=1e-4
    )

    def input_fn() -> Any:
        return tf.constant(points), None

    model.fit(input_fn=input_fn, steps=20)
    centers = np.sort(model.clusters()[:, 0])
    np.testing.assert_allclose(centers, [0, 5], atol=0.2)
    found = list(model.predict_cluster_idx(input_fn=input_fn))
    assert found == [0] * 20 + [1] * 20
    assert model.transform(input_fn=input_fn).shape == (40, 2)
    assert model.score(input_fn=input_fn, steps=1) < 5


@pytest.mark.slow
def test_what_others_are_compared_with() -> None:
    model = other_models.DebugRegressor()
    input_fn = _input(_NUMBERS)
    model.fit(input_fn=input_fn, steps=50)
    scores = list(model.predict_scores(input_fn=input_fn))
    np.testing.assert_allclose(scores, np.mean(_NUMBERS), atol=0.1)
    classes = other_models.DebugClassifier()
    classes.fit(input_fn=_input(np.ones([20, 1], np.int64)), steps=5)
    assert list(classes.predict_classes(input_fn=input_fn)) == [1] * 20


def _made(head: Any, mode: str, labels: Any, **options: Any) -> Any:
    logits = tf.ones([2, head.logits_dimension])
    return head.create_model_fn_ops(
        {"w": tf.constant([1.0, 3.0])},
        mode,
        None if labels is None else tf.constant(labels),
        options.pop("train_op_fn", learn.no_op_train_fn),
        logits,
        **options,
    )


@pytest.mark.parametrize(
    ("make", "labels", "loss", "metrics"),
    [
        (lambda: learn.regression_head(), [1.0, 3.0], 2.0, {"loss"}),
        (
            lambda: learn.regression_head(weight_column_name="w", head_name="h"),
            [1.0, 3.0],
            6.0,
            {"loss/h"},
        ),
        (
            lambda: learn.binary_svm_head(),
            [1, 0],
            1.0,
            {"loss", "accuracy"},
        ),
        (
            lambda: learn.multi_class_head(3),
            [1, 0],
            np.log(3),
            {"loss", "accuracy"},
        ),
    ],
)
def test_losses_of_heads(
    make: Callable[[], Any], labels: Any, loss: float, metrics: set[str]
) -> None:
    made = _made(make(), learn.ModeKeys.EVAL, labels)
    assert set(made.eval_metric_ops) == metrics
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        assert session.run(made.loss) == pytest.approx(loss, rel=1e-6)


def test_heads_together() -> None:
    heads = [
        learn.regression_head(head_name="a"),
        learn.multi_class_head(3, head_name="b"),
        learn.head.loss_only_head(lambda: tf.constant(5.0), "c"),
    ]
    head = learn.multi_head(heads, [1.0, 2.0, 3.0])
    assert head.logits_dimension == 4
    made = head.create_model_fn_ops(
        {}, learn.ModeKeys.INFER, logits=tf.constant([[7.0, 1.0, 2.0, 3.0]])
    )
    assert sorted(made.output_alternatives) == ["a", "b"]
    with tf.Session() as session:
        assert session.run(made.predictions["a", "scores"]) == [7.0]
        assert session.run(made.predictions["b", "classes"]) == [2]


def test_wrong_heads_are_refused() -> None:
    head, mode = learn.regression_head(), learn.ModeKeys
    with pytest.raises(ValueError, match="unrecognized"):
        _made(head, "other", [1.0, 2.0])
    with pytest.raises(ValueError, match="train_op_fn"):
        _made(head, mode.TRAIN, [1.0, 2.0], train_op_fn=None)
    with pytest.raises(ValueError, match="Both logits"):
        _made(head, mode.TRAIN, [1.0, 2.0], logits_input=tf.ones([2, 1]))
    with pytest.raises(ValueError, match="missing from features"):
        _made(learn.regression_head(weight_column_name="v"), mode.EVAL, [1.0, 2.0])
    with pytest.raises(ValueError, match="n_classes"):
        learn.multi_class_head(1)
    with pytest.raises(ValueError, match="Class ID 3"):
        learn.multi_class_head(3, metric_class_ids=[3])
    with pytest.raises(ValueError, match="not found in loss_fn"):
        learn.multi_class_head(3, loss_fn=lambda labels, logits: 1)
    with pytest.raises(ValueError, match="must have names"):
        learn.multi_head([learn.regression_head()])
    with pytest.raises(ValueError, match="must be defined"):
        learn.DNNLinearCombinedClassifier()
    with pytest.raises(ValueError, match="Kernel"):
        learn.SVM("id", _COLUMNS, kernels=["rbf"])
    sdca = tf.contrib.linear_optimizer.SDCAOptimizer("id")
    with pytest.raises(ValueError, match="centered_bias"):
        learn.LinearClassifier(_COLUMNS, optimizer=sdca, enable_centered_bias=True)


@pytest.mark.slow
def test_old_columns_and_dual_coordinates() -> None:
    layers = tf.contrib.layers
    columns = [
        layers.real_valued_column("x", dimension=2),
        layers.bucketized_column(layers.real_valued_column("age"), [1.0, 2.0]),
        layers.sparse_column_with_keys("word", ["a", "b"]),
    ]

    def input_fn() -> Any:
        words = tf.SparseTensor(
            [[row, 0] for row in range(20)], ["a", "b"] * 10, [20, 1]
        )
        features = {
            "x": tf.constant(_X),
            "age": tf.constant(_X[:, 1:]),
            "word": words,
            "id": tf.as_string(tf.range(20)),
        }
        return features, tf.constant(_CLASSES)

    model = learn.SVM("id", columns)
    model.fit(input_fn=input_fn, steps=20)
    assert model.evaluate(input_fn=input_fn, steps=1)["accuracy"] > 0.9
    assert len(list(model.predict_classes(input_fn=input_fn))) == 20
    sdca = tf.contrib.linear_optimizer.SDCAOptimizer("id", num_table_shards=2)
    linear = learn.LinearClassifier(columns, optimizer=sdca)
    linear.fit(input_fn=input_fn, steps=20)
    assert linear.evaluate(input_fn=input_fn, steps=1)["accuracy"] >= 0.85
    inferred = learn.infer_real_valued_columns_from_input(_X)
    assert [column.dimension for column in inferred] == [2]


@pytest.mark.slow
def test_recurrent_models_learn() -> None:
    steps = tf.contrib.layers.real_valued_column("steps")
    sequences = _RANDOM.randn(8, 5, 1).astype(np.float32)

    def input_fn() -> Any:
        labels = (sequences[:, :, 0] > 0).astype(np.int64)
        return {"steps": tf.constant(sequences)}, tf.constant(labels)

    model = learn.DynamicRnnEstimator(
        learn.ProblemType.CLASSIFICATION,
        rnn_parts.PredictionType.MULTIPLE_VALUE,
        [steps],
        num_classes=2,
        num_units=4,
        cell_type="lstm",
        learning_rate=1.0,
        predict_probabilities=True,
    )
    model.fit(input_fn=input_fn, steps=60)
    assert model.evaluate(input_fn=input_fn, steps=1)["accuracy"] > 0.9
    found = next(model.predict(input_fn=input_fn))
    assert found["probabilities"].shape == (5, 2)
    assert found["rnn_cell_state_0"].shape == (4,)
