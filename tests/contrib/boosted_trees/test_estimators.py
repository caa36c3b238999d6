"""`tf.contrib.boosted_trees`: Estimators learn known data, are saved and exported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib.boosted_trees import combined_estimators, per_example_losses
from tensorloom.contrib.boosted_trees.export_strategy import (
    convert_to_universal_format,
    make_custom_export_strategy,
)
from tensorloom.contrib.boosted_trees.features import extract_features
from tensorloom.contrib.boosted_trees.resources.batched_operations import (
    ScheduledStampedResourceOp,
    run_handler_scheduled_ops,
)
from tensorloom.contrib.boosted_trees.tree_model import GradientBoostedDecisionTreeModel
from tensorloom.protos.gradient_trees_learner_pb2 import LearnerConfig

if TYPE_CHECKING:
    from pathlib import Path

_TREES = tf.contrib.boosted_trees.estimator_batch.estimator
_RANDOM = np.random.RandomState(0)
_DATA: Any = _RANDOM.randn(60, 2).astype(np.float32)
_WORDS: Any = _RANDOM.randint(0, 3, 60)
_CLASSES: Any = ((_DATA[:, 0] > 0) ^ (_WORDS == 1)).astype(np.int64)


def _features() -> dict[str, Any]:
    places = np.stack([np.arange(60), np.zeros(60)], 1).astype(np.int64)
    words = tf.SparseTensor(places, tf.constant(_WORDS.astype(np.int64)), [60, 1])
    return {"numbers": tf.constant(_DATA), "words": words}


def _given() -> Any:
    return _features(), tf.constant(_CLASSES[:, None])


def _learner(**fields: Any) -> LearnerConfig:
    config = LearnerConfig(**fields)
    config.constraints.max_tree_depth = 2
    config.learning_rate_tuner.fixed.learning_rate = 0.5
    config.regularization.l2 = 0.01
    return config


def _classifier(folder: Path, **options: Any) -> Any:
    return _TREES.GradientBoostedDecisionTreeClassifier(
        _learner(), 60, num_trees=2, model_dir=str(folder), **options
    )


@pytest.mark.slow
def test_a_classifier_learns_goes_on_and_is_exported(tmp_path: Path) -> None:
    model = _classifier(tmp_path / "model", output_leaf_index=True)
    model.fit(input_fn=_given, steps=20)
    found = model.evaluate(input_fn=_given, steps=1)
    assert found["accuracy"] > 0.8
    rows = list(model.predict(input_fn=_features))
    assert np.mean([row["classes"] for row in rows] == _CLASSES) > 0.8
    assert rows[0]["leaf_index"].shape == (3,)
    again = _classifier(tmp_path / "model")
    same = list(again.predict(input_fn=_features))
    assert [row["classes"] for row in same] == [row["classes"] for row in rows]

    def inputs() -> Any:
        numbers = tf.placeholder(tf.float32, [None, 2], name="numbers")
        words = tf.sparse_placeholder(tf.int64, name="words")
        features = {"numbers": numbers, "words": words}
        # Several inputs: classes of a single one would have to come from messages.
        received = {"numbers": numbers, "unused": tf.placeholder_with_default(0, None)}
        return tf.contrib.learn.InputFnOps(features, None, received)

    converted: list[Any] = []
    strategy = make_custom_export_strategy(
        "trees", lambda *arguments: converted.append(arguments), None, inputs
    )
    folder = strategy.export(model, str(tmp_path / "export"))
    ensemble, names, *counts = converted[0][:5]
    assert (names, counts) == (["numbers_0", "numbers_1", "words"], [2, 0, 1])
    written = tmp_path / folder.decode() / "assets.extra" / "feature_importances"
    worth = dict(line.split(", ") for line in written.read_text().splitlines())
    assert {"numbers_0", "words"} <= set(worth)
    message = convert_to_universal_format(ensemble, names, *counts)
    assert len(message.model.ensemble.members) == 3


@pytest.mark.slow
def test_a_network_and_trees_learn_one_after_the_other(tmp_path: Path) -> None:
    numbers = tf.feature_column.numeric_column("numbers", shape=(2,))
    model = combined_estimators.CoreDNNBoostedTreeCombinedEstimator(
        dnn_hidden_units=[4],
        dnn_feature_columns=[numbers],
        tree_learner_config=_learner(num_classes=2),
        num_trees=1,
        tree_examples_per_layer=60,
        head=tf.contrib.estimator.binary_classification_head(
            loss_reduction=tf.losses.Reduction.SUM_OVER_NONZERO_WEIGHTS
        ),
        model_dir=str(tmp_path),
        dnn_input_layer_to_tree=False,
        dnn_steps_to_train=3,
        tree_feature_columns=[numbers],
    )
    model.train(_given, steps=30)
    # A step to begin with, three of the network, then the layers of a tree.
    assert model.get_variable_value("global_step") < 20
    assert model.get_variable_value("finalized_trees") == 1
    assert model.evaluate(_given, steps=1)["accuracy"] > 0.5


@pytest.mark.slow
def test_pairs_are_ranked(tmp_path: Path) -> None:
    head = tf.contrib.estimator.binary_classification_head(
        loss_reduction=tf.losses.Reduction.SUM_OVER_NONZERO_WEIGHTS
    )
    model = _TREES.CoreGradientBoostedDecisionTreeRanker(
        _learner(num_classes=2), 60, head, ("a", "b"), 2, model_dir=str(tmp_path)
    )
    ranks = _DATA[:, :1] > _DATA[::-1, :1]

    def pairs() -> Any:
        left, right = tf.constant(_DATA), tf.constant(_DATA[::-1].copy())
        return {"a.f": left, "b.f": right}, tf.constant(ranks.astype(np.int32))

    model.train(pairs, steps=20)
    assert model.evaluate(pairs, steps=1)["accuracy"] > 0.8


def test_features_are_sorted_by_kind() -> None:
    with tf.Graph().as_default():
        rare = tf.SparseTensor([[0, 0]], tf.constant([1.0]), [60, 1])
        names, dense, indices, *_ = extract_features(
            {**_features(), "a": rare}, None, False
        )
        assert names == ["numbers_0", "numbers_1", "a", "words"]
        assert [len(dense), len(indices)] == [2, 1]
        with pytest.raises(ValueError, match="Unsupported dense feature"):
            extract_features({"x": tf.constant([1])}, None, False)
        with pytest.raises(ValueError, match="must be specified"):
            extract_features({}, None, False)


@pytest.mark.parametrize(
    ("config", "options", "message"),
    [
        (LearnerConfig(), {}, "classes must be >=2"),
        (LearnerConfig(num_classes=3), {"logits_dimension": 3}, "False for multiclass"),
        (
            LearnerConfig(num_classes=2, weak_learner_type=1, pruning_mode=2),
            {},
            "Post pruning",
        ),
        (LearnerConfig(num_classes=2), {"loss_reduction": "none"}, "loss reduction"),
        (None, {}, "learner_config must"),
        (
            LearnerConfig(num_classes=2),
            {"output_leaf_index_modes": ["now"]},
            "only contain ModeKeys",
        ),
    ],
)
def test_models_that_do_not_fit_are_refused(
    config: Any, options: Any, message: str
) -> None:
    arguments = {"center_bias": True, "logits_dimension": 1, "examples_per_layer": 1}
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        GradientBoostedDecisionTreeModel(
            is_chief=True,
            num_ps_replicas=0,
            ensemble_handle=0,
            learner_config=config,
            features={"x": tf.constant([[1.0]])},
            **(arguments | options),
        )


def test_estimators_that_do_not_fit_are_refused() -> None:
    config = LearnerConfig(num_classes=2)
    with pytest.raises(ValueError, match=r"n_classes \(3\) doesn't match"):
        _TREES.GradientBoostedDecisionTreeClassifier(config, 1, n_classes=3)
    for kind in ("", "Core"):
        make = getattr(_TREES, f"{kind}GradientBoostedDecisionTreeQuantileRegressor")
        with pytest.raises(ValueError, match="just one quantile"):
            make(LearnerConfig(), 1, [0.1, 0.9])


def test_operations_run_together() -> None:
    with tf.Graph().as_default():
        handles = [tf.constant(number) for number in range(3)]

        def double(those: Any, stamp: int, x: Any) -> Any:
            return ([h * 2 for h in those], [value + stamp for value in x])

        scheduled = [
            ScheduledStampedResourceOp(h, double, x=i) for i, h in enumerate(handles)
        ]
        found = run_handler_scheduled_ops(
            {"a": scheduled[:2], "b": scheduled[2:]}, 5, ""
        )
        assert [result[1] for result in found["a"] + found["b"]] == [5, 6, 7]
        scheduled[2].args["y"] = 1
        with pytest.raises(ValueError, match="Mismatching arguments"):
            run_handler_scheduled_ops({"a": scheduled}, 5, "")


_LABELS, _WEIGHTS = np.float32([[1], [0]]), np.float32([[2], [1]])
_LOGITS = np.float32([[0.5], [-3.0]])


@pytest.mark.parametrize(
    ("loss", "options", "expected"),
    [
        ("logistic", {}, 2 * np.log1p(np.exp(-0.5)) + np.log1p(np.exp(-3.0))),
        ("squared", {}, 2 * 0.25 + 9),
        ("full_exp", {}, 2 * np.exp(-0.5) + np.exp(-3.0)),
        ("exp", {}, 2 * np.exp(-1.0) + np.exp(-1.0)),
        ("quantile_regression", {"quantile": 0.4}, 2 * 0.2**2 + (3 * 0.4)),
    ],
)
def test_losses_are_as_known(loss: str, options: Any, expected: float) -> None:
    function = getattr(per_example_losses, f"per_example_{loss}_loss")
    with tf.Graph().as_default(), tf.Session() as session:
        values, _ = function(_LABELS, _WEIGHTS, tf.constant(_LOGITS), **options)
        assert session.run(values).sum() == pytest.approx(expected, rel=1e-5)


def test_the_loss_of_several_classes_is_the_cross_entropy() -> None:
    logits = np.float32([[1, 2, 3], [0, 0, 0]])
    with tf.Graph().as_default(), tf.Session() as session:
        values, _ = per_example_losses.per_example_maxent_loss(
            [2, 0], None, tf.constant(logits), 3
        )
        shares = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        expected = -np.log([shares[0, 2], shares[1, 0]])
        assert session.run(values).ravel() == pytest.approx(expected, rel=1e-5)
