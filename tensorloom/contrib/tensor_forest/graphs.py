"""Forests as graphs: `RandomForestGraphs` and what it is made of."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables import variable_scope
from tensorloom.client.variables.variable_lists import local_variables
from tensorloom.contrib.framework.graph_queries import VariableDeviceChooser
from tensorloom.contrib.tensor_forest.data_columns import (
    ParseDataTensorOrDict,
    ParseLabelTensorOrDict,
    TensorForestDataSpec,
)
from tensorloom.contrib.tensor_forest.hyperparameters import build_params_proto
from tensorloom.contrib.tensor_forest.resources import (
    fertile_stats_variable,
    tree_variable,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies, device
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow.builders import group
from tensorloom.ops.math import math_ops
from tensorloom.ops.math.cast import cast
from tensorloom.ops.random.random_ops import random_uniform
from tensorloom.ops.reductions.reductions import reduce_mean, reduce_sum
from tensorloom.protos.tensor_forest_params_pb2 import TensorForestParams


@export("contrib.tensor_forest.tensor_forest.get_epoch_variable")
def get_epoch_variable() -> Any:
    """The counter of epochs of `limit_epochs`, a vector of one; [0] without one."""
    for variable in local_variables():
        if "limit_epochs/epoch" in variable.op.name:
            return array_ops.reshape(variable, [1])
    return [0]


@export("contrib.tensor_forest.tensor_forest.TreeVariables")
class TreeVariables:
    """The handles of a tree (`tree`) and, in training, of its statistics (`stats`)."""

    def __init__(
        self,
        params: Any,
        tree_num: int,
        training: bool,
        tree_config: Any = "",
        tree_stat: Any = "",
    ) -> None:
        if not isinstance(getattr(params, "params_proto", None), TensorForestParams):
            params.params_proto = build_params_proto(params)
        params.serialized_params_proto = params.params_proto.SerializeToString()
        self.stats = None
        if training:
            name = self.get_tree_name("stats", tree_num)
            self.stats = fertile_stats_variable(params, tree_stat, name)
        name = self.get_tree_name("tree", tree_num)
        self.tree = tree_variable(params, tree_config, self.stats, name)

    def get_tree_name(self, name: str, num: int) -> str:
        """`name` with the tree's number."""
        return f"{name}-{num}"


@export("contrib.tensor_forest.tensor_forest.ForestVariables")
class ForestVariables:
    """The `TreeVariables` of a forest, by the trees' numbers."""

    def __init__(
        self,
        params: Any,
        device_assigner: Any,
        training: bool = True,
        tree_variables_class: Any = TreeVariables,
        tree_configs: Any = None,
        tree_stats: Any = None,
    ) -> None:
        self.variables: list[Any] = []
        # Variables whose devices all else of their trees follows.
        with device(device_assigner):
            self.device_dummies = [
                variable_scope.get_variable(name=f"device_dummy_{tree}", shape=0)
                for tree in range(params.num_trees)
            ]
        for tree, dummy in enumerate(self.device_dummies):
            options = {}
            if tree_configs is not None:
                options["tree_config"] = tree_configs[tree]
            if tree_stats is not None:
                options["tree_stat"] = tree_stats[tree]
            with device(dummy.device):
                self.variables.append(
                    tree_variables_class(params, tree, training, **options)
                )

    def __setitem__(self, t: int, val: Any) -> None:
        self.variables[t] = val

    def __getitem__(self, t: int) -> Any:
        return self.variables[t]


