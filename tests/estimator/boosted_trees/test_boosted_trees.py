"""Models of boosted trees: what they learn, how columns become features, refusals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.estimator.boosted_trees import explanations
from tensorloom.estimator.boosted_trees.columns import FeatureGroups, TreeColumns

fc = tf.feature_column
_RANDOM = np.random.RandomState(0)
_DATA = {
    "a": _RANDOM.rand(60).astype(np.float32),
    "c": _RANDOM.choice(["x", "y"], 60).astype(object),
}
_LABELS = ((_DATA["a"] > 0.5) ^ (_DATA["c"] == "x")).astype(np.int32)


@pytest.fixture(autouse=True)
def _reference_variables() -> Iterator[None]:
    """These models turn on resource variables for the process, as in TensorFlow."""
    yield
    tf.disable_resource_variables()


def _category(key: str, *values: str) -> Any:
    return fc.categorical_column_with_vocabulary_list(key, values)


def _read(repeat: bool = True) -> Any:
    data = tf.data.Dataset.from_tensor_slices((_DATA, _LABELS)).batch(60)
    return data.repeat() if repeat else data


def test_columns_become_groups_of_features() -> None:
    columns = TreeColumns(
        [
            fc.numeric_column("d", 3),
            fc.bucketized_column(fc.numeric_column("b"), [1.0, 2.0, 3.0]),
            fc.indicator_column(_category("c", "x", "y")),
            fc.bucketized_column(fc.numeric_column("a"), [0.0]),
        ],
        num_quantiles=10,
    )
    assert columns.names() == [
        *("a_bucketized", "b_bucketized", "c", "c"),
        *("d", "d", "d"),
    ]
    assert columns.num_floats() == 3
    assert columns.groups() == FeatureGroups([2, 10, 4], [[2, 3], [4, 5, 6], [0, 1]])


def test_a_category_needs_an_indicator() -> None:
    with pytest.raises(ValueError, match="must be wrapped by IndicatorColumn"):
        TreeColumns([_category("c", "x")], 10)


def test_contributions_follow_the_path() -> None:
    from tensorloom.protos.boosted_trees_pb2 import DebugOutput

    path = DebugOutput(feature_ids=[2, 0, 2], logits_path=[1.0, 1.5, 1.25, 3.25])
    bias, found = explanations.contributions(
        path.SerializeToString(), ["a", "b", "c"], is_classification=False
    )
    assert bias == 1.0
    assert list(found.items()) == [("c", 2.5), ("a", -0.25), ("b", 0.0)]


@pytest.mark.slow
@pytest.mark.parametrize("in_memory", [False, True])
def test_trees_learn_what_no_sum_can(in_memory: bool) -> None:
    columns = [
        fc.numeric_column("a"),
        fc.indicator_column(_category("c", "x", "y")),
    ]
    model = tf.estimator.BoostedTreesClassifier(
        columns,
        n_batches_per_layer=1,
        n_trees=10,
        max_depth=3,
        learning_rate=0.5,
        center_bias=True,
        train_in_memory=in_memory,
    )

    def whole() -> Any:
        features = {key: tf.constant(value) for key, value in _DATA.items()}
        return features, tf.constant(_LABELS)

    model.train(whole if in_memory else _read, max_steps=200)
    assert model.evaluate(lambda: _read(False))["accuracy"] == 1.0
    assert set(model.experimental_feature_importances()) == {"a", "c"}
    explained = next(model.experimental_predict_with_explanations(lambda: _read(False)))
    total = explained["bias"] + sum(explained["dfc"].values())
    np.testing.assert_allclose(total, explained["logistic"][0], rtol=1e-5)
    # All trees are there: training goes on from the checkpoint, and ends at once.
    before = model.get_variable_value("global_step")
    model.train(whole if in_memory else _read, max_steps=200)
    assert model.get_variable_value("global_step") <= before + 1


def test_what_is_refused() -> None:
    columns = [fc.numeric_column("a")]
    make = tf.estimator.BoostedTreesClassifier
    with pytest.raises(ValueError, match="n_classes given as 1"):
        make(columns, 1, n_classes=1)
    with pytest.raises(ValueError, match="Tree complexity have no effect"):
        make(columns, 1, tree_complexity=1.0).train(_read)
    with pytest.raises(ValueError, match="pruning_mode mode must be one of"):
        make(columns, 1, pruning_mode="both").train(_read)
    plain = make(columns, 1)
    with pytest.raises(ValueError, match="center_bias must be enabled"):
        next(plain.experimental_predict_with_explanations(_read))
