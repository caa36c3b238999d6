"""How a forest grows: `ForestHParams`, and the message that its operations read."""

from __future__ import annotations

import math
import numbers
import random
from typing import Any, Final

from google.protobuf import text_format

from tensorloom.framework.export import export, export_value
from tensorloom.protos import decision_trees_pb2, tensor_forest_params_pb2
from tensorloom.protos.pool import ANY_TYPES
from tensorloom.protos.tensor_forest_params_pb2 import (
    DepthDependentParam,
    TensorForestParams,
)

_pb = tensor_forest_params_pb2
_test = decision_trees_pb2.InequalityTest

CLASSIFICATION_LEAF_MODEL_TYPES: Final = {
    "all_dense": (_pb.MODEL_DENSE_CLASSIFICATION, _pb.STATS_DENSE_GINI),
    "all_sparse": (_pb.MODEL_SPARSE_CLASSIFICATION, _pb.STATS_SPARSE_GINI),
    "sparse_then_dense": (
        _pb.MODEL_SPARSE_OR_DENSE_CLASSIFICATION,
        _pb.STATS_SPARSE_THEN_DENSE_GINI,
    ),
}
REGRESSION_MODEL_TYPE: Final = (
    _pb.MODEL_REGRESSION,
    _pb.STATS_LEAST_SQUARES_REGRESSION,
    _pb.COLLECTION_BASIC,
)
FINISH_TYPES: Final = {
    "basic": _pb.SPLIT_FINISH_BASIC,
    "hoeffding": _pb.SPLIT_FINISH_DOMINATE_HOEFFDING,
    "bootstrap": _pb.SPLIT_FINISH_DOMINATE_BOOTSTRAP,
}
PRUNING_TYPES: Final = {
    "none": _pb.SPLIT_PRUNE_NONE,
    "half": _pb.SPLIT_PRUNE_HALF,
    "quarter": _pb.SPLIT_PRUNE_QUARTER,
    "10_percent": _pb.SPLIT_PRUNE_10_PERCENT,
    "hoeffding": _pb.SPLIT_PRUNE_HOEFFDING,
}
SPLIT_TYPES: Final = {"less_or_equal": _test.LESS_OR_EQUAL, "less": _test.LESS_THAN}

_NAMESPACE: Final = "contrib.tensor_forest.tensor_forest"
for _name in (
    "CLASSIFICATION_LEAF_MODEL_TYPES",
    "REGRESSION_MODEL_TYPE",
    "FINISH_TYPES",
    "PRUNING_TYPES",
    "SPLIT_TYPES",
):
    export_value(globals()[_name], f"{_NAMESPACE}.{_name}")


@export("contrib.tensor_forest.tensor_forest.parse_number_or_string_to_proto")
def parse_number_or_string_to_proto(proto: DepthDependentParam, param: Any) -> None:
    """Sets a setting that can depend on the depth of a node.

    Args:
      proto: the setting.
      param: a number, or the text of a number or of a DepthDependentParam message.
    """
    if isinstance(param, numbers.Number):
        proto.constant_value = float(param)  # type: ignore[arg-type]
    elif param.isdigit():
        proto.constant_value = int(param)
    else:
        text_format.Merge(param, proto, descriptor_pool=ANY_TYPES)


@export("contrib.tensor_forest.tensor_forest.build_params_proto")
def build_params_proto(params: Any) -> TensorForestParams:
    """The TensorForestParams message of filled `ForestHParams`."""
    proto = TensorForestParams(
        num_trees=params.num_trees,
        max_nodes=params.max_nodes,
        is_regression=params.regression,
        num_outputs=params.num_classes,
        num_features=params.num_features,
        leaf_type=params.leaf_model_type,
        stats_type=params.stats_model_type,
        collection_type=_pb.COLLECTION_BASIC,
        inequality_test_type=params.split_type,
        drop_final_class=False,
        collate_examples=params.collate_examples,
        checkpoint_stats=params.checkpoint_stats,
        use_running_stats_method=params.use_running_stats_method,
        initialize_average_splits=params.initialize_average_splits,
        inference_tree_paths=params.inference_tree_paths,
    )
    proto.pruning_type.type = params.pruning_type
    proto.finish_type.type = params.finish_type
    for setting, value in (
        (proto.pruning_type.prune_every_samples, params.prune_every_samples),
        (proto.finish_type.check_every_steps, params.early_finish_check_every_samples),
        (proto.split_after_samples, params.split_after_samples),
        (proto.num_splits_to_consider, params.num_splits_to_consider),
    ):
        parse_number_or_string_to_proto(setting, value)
    proto.dominate_fraction.constant_value = params.dominate_fraction
    if params.param_file:
        with open(params.param_file) as file:
            text_format.Merge(file.read(), proto, descriptor_pool=ANY_TYPES)
    return proto