@export("contrib.tensor_forest.tensor_forest.RandomForestGraphs")
class RandomForestGraphs:
    """Trains a forest and predicts with it.

    Args:
      params: filled `ForestHParams`.
      tree_configs, tree_stats: serialized trees and statistics to begin with.
      device_assigner: a device function for the trees.
      variables: `ForestVariables`, if they are there already.
      tree_variables_class: makes a tree's variables.
      tree_graphs: makes a tree's graphs; `RandomTreeGraphs` if None.
      training: whether there are statistics, to train with.
    """

    def __init__(
        self,
        params: Any,
        tree_configs: Any = None,
        tree_stats: Any = None,
        device_assigner: Any = None,
        variables: Any = None,
        tree_variables_class: Any = TreeVariables,
        tree_graphs: Any = None,
        training: bool = True,
    ) -> None:
        self.params = params
        self.device_assigner = device_assigner or VariableDeviceChooser()
        self.variables = variables or ForestVariables(
            params,
            device_assigner=self.device_assigner,
            training=training,
            tree_variables_class=tree_variables_class,
            tree_configs=tree_configs,
            tree_stats=tree_stats,
        )
        kind: Any = tree_graphs or RandomTreeGraphs
        self.trees = [
            kind(self.variables[tree], params, tree) for tree in range(params.num_trees)
        ]

    def get_all_resource_handles(self) -> list[Any]:
        """The handles of all trees, then of all statistics."""
        trees = range(len(self.trees))
        return [
            *(self.variables[tree].tree for tree in trees),
            *(self.variables[tree].stats for tree in trees),
        ]

    def _on_device_of(self, tree: int) -> Any:
        return device(self.variables.device_dummies[tree].device)

    def _bag_features(self, tree_num: int, input_data: Any) -> Any:
        columns = array_ops.split(
            value=input_data, num_or_size_splits=self.params.num_features, axis=1
        )
        chosen = self.params.bagged_features[tree_num]
        return array_ops.concat([columns[index] for index in chosen], 1)

    def _features_of(self, tree: int, dense: Any, sparse: Any) -> Any:
        if not self.params.bagged_features:
            return dense
        if sparse is not None:
            raise NotImplementedError(
                "Feature bagging not supported with sparse features."
            )
        return self._bag_features(tree, dense)

    def training_graph(
        self,
        input_data: Any,
        input_labels: Any,
        num_trainers: int = 1,
        trainer_id: int = 0,
        **tree_kwargs: Any,
    ) -> Any:
        """The operation that trains the trees with a batch.

        Args:
          input_data: the features: a matrix, a SparseTensor, or a dict of columns.
          input_labels: the labels, one or several for each example.
          num_trainers: how many trainers the trees are divided among.
          trainer_id: which of them this one is.
          **tree_kwargs: for each tree's `training_graph`.

        Raises:
          NotImplementedError: bagging with sparse features.
        """
        dense, sparse, spec = ParseDataTensorOrDict(input_data)
        labels = ParseLabelTensorOrDict(input_labels)
        share = self.params.num_trees / num_trainers
        trained = []
        for tree in range(int(trainer_id * share), int((trainer_id + 1) * share)):
            with self._on_device_of(tree):
                seed = self.params.base_random_seed
                seed += tree if seed else 0
                data, its_labels = dense, labels
                if self.params.bagging_fraction < 1.0:
                    if sparse is not None:
                        raise NotImplementedError(
                            "Bagging not supported with sparse features."
                        )
                    data, its_labels = self._bag_examples(dense, labels, seed)
                data = self._features_of(tree, data, sparse)
                trained.append(
                    self.trees[tree].training_graph(
                        data,
                        its_labels,
                        seed,
                        data_spec=spec,
                        sparse_features=sparse,
                        **tree_kwargs,
                    )
                )
        return group(*trained, name="train")

    def _bag_examples(self, data: Any, labels: Any, seed: int) -> tuple[Any, Any]:
        count = array_ops.strided_slice(array_ops.shape(data), [0], [1])
        numbers = random_uniform(count, seed=seed)
        mask = math_ops.less(
            numbers, array_ops.ones_like(numbers) * self.params.bagging_fraction
        )
        chosen = array_ops.squeeze(array_ops.where_v2(mask), axis=[1])
        return array_ops.gather(data, chosen), array_ops.gather(labels, chosen)

    def inference_graph(
        self, input_data: Any, **inference_args: Any
    ) -> tuple[Tensor, Tensor, Tensor]:
        """(predictions [examples, outputs], ways [examples, trees], variances).

        Args:
          input_data: features as in training.
          **inference_args: for each tree's `inference_graph`.

        Raises:
          NotImplementedError: bagged features that are sparse.
        """
        dense, sparse, spec = ParseDataTensorOrDict(input_data)
        predictions, paths = [], []
        trees = self.params.num_trees
        for tree in range(trees):
            with self._on_device_of(tree):
                data = self._features_of(tree, dense, sparse)
                predicted, path = self.trees[tree].inference_graph(
                    data, spec, sparse_features=sparse, **inference_args
                )
                predictions.append(predicted)
                paths.append(path)
        with self._on_device_of(0):
            every = array_ops.stack(predictions, axis=1)
            mean = math_ops.div(reduce_sum(every, 1), trees, name="probabilities")
            ways = array_ops.stack(paths, axis=1)
            squares = math_ops.div(reduce_sum(every * every, 1), trees)
            return mean, ways, math_ops.maximum(0.0, squares - mean * mean)

    def average_size(self) -> Tensor:
        """How many nodes the trees have on average, a float scalar."""
        sizes = []
        for number, tree in enumerate(self.trees):
            with self._on_device_of(number):
                sizes.append(tree.size())
        mean: Tensor = reduce_mean(cast(array_ops.stack(sizes), dtypes.float32))
        return mean

    def training_loss(
        self, features: Any, labels: Any, name: str = "training_loss"
    ) -> Tensor:
        """The average size, negative: it falls while the trees grow."""
        return math_ops.negative(self.average_size(), name=name)

    def validation_loss(self, features: Any, labels: Any) -> Tensor:
        """The average size, negative."""
        return math_ops.negative(self.average_size())

    def average_impurity(self) -> Tensor:
        """The mean of the trees' `average_impurity`, which `tree_graphs` must have."""
        impurities = []
        for number, tree in enumerate(self.trees):
            with self._on_device_of(number):
                impurities.append(tree.average_impurity())
        mean: Tensor = reduce_mean(array_ops.stack(impurities))
        return mean

    def feature_importances(self) -> Tensor:
        """The share of splits that each feature has, [features]."""
        counts = [tree.feature_usage_counts() for tree in self.trees]
        total = reduce_sum(array_ops.stack(counts, 0), 0)
        shares: Tensor = total / reduce_sum(total)
        return shares


