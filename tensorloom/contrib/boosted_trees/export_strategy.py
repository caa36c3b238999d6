"""Trees are exported with a SavedModel: in other forms, and what features are worth."""

from __future__ import annotations

import collections
import os
from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.client.session.session import Session
from tensorloom.contrib.boosted_trees.features import extract_features
from tensorloom.contrib.learn.export_strategies import ExportStrategy
from tensorloom.contrib.learn.utils.saved_model_export_utils import (
    make_export_strategy,
)
from tensorloom.framework.graph.graph import Graph
from tensorloom.protos.decision_trees_pb2 import (
    BinaryNode,
    InequalityTest,
    MatchingValuesTest,
    ModelAndFeatures,
)
from tensorloom.protos.gradient_trees_pb2 import DecisionTreeEnsembleConfig
from tensorloom.saved_model import constants, loader
from tensorloom.storage.files import gfile

_OTHER_KINDS = "Universal tree format doesn't support oblivious trees"


def make_custom_export_strategy(
    name: str,
    convert_fn: Callable[..., Any] | None,
    feature_columns: Any,
    export_input_fn: Callable[[], Any],
    use_core_columns: bool = False,
    feature_engineering_fn: Callable[..., Any] | None = None,
    default_output_alternative_key: Any = None,
) -> ExportStrategy:
    """A strategy that exports a SavedModel, and its trees by a function.

    In `assets.extra/feature_importances` it writes what each feature has gained.

    Args:
      name: of the strategy.
      convert_fn: of the ensemble, the features' names, the numbers of dense, sparse and
        categorical features, the directory and the evaluation's results; None for none.
      feature_columns: columns of the trees.
      export_input_fn: gives an `InputFnOps`.
      use_core_columns: whether the columns are `tf.feature_column`'s.
      feature_engineering_fn: from (features, labels) of the input to those of the
        model.
      default_output_alternative_key: which of several outputs is the default.
    """
    base = make_export_strategy(
        serving_input_fn=export_input_fn,
        strip_default_attrs=True,
        default_output_alternative_key=default_output_alternative_key,
    )
    features = export_input_fn().features
    if feature_engineering_fn is not None:
        features, _ = feature_engineering_fn(features, labels=None)
    names, dense, floats, _, _, ids, _, _ = extract_features(
        features, feature_columns, use_core_columns
    )
    counts = len(dense), len(floats), len(ids)

    def export_fn(
        estimator: Any,
        export_dir: Any,
        checkpoint_path: Any = None,
        eval_result: Any = None,
    ) -> Any:
        folder = base.export(estimator, export_dir, checkpoint_path, eval_result)
        ensemble = _exported_ensemble(folder)
        if convert_fn:
            convert_fn(ensemble, names, *counts, folder, eval_result)
        importances = get_feature_importances(ensemble, names, *counts)
        lines = [
            f"{feature}, {worth:f}"
            for feature, worth in sorted(importances.items(), key=lambda item: -item[1])
        ]
        extra = os.path.join(os.fsencode(folder), b"assets.extra")
        gfile.makedirs(extra)
        written = os.path.join(extra, b"feature_importances")
        gfile.write_string_to_file(written, "\n".join(lines))
        return folder

    return ExportStrategy(name, export_fn, strip_default_attrs=True)


def _exported_ensemble(folder: Any) -> DecisionTreeEnsembleConfig:
    with Graph().as_default() as graph, Session(graph=graph) as session:
        loader.load(session, [constants.SERVING], folder)
        serialize = graph.get_operation_by_name("ensemble_model/TreeEnsembleSerialize")
        _, config = session.run(serialize.outputs)
    return DecisionTreeEnsembleConfig.FromString(config)


# --- in TensorFlow's form for all trees ---------------------------------------