@export("contrib.tensor_forest.tensor_forest.ForestHParams")
class ForestHParams:
    """The hyperparameters of a forest; `fill` sets what follows from others.

    Args:
      num_trees: how many trees.
      max_nodes: a tree with so many nodes grows no more.
      bagging_fraction: of the examples that a tree is trained with.
      num_splits_to_consider: candidates of each leaf; 0 for a number that follows from
        the number of features.
      feature_bagging_fraction: of the features that a tree sees.
      max_fertile_nodes: unused.
      split_after_samples: how many examples a leaf sees before it is split.
      valid_leaf_threshold, dominate_method: unused.
      dominate_fraction: how sure an early end must be.
      model_name: "all_dense" or "all_sparse".
      split_finish_name: "basic".
      split_pruning_name: "none".
      prune_every_samples, early_finish_check_every_samples: of strategies.
      collate_examples: whether examples are added leaf by leaf.
      checkpoint_stats: whether checkpoints hold what leaves have seen.
      use_running_stats_method: has no influence on the trees.
      initialize_average_splits: whether thresholds are halfway between classes.
      inference_tree_paths: whether predictions say the way to the leaf.
      param_file: a file with the text of a TensorForestParams message.
      split_name: "less_or_equal" or "less".
      **kwargs: more attributes: num_classes and num_features are needed, regression
        and base_random_seed are used.
    """

    num_classes: int
    num_features: int

    def __init__(
        self,
        num_trees: int = 100,
        max_nodes: int = 10000,
        bagging_fraction: float = 1.0,
        num_splits_to_consider: Any = 0,
        feature_bagging_fraction: float = 1.0,
        max_fertile_nodes: int = 0,
        split_after_samples: Any = 250,
        valid_leaf_threshold: int = 1,
        dominate_method: str = "bootstrap",
        dominate_fraction: float = 0.99,
        model_name: str = "all_dense",
        split_finish_name: str = "basic",
        split_pruning_name: str = "none",
        prune_every_samples: Any = 0,
        early_finish_check_every_samples: Any = 0,
        collate_examples: bool = False,
        checkpoint_stats: bool = False,
        use_running_stats_method: bool = False,
        initialize_average_splits: bool = False,
        inference_tree_paths: bool = False,
        param_file: str | None = None,
        split_name: str = "less_or_equal",
        **kwargs: Any,
    ) -> None:
        self.num_trees = num_trees
        self.max_nodes = max_nodes
        self.bagging_fraction = bagging_fraction
        self.feature_bagging_fraction = feature_bagging_fraction
        self.num_splits_to_consider = num_splits_to_consider
        self.max_fertile_nodes = max_fertile_nodes
        self.split_after_samples = split_after_samples
        self.valid_leaf_threshold = valid_leaf_threshold
        self.dominate_method = dominate_method
        self.dominate_fraction = dominate_fraction
        self.model_name = model_name
        self.split_finish_name = split_finish_name
        self.split_pruning_name = split_pruning_name
        self.collate_examples = collate_examples
        self.checkpoint_stats = checkpoint_stats
        self.use_running_stats_method = use_running_stats_method
        self.initialize_average_splits = initialize_average_splits
        self.inference_tree_paths = inference_tree_paths
        self.param_file = param_file
        self.split_name = split_name
        self.early_finish_check_every_samples = early_finish_check_every_samples
        self.prune_every_samples = prune_every_samples
        for name, value in kwargs.items():
            setattr(self, name, value)

    def values(self) -> dict[str, Any]:
        """All attributes by name."""
        return self.__dict__

    def fill(self) -> ForestHParams:
        """Sets what was left open; gives the object itself.

        Raises:
          AttributeError: num_classes or num_features is not set.
        """
        _ = self.num_classes
        self.bagged_num_features = int(
            self.feature_bagging_fraction * self.num_features
        )
        self.bagged_features = None
        if self.feature_bagging_fraction < 1.0:
            self.bagged_features = [
                random.sample(range(self.num_features), self.bagged_num_features)
                for _ in range(self.num_trees)
            ]
        self.regression = getattr(self, "regression", False)
        self.num_outputs = self.num_classes if self.regression else 1
        self.num_output_columns = self.num_classes + 1
        self.num_splits_to_consider = self.num_splits_to_consider or min(
            max(10, math.floor(math.sqrt(self.num_features))), 1000
        )
        self.base_random_seed = getattr(self, "base_random_seed", 0)
        kinds = (
            REGRESSION_MODEL_TYPE[:2]
            if self.regression
            else CLASSIFICATION_LEAF_MODEL_TYPES[self.model_name]
        )
        self.leaf_model_type, self.stats_model_type = kinds
        self.finish_type = FINISH_TYPES[
            "basic" if self.regression else self.split_finish_name
        ]
        self.pruning_type = PRUNING_TYPES[self.split_pruning_name]
        if self.pruning_type == _pb.SPLIT_PRUNE_NONE:
            self.prune_every_samples = 0
        elif not self.prune_every_samples:
            self.prune_every_samples = int(self.split_after_samples) / 2
        if self.finish_type == _pb.SPLIT_FINISH_BASIC:
            self.early_finish_check_every_samples = 0
        elif not self.early_finish_check_every_samples:
            self.early_finish_check_every_samples = int(self.split_after_samples) / 4
        self.split_type = SPLIT_TYPES[self.split_name]
        return self