@export("contrib.tensor_forest.tensor_forest.RandomTreeGraphs")
class RandomTreeGraphs:
    """Trains one tree and predicts with it."""

    def __init__(self, variables: Any, params: Any, tree_num: int) -> None:
        self.variables = variables
        self.params = params
        self.tree_num = tree_num

    def training_graph(
        self,
        input_data: Any,
        input_labels: Any,
        random_seed: int,
        data_spec: TensorForestDataSpec,
        sparse_features: Any = None,
        input_weights: Any = None,
    ) -> Any:
        """The operation that trains the tree with a batch.

        Args:
          input_data: dense features, float [examples, features], or None.
          input_labels: float [examples] or [examples, outputs].
          random_seed: of the candidates; 0 for one that varies.
          data_spec: what the columns are.
          sparse_features: a SparseTensor, or None.
          input_weights: float [examples]; None for ones.
        """
        cast(get_epoch_variable(), dtypes.int32)  # TensorFlow's graph has it, unused
        weights = [] if input_weights is None else input_weights
        tree, stats = self.variables.tree, self.variables.stats
        params = self.params.serialized_params_proto
        data = _arguments(input_data, sparse_features)
        spec = data_spec.SerializeToString()
        leaf_ids = apply_op(
            "TraverseTreeV4", tree_handle=tree, **data, input_spec=spec, params=params
        )
        updated = apply_op(
            "UpdateModelV4",
            tree_handle=tree,
            leaf_ids=leaf_ids,
            input_labels=input_labels,
            input_weights=weights,
            params=params,
        )
        finished = apply_op(
            "ProcessInputV4",
            tree_handle=tree,
            stats_handle=stats,
            **data,
            input_labels=input_labels,
            input_weights=weights,
            leaf_ids=leaf_ids,
            random_seed=random_seed,
            input_spec=spec,
            params=params,
        )
        with control_dependencies([updated]):
            return apply_op(
                "GrowTreeV4",
                tree_handle=tree,
                stats_handle=stats,
                finished_nodes=finished,
                params=params,
            )

    def inference_graph(
        self,
        input_data: Any,
        data_spec: TensorForestDataSpec,
        sparse_features: Any = None,
    ) -> Any:
        """(predictions [examples, outputs], ways to the leaves [examples])."""
        return apply_op(
            "TreePredictionsV4",
            tree_handle=self.variables.tree,
            **_arguments(input_data, sparse_features),
            input_spec=data_spec.SerializeToString(),
            params=self.params.serialized_params_proto,
        )

    def size(self) -> Tensor:
        """How many nodes the tree has, an int32 scalar."""
        size: Tensor = apply_op("TreeSize", tree_handle=self.variables.tree)
        return size

    def feature_usage_counts(self) -> Tensor:
        """How many nodes split by each feature, int32 [features]."""
        counts: Tensor = apply_op(
            "FeatureUsageCounts",
            tree_handle=self.variables.tree,
            params=self.params.serialized_params_proto,
        )
        return counts


def _arguments(dense: Any, sparse: Any) -> dict[str, Any]:
    """The features as the operations name them; empty where there are none."""
    return {
        "input_data": [] if dense is None else dense,
        "sparse_input_indices": [] if sparse is None else sparse.indices,
        "sparse_input_values": [] if sparse is None else sparse.values,
        "sparse_input_shape": [] if sparse is None else sparse.dense_shape,
    }