class _Conversion:
    """Writes trees as a ModelAndFeatures.

    Args:
      names: of all features.
      dense: how many are dense numbers.
      floats: how many are sparse numbers.
    """

    def __init__(self, names: Sequence[str], dense: int, floats: int) -> None:
        self._names, self._dense, self._floats = names, dense, floats
        self.message = ModelAndFeatures()

    def tree(self, tree: Any, weight: float, target: Any) -> None:
        """Writes a tree into a message of nodes."""
        for number, node in enumerate(tree.nodes):
            written = target.nodes.add()
            written.node_id.value = number
            kind = node.WhichOneof("node")
            if kind == "leaf":
                _write_leaf(node.leaf, weight, written.leaf)
            else:
                self._split(kind, node, written.binary_node)

    def _split(self, kind: str | None, node: Any, written: Any) -> None:
        if kind is None or kind.startswith("oblivious"):
            raise ValueError(_OTHER_KINDS if kind else f"Unexpected node type {kind}")
        split = getattr(node, kind)
        if kind == "dense_float_binary_split":
            self._inequality(written, self._names[split.feature_column], split)
        elif kind.startswith("sparse_float"):
            split = split.split
            goes_left = kind.endswith("left")
            written.default_direction = (
                BinaryNode.LEFT if goes_left else BinaryNode.RIGHT
            )
            name = self._names[split.feature_column + self._dense]
            dimension = f"{name}_{split.dimension_id}"
            self._inequality(written, dimension, split)
            # The dimensions are features of their own, instead of the column.
            self.message.features.pop(name, None)
            self.message.features[dimension].SetInParent()
        elif kind == "categorical_id_binary_split":
            written.default_direction = BinaryNode.RIGHT
            test = MatchingValuesTest()
            place = split.feature_column + self._dense + self._floats
            test.feature_id.id.value = self._names[place]
            test.value.add().int64_value = split.feature_id
            written.custom_left_child_test.Pack(test)
        else:
            raise ValueError(f"Unexpected node type {kind}")
        written.left_child_id.value = split.left_id
        written.right_child_id.value = split.right_id

    def _inequality(self, written: Any, name: str, split: Any) -> None:
        test = written.inequality_left_child_test
        test.feature_id.id.value = name
        test.type = InequalityTest.LESS_OR_EQUAL
        test.threshold.float_value = split.threshold


def _write_leaf(leaf: Any, weight: float, written: Any) -> None:
    if leaf.HasField("vector"):
        for value in leaf.vector.value:
            written.vector.value.add().float_value = value * weight
        return
    sparse = leaf.sparse_vector
    for index, value in zip(sparse.index, sparse.value, strict=True):
        written.sparse_vector.sparse_value[index].float_value = value * weight


def convert_to_universal_format(
    dtec: Any,
    sorted_feature_names: Sequence[str],
    num_dense: int,
    num_sparse_float: int,
    num_sparse_int: int,
    feature_name_to_proto: Any = None,
) -> ModelAndFeatures:
    """The trees as a ModelAndFeatures message.

    Args:
      dtec: a DecisionTreeEnsembleConfig.
      sorted_feature_names: of all features.
      num_dense: how many are dense numbers.
      num_sparse_float: how many are sparse numbers.
      num_sparse_int: how many are categories; TensorFlow's argument, unused.
      feature_name_to_proto: descriptions of features by name; None for empty ones.

    Raises:
      ValueError: a tree is oblivious, or has a node of another kind.
    """
    conversion = _Conversion(sorted_feature_names, num_dense, num_sparse_float)
    message = conversion.message
    for name in sorted_feature_names:
        if feature_name_to_proto:
            message.features[name].CopyFrom(feature_name_to_proto[name])
        else:
            message.features[name].SetInParent()
    message.model.ensemble.summation_combination_technique.SetInParent()
    for number, tree in enumerate(dtec.trees):
        member = message.model.ensemble.members.add()
        member.submodel_id.value = number
        weight = dtec.tree_weights[number]
        conversion.tree(tree, weight, member.submodel.decision_tree)
    return message


def get_feature_importances(
    dtec: Any,
    feature_names: Sequence[str],
    num_dense_floats: int,
    num_sparse_float: int,
    num_sparse_int: int,
) -> dict[str, float]:
    """What the splits of each feature have gained, times the weights of their trees.

    Args:
      dtec: a DecisionTreeEnsembleConfig.
      feature_names: of all features.
      num_dense_floats: how many are dense numbers.
      num_sparse_float: how many are sparse numbers; each dimension counts by itself.
      num_sparse_int: how many are categories; TensorFlow's argument, unused.

    Raises:
      ValueError: a node is of no kind.
    """
    sums: dict[str, float] = collections.defaultdict(float)
    for tree, weight in zip(dtec.trees, dtec.tree_weights, strict=True):
        for node in tree.nodes:
            kind = node.WhichOneof("node")
            if kind == "leaf":
                continue
            if kind is None:
                raise ValueError(f"Unexpected split type {kind}")
            split = getattr(node, kind)
            if kind.startswith("sparse_float"):
                place = split.split.feature_column + num_dense_floats
                name = f"{feature_names[place]}_{split.split.dimension_id}"
            elif "categorical" in kind:
                place = split.feature_column + num_dense_floats + num_sparse_float
                name = feature_names[place]
            else:
                name = feature_names[split.feature_column]
            sums[name] += node.node_metadata.gain * weight
    return dict(sums)
