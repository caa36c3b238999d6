"""Ensembles of trees as resources: bias, layers, pruning, dropout, predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format

import tensorloom as tf
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.protos.gradient_trees_learner_pb2 import LearnerConfig
from tensorloom.protos.gradient_trees_pb2 import DecisionTreeEnsembleConfig
from tensorloom.protos.gradient_trees_splits_pb2 import ObliviousSplitInfo, SplitInfo


class _Ensemble:
    """An ensemble in a session; `run` runs an op with its handle."""

    def __init__(self, text: str = "") -> None:
        self.session = tf.Session(graph=tf.Graph())
        config = text_format.Parse(text, DecisionTreeEnsembleConfig())
        with self.session.graph.as_default():
            self.handle = apply_op(
                "DecisionTreeEnsembleResourceHandleOp", shared_name="trees"
            )
        trees = config.SerializeToString()
        self.run(
            "CreateTreeEnsembleVariable", stamp_token=0, tree_ensemble_config=trees
        )

    def run(self, op: str, **arguments: Any) -> Any:
        with self.session.graph.as_default():
            made = apply_op(op, tree_ensemble_handle=self.handle, **arguments)
        return self.session.run(made)

    @property
    def proto(self) -> Any:
        _, config = self.run("TreeEnsembleSerialize")
        return DecisionTreeEnsembleConfig.FromString(config)

    def grow(
        self,
        learner: Any,
        stamp: int,
        splits: list[Any],
        depth: int = 2,
        rate: float = 1.0,
    ) -> None:
        """Adds a layer of such (leaf, gain, split), each of a handler of its own."""
        oblivious = learner.weak_learner_type == LearnerConfig.OBLIVIOUS_DECISION_TREE
        self.run(
            "GrowTreeEnsemble",
            stamp_token=stamp,
            next_stamp_token=stamp + 1,
            learning_rate=rate,
            dropout_seed=123,
            max_tree_depth=depth,
            weak_learner_type=int(oblivious),
            partition_ids=[np.int32([leaf]) for leaf, _, _ in splits],
            gains=[np.float32([gain]) for _, gain, _ in splits],
            splits=[np.array([s.SerializeToString()], object) for _, _, s in splits],
            learner_config=learner.SerializeToString(),
            center_bias=False,
        )

    def predict(self, dense: Any, **options: Any) -> Any:
        learner = options.pop("learner", LearnerConfig(num_classes=2))
        settings = {"apply_dropout": False, "apply_averaging": False, "seed": 0}
        return self.run(
            "GradientTreesPredictionVerbose",
            dense_float_features=[np.float32(dense)[:, None]],
            sparse_float_feature_indices=[np.int64([[1, 0]])],
            sparse_float_feature_values=[np.float32([5.0])],
            sparse_float_feature_shapes=[np.int64([len(dense), 1])],
            sparse_int_feature_indices=[np.int64([[0, 0], [1, 0], [1, 1]])],
            sparse_int_feature_values=[np.int64([7, 8, 9])],
            sparse_int_feature_shapes=[np.int64([len(dense), 2])],
            learner_config=learner.SerializeToString(),
            center_bias=False,
            reduce_dim=True,
            **(settings | options),
        )


def _split(threshold: float, left: float, right: float) -> SplitInfo:
    info = SplitInfo()
    info.split_node.dense_float_binary_split.threshold = threshold
    info.left_child.vector.value.append(left)
    info.right_child.vector.value.append(right)
    return info


def _leaf(value: float) -> str:
    return f"nodes {{ leaf {{ vector {{ value: {value} }} }} }}"


_TREE = """trees { %s } tree_weights: 1.0 tree_metadata { is_finalized: true }"""


def test_the_bias_is_moved_until_it_rests() -> None:
    ensemble = _Ensemble()
    config = LearnerConfig(num_classes=2).SerializeToString()
    moves = [
        ensemble.run(
            "CenterTreeEnsembleBias",
            stamp_token=stamp,
            next_stamp_token=stamp + 1,
            delta_updates=np.float32([delta]),
            learner_config=config,
        )
        for stamp, delta in enumerate((0.5, 0.25, 0.001))
    ]
    assert moves == [True, True, False]
    proto = ensemble.proto
    assert proto.trees[0].nodes[0].leaf.vector.value[0] == pytest.approx(0.751)
    assert proto.tree_metadata[0].is_finalized
    assert ensemble.run("TreeEnsembleStats", stamp_token=3) == (1, 1, 1, 1, 1, 1)


def test_layers_are_added_and_pruned() -> None:
    learner = LearnerConfig(pruning_mode=LearnerConfig.POST_PRUNE)
    learner.growing_mode = LearnerConfig.LAYER_BY_LAYER
    learner.constraints.max_number_of_unique_feature_columns = 3
    ensemble = _Ensemble()
    ensemble.grow(
        learner, 0, [(0, 0.5, _split(1.0, -1.0, 2.0)), (0, 0.4, _split(9, 1, 1))]
    )
    # The leaf 2 is split for a loss, and becomes a leaf again.
    second = [(1, 0.25, _split(0.5, 0.5, -0.5)), (2, -0.1, _split(3.0, 1.0, 1.0))]
    ensemble.grow(learner, 1, second)
    proto = ensemble.proto
    kinds = [node.WhichOneof("node") for node in proto.trees[0].nodes]
    assert kinds == [*["dense_float_binary_split"] * 2, *["leaf"] * 3]
    values = [
        n.leaf.vector.value[0] for n in proto.trees[0].nodes if n.HasField("leaf")
    ]
    assert values == [2.0, -0.5, -1.5]  # those of a layer add to the layer before
    assert proto.tree_metadata[0].is_finalized
    used = ensemble.run("TreeEnsembleUsedHandlers", stamp_token=2, num_all_handlers=3)
    assert [used[0], used[1].tolist()] == [2, [True, True, False]]
    logits, _, leaves = ensemble.predict([0.0, 0.75, 2.0])
    assert logits.ravel().tolist() == [-0.5, -1.5, 2.0]
    assert leaves.ravel().tolist() == [3, 4, 2]


def test_a_tree_without_gain_is_removed() -> None:
    learner = LearnerConfig(pruning_mode=LearnerConfig.POST_PRUNE)
    ensemble = _Ensemble()
    ensemble.grow(learner, 0, [(0, -0.5, _split(1.0, -1.0, 2.0))], depth=1)
    assert not ensemble.proto.trees
    learner.pruning_mode = LearnerConfig.PRE_PRUNE
    ensemble.grow(learner, 1, [(0, -0.5, _split(1.0, -1.0, 2.0))], depth=1)
    assert ensemble.run("TreeEnsembleStats", stamp_token=2) == (0, 0, 0, 0, 2, 2)


def test_oblivious_trees_have_a_split_for_each_layer() -> None:
    learner = LearnerConfig(pruning_mode=LearnerConfig.PRE_PRUNE)
    learner.weak_learner_type = LearnerConfig.OBLIVIOUS_DECISION_TREE
    ensemble = _Ensemble()
    for stamp, (threshold, values, parents) in enumerate(
        [(1.0, (-1.0, 1.0), [0]), (0.5, (0.25, 0.5), [2])]
    ):
        info = ObliviousSplitInfo(children_parent_id=parents)
        info.split_node.oblivious_dense_float_binary_split.threshold = threshold
        for value in values:
            info.children.add().vector.value.append(value)
        ensemble.grow(learner, stamp, [(0, 1.0, info)])
    nodes = ensemble.proto.trees[0].nodes
    values = [n.leaf.vector.value[0] for n in nodes if n.HasField("leaf")]
    assert values == [-1.0, -1.0, 1.25, 1.5]
    logits, _, leaves = ensemble.predict([0.0, 0.75, 2.0])
    assert logits.ravel().tolist() == [-1.0, -1.0, 1.5]
    assert leaves.ravel().tolist() == [2, 3, 5]


_ROUTES = """nodes { %s } nodes { leaf { vector { value: 1 } } }
nodes { leaf { sparse_vector { index: 0 value: 2 } } }"""
_BELOW = "left_id: 1 right_id: 2"


@pytest.mark.parametrize(
    ("node", "logits"),
    [
        ("dense_float_binary_split { threshold: 1 %s }", [1, 1, 2]),
        (
            "sparse_float_binary_split_default_left { split { threshold: 1 %s } }",
            [1, 2, 1],
        ),
        (
            "sparse_float_binary_split_default_right { split { threshold: 9 %s } }",
            [2, 1, 2],
        ),
        ("categorical_id_binary_split { feature_id: 9 %s }", [2, 1, 2]),
        (
            "categorical_id_set_membership_binary_split "
            "{ feature_ids: 7 feature_ids: 8 %s }",
            [1, 1, 2],
        ),
    ],
)
def test_examples_go_their_way(node: str, logits: list[int]) -> None:
    ensemble = _Ensemble(_TREE % (_ROUTES % (node % _BELOW)))
    assert ensemble.predict([0.0, 1.0, 2.0])[0].ravel().tolist() == logits


def test_dropout_and_averages_weigh_trees() -> None:
    ensemble = _Ensemble(" ".join(_TREE % _leaf(value) for value in (1, 2, 4, 8)))
    learner = LearnerConfig(num_classes=2)
    learner.averaging_config.average_last_n_trees = 2
    logits = ensemble.predict([0.0, 0.0], learner=learner, apply_averaging=True)[0]
    assert logits.ravel().tolist() == [1 + 2 + 4 + 8 / 2] * 2
    learner.learning_rate_tuner.dropout.dropout_probability = 1.0
    total, dropped, _ = ensemble.predict([0, 0], learner=learner, apply_dropout=True)
    assert total.ravel().tolist() == [0, 0]
    assert dropped.tolist() == [[0, 1, 2, 3], [1, 1, 1, 1]]
    learner.learning_rate_tuner.dropout.dropout_probability = 0.5
    halves = [
        ensemble.predict([0, 0], learner=learner, apply_dropout=True, seed=seed)[1]
        for seed in (12, 13, 12)
    ]
    assert halves[0].tolist() == halves[2].tolist() != halves[1].tolist()


def test_what_is_wrong_is_said() -> None:
    ensemble = _Ensemble(
        _TREE % (_ROUTES % f"dense_float_binary_split {{ {_BELOW} feature_column: 3 }}")
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="feature 3, of 1"):
        ensemble.predict([0.0, 1.0])
    with pytest.raises(tf.errors.FailedPreconditionError, match="stamp 0, got 4"):
        ensemble.run("TreeEnsembleStats", stamp_token=4)
    with pytest.raises(tf.errors.InvalidArgumentError, match="parse tree ensemble"):
        ensemble.run(
            "TreeEnsembleDeserialize", stamp_token=4, tree_ensemble_config=b"\xff"
        )
    with pytest.raises(tf.errors.InvalidArgumentError, match="classes must be >=2"):
        ensemble.predict([0.0, 1.0], learner=LearnerConfig())
    learner = LearnerConfig(num_classes=2)
    ensemble = _Ensemble()
    with pytest.raises(tf.errors.InvalidArgumentError, match="no leaf"):
        ensemble.grow(learner, 0, [(8, 0.5, _split(1.0, -1.0, 2.0))])
