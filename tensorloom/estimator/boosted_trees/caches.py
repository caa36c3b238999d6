"""What training in memory keeps between steps: features, and where examples stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.variables.variables import Variable
from tensorloom.feature_column.input_layers import transform_features
from tensorloom.framework.graph.graph import control_dependencies
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.fill import ones, zeros
from tensorloom.ops.control_flow.builders import group, no_op

if TYPE_CHECKING:
    from tensorloom.estimator.boosted_trees.columns import TreeColumns

# The node of an example that no tree has seen yet.
NO_NODE = -1


def local_variable(initial_value: Any, name: str) -> Variable:
    """A variable of any shape that is not trained."""
    return Variable(
        initial_value=initial_value,
        trainable=False,
        validate_shape=False,
        name=name,
        use_resource=True,
    )


def cached_features(
    features: Mapping[Any, Any],
    columns: TreeColumns,
    batch_size: Any,
    boundaries: Mapping[str, Sequence[Any]],
    are_boundaries_ready: Any,
) -> tuple[list[Any], Any]:
    """The features as numbers of buckets, computed once.

    Floats are put into buckets by the first step after the boundaries are there.

    Returns:
      int32 vectors, and the operation that says that they are kept.
    """
    kept = [
        local_variable(zeros([batch_size], dtypes.int32), f"cached_feature_{number}")
        for number in range(len(columns.names()))
    ]
    are_kept = local_variable(False, "are_features_cached")
    indicators = columns.indicators
    known = transform_features(features, indicators) if indicators else {}

    def compute() -> tuple[list[Any], Any]:
        return columns.bucketed(features, boundaries, known), no_op()

    def keep() -> tuple[list[Any], Any]:
        computed = columns.bucketed(features, boundaries, known)
        assigned = [
            variable.assign(feature)
            for variable, feature in zip(kept, computed, strict=True)
        ]
        with control_dependencies(assigned):
            return assigned, are_kept.assign(True)

    def with_cache() -> Any:
        return cond(are_kept, lambda: (kept, no_op()), keep)

    found: tuple[list[Any], Any] = cond(are_boundaries_ready, compute, with_cache)
    return found


class TrainingState:
    """For each example of the whole data: the tree and node it is in, and its logits.

    Args:
      batch_size: how many examples.
      logits_dimension: how many logits each has.
    """

    def __init__(self, batch_size: Any, logits_dimension: int) -> None:
        ids = ones([batch_size], dtypes.int32)
        self._tree_ids = local_variable(
            zeros([batch_size], dtypes.int32), "tree_ids_cache"
        )
        self._node_ids = local_variable(NO_NODE * ids, "node_ids_cache")
        logits = zeros([batch_size, logits_dimension])
        self._logits = local_variable(logits, "logits_cache")

    def lookup(self) -> tuple[Any, Any, Any]:
        """Trees, nodes and logits of the last step."""
        return self._tree_ids, self._node_ids, self._logits

    def insert(self, tree_ids: Any, node_ids: Any, logits: Any) -> Any:
        """The operation that keeps those of this step."""
        return group(
            self._tree_ids.assign(tree_ids),
            self._node_ids.assign(node_ids),
            self._logits.assign(logits),
            name="cache_insert",
        )


def unknown_state(batch_size: Any, logits_dimension: int) -> tuple[Any, Any, Any]:
    """Trees, nodes and logits of examples of which nothing is known."""
    return (
        zeros([batch_size], dtypes.int32),
        NO_NODE * ones([batch_size], dtypes.int32),
        zeros([batch_size, logits_dimension]),
    )
