"""`tf.contrib.tensor_forest`: forests that learn what decides known data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.protos.decision_trees_pb2 import Model
from tensorloom.train.sessions.resources import initialize_resources, shared_resources

if TYPE_CHECKING:
    from pathlib import Path

forests = tf.contrib.tensor_forest.tensor_forest
_RANDOM = np.random.RandomState(0)
_DATA: Any = _RANDOM.randn(300, 3).astype(np.float32)
_CLASSES: Any = ((_DATA[:, 0] > 0) + 2 * (_DATA[:, 1] > 0)).astype(np.float32)
_VALUES: Any = 2 * (_DATA[:, :1] > 0).astype(np.float32) + 1


def _params(**options: Any) -> Any:
    settings: Any = {
        "num_classes": 4,
        "num_features": 3,
        "num_trees": 3,
        "max_nodes": 100,
        "split_after_samples": 15,
        "base_random_seed": 5,
    }
    return forests.ForestHParams(**(settings | options)).fill()


class _Forest:
    """A forest with its graphs and a session."""

    def __init__(self, params: Any, labels: Any, data: Any = None) -> None:
        self.graphs = forests.RandomForestGraphs(params)
        data = tf.constant(_DATA) if data is None else data
        self.train = self.graphs.training_graph(data, tf.constant(labels))
        self.predictions, self.paths, self.variance = self.graphs.inference_graph(data)
        self.session = tf.Session()
        self.run(tf.global_variables_initializer())
        self.run(initialize_resources(shared_resources()))

    def run(self, fetches: Any) -> Any:
        return self.session.run(fetches)

    def trained(self, steps: int = 12) -> _Forest:
        for _ in range(steps):
            self.run(self.train)
        return self


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"model_name": "all_sparse"},
        {"collate_examples": True},
        {"initialize_average_splits": True, "split_name": "less"},
        {"bagging_fraction": 0.8},
    ],
)
def test_a_forest_learns_classes(options: Any) -> None:
    forest = _Forest(_params(**options), _CLASSES).trained()
    predictions, size, shares = forest.run(
        [
            forest.predictions,
            forest.graphs.average_size(),
            forest.graphs.feature_importances(),
        ]
    )
    assert np.mean(predictions.argmax(1) == _CLASSES) > 0.85
    np.testing.assert_allclose(predictions.sum(1), 1, rtol=1e-5)
    assert 3 < size <= 101
    assert shares.sum() == pytest.approx(1)


def test_a_forest_learns_numbers() -> None:
    params = _params(num_classes=1, regression=True)
    forest = _Forest(params, _VALUES).trained()
    predictions = forest.run(forest.predictions)
    assert np.abs(predictions - _VALUES).mean() < 0.4


def test_one_tree_grows_as_is_known() -> None:
    data = tf.constant([[0.0], [1.0], [0.0], [1.0]])
    params = _params(
        num_classes=2,
        num_features=1,
        num_trees=1,
        split_after_samples=4,
        num_splits_to_consider=2,
        inference_tree_paths=True,
    )
    forest = _Forest(params, [0.0, 1.0, 0.0, 1.0], data)
    assert forest.run(forest.predictions).tolist() == [[0, 0]] * 4
    forest.trained(3)
    assert forest.run(forest.predictions).tolist() == [[1, 0], [0, 1]] * 2
    handle = forest.graphs.get_all_resource_handles()[0]
    config = forest.run(
        tf.get_default_graph().get_tensor_by_name("tree-0/TreeSerialize:0")
    )
    nodes = Model.FromString(config).decision_tree.nodes
    assert handle.op.type == "DecisionTreeResourceHandleOp"
    assert [node.WhichOneof("node_type") for node in nodes] == [
        "binary_node",
        "leaf",
        "leaf",
    ]
    assert forest.run(forest.graphs.trees[0].feature_usage_counts()).tolist() == [1]
    assert forest.run(forest.paths).shape == (4, 1)


def test_sparse_and_categorical_features_are_split() -> None:
    words = ["a", "b", "a", "b"] * 10
    data = {
        "word": tf.constant([[word] for word in words]),
        "rare": tf.SparseTensor([[1, 3]], tf.constant(["x"]), [40, 5]),
    }
    labels = [float(word == "b") for word in words]
    params = _params(num_classes=2, num_features=6, num_splits_to_consider=4)
    forest = _Forest(params, labels, data).trained()
    assert forest.run(forest.predictions).argmax(1).tolist() == labels


@pytest.mark.parametrize("regression", [True, False])
def test_checkpoints_hold_trees_and_statistics(
    tmp_path: Path, regression: bool
) -> None:
    params = _params(regression=regression, checkpoint_stats=True)
    labels = _VALUES.repeat(4, 1) if regression else _CLASSES
    forest = _Forest(params, labels).trained(6)
    saver = tf.train.Saver()
    path = saver.save(forest.session, str(tmp_path / "forest"))
    before = forest.run(forest.predictions)
    after = forest.trained(4).run(forest.predictions)
    saver.restore(forest.session, path)
    assert forest.run(forest.predictions).tolist() == before.tolist()
    assert forest.trained(4).run(forest.predictions).tolist() == after.tolist()


def test_what_is_wrong_is_said() -> None:
    forest = _Forest(_params(num_classes=2), _CLASSES)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"params\.num_classes"):
        forest.run(forest.train)
    with pytest.raises(AttributeError, match="num_classes"):
        forests.ForestHParams(num_features=3).fill()


@pytest.mark.parametrize("name", ["half", "quarter", "10_percent", "hoeffding"])
def test_bad_candidates_are_removed(name: str) -> None:
    options = {"split_pruning_name": name, "prune_every_samples": 5}
    forest = _Forest(_params(num_splits_to_consider=12, **options), _CLASSES).trained()
    predictions = forest.run(forest.predictions)
    assert np.mean(predictions.argmax(1) == _CLASSES) > 0.85


@pytest.mark.parametrize("name", ["hoeffding", "bootstrap"])
def test_leaves_end_early_when_one_candidate_is_best(name: str, tmp_path: Path) -> None:
    options = {"split_finish_name": name, "dominate_fraction": 0.6}
    more = {"split_after_samples": 10000, "early_finish_check_every_samples": 10}
    lacking = _params(**options, **more)
    with (
        tf.Graph().as_default(),
        pytest.raises(tf.errors.InvalidArgumentError, match="min_split_samples"),
    ):
        _Forest(lacking, _CLASSES)
    file = tmp_path / "params"
    file.write_text("min_split_samples { constant_value: 20 }")
    params = _params(**options, **more, param_file=str(file))
    forest = _Forest(params, _CLASSES).trained(20)
    # TensorFlow never ends a leaf by samples.
    assert (forest.run(forest.graphs.average_size()) > 1) == (name == "hoeffding")


def test_models_that_are_not_there_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "params"
    file.write_text("stats_type: STATS_LEAST_SQUARES_REGRESSION")
    with pytest.raises(tf.errors.UnimplementedError, match="leaf_type and stats_type"):
        _Forest(_params(param_file=str(file)), _CLASSES)
