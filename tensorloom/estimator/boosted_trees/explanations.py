"""What each feature contributes: to the whole ensemble, and to one prediction.

Contributions to a prediction are differences of it along the path through the trees
(Palczewska et al., "Interpreting random forest models using a feature contribution
method", 2013, arXiv:1312.1121).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.estimator.boosted_trees.model import SCOPE, TreeModel
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.registry.op_def_library import apply_op

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The prediction that holds a serialized `DebugOutput` until it is taken out.
DEBUG_KEY: Final = "_serialized_debug_outputs_proto"


def feature_importances(
    serialized: bytes, num_features: int, normalize: bool
) -> NDArray[np.float64]:
    """The gain of all splits at each feature, weighted by tree.

    Args:
      serialized: a `TreeEnsemble` message.
      num_features: how many features there are.
      normalize: whether their sum becomes 1.

    Raises:
      AssertionError: it cannot become 1: a gain is negative, or all are 0.
    """
    from tensorloom.protos.boosted_trees_pb2 import TreeEnsemble

    ensemble = TreeEnsemble.FromString(serialized)
    importances = np.zeros(num_features)
    for tree, weight in zip(ensemble.trees, ensemble.tree_weights, strict=True):
        for node in tree.nodes:
            if node.WhichOneof("node") == "bucketized_split":
                gain = weight * node.metadata.gain
                importances[node.bucketized_split.feature_id] += gain
    if not normalize:
        return importances
    if not np.all(importances >= 0):
        raise AssertionError("feature_importances must be non-negative.")
    if importances.sum() <= 0:
        raise AssertionError("Trees are all empty or contain only a root node.")
    normalized: NDArray[np.float64] = importances / importances.sum()
    return normalized


def by_column(names: Sequence[str], values: Sequence[Any]) -> OrderedDict[str, Any]:
    """Sums of values by the names of columns, the largest first."""
    sums: dict[str, Any] = {}
    for name, value in zip(names, values, strict=True):
        sums[name] = sums.get(name, 0) + value
    return OrderedDict(sorted(sums.items(), key=lambda item: -abs(item[1])))


def contributions(
    serialized: bytes, names: Sequence[str], is_classification: bool
) -> tuple[float, OrderedDict[str, Any]]:
    """(bias, contribution of each column) of one prediction.

    Args:
      serialized: a `DebugOutput` message: the features on the path, and the logits.
      names: the column of each feature.
      is_classification: whether predictions are probabilities.
    """
    from tensorloom.protos.boosted_trees_pb2 import DebugOutput

    path = DebugOutput.FromString(serialized)
    predictions = np.array(list(path.logits_path), np.float64)
    if is_classification:
        predictions = 1 / (1 + np.exp(-predictions))
    changes = np.bincount(
        np.array(path.feature_ids, np.int64),
        weights=np.diff(predictions),
        minlength=len(names),
    )
    return float(predictions[0]), by_column(names, list(changes))


def explaining_spec(model: TreeModel, features: Any) -> Any:
    """The spec of a prediction that also gives the paths through the trees."""
    with name_scope(SCOPE) as scope:
        spec, trees, buckets = model.predicting_spec(
            features, None, ModeKeys.PREDICT, scope
        )
        spec.predictions[DEBUG_KEY] = apply_op(
            "BoostedTreesExampleDebugOutputs",
            tree_ensemble_handle=trees.ensemble.resource_handle,
            bucketized_features=buckets,
            logits_dimension=model.head.logits_dimension,
        )
    return spec
