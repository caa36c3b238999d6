"""What handlers of feature columns have in common."""

from __future__ import annotations

import abc
from typing import Any

from tensorloom.contrib.boosted_trees.resources.batched_operations import (
    ScheduledOp,
    run_handler_scheduled_ops,
)
from tensorloom.ops.control_flow.builders import group


class BaseSplitHandler(abc.ABC):
    """Collects statistics of one feature column, and proposes splits by it.

    Args:
      l1_regularization: of leaves.
      l2_regularization: of leaves.
      tree_complexity_regularization: what a split must gain.
      min_node_weight: the least sum of hessians of a leaf.
      feature_column_group_id: the number of the column.
      gradient_shape: TensorShape of an example's gradient.
      hessian_shape: TensorShape of its hessian.
      multiclass_strategy: a LearnerConfig.MultiClassStrategy.
      loss_uses_sum_reduction: whether the loss is a sum and no mean.
      name: of the handler.
    """

    def __init__(
        self,
        l1_regularization: Any,
        l2_regularization: Any,
        tree_complexity_regularization: Any,
        min_node_weight: Any,
        feature_column_group_id: Any,
        gradient_shape: Any,
        hessian_shape: Any,
        multiclass_strategy: Any,
        loss_uses_sum_reduction: Any = False,
        name: str | None = None,
    ) -> None:
        self._l1_regularization = l1_regularization
        self._l2_regularization = l2_regularization
        self._tree_complexity_regularization = tree_complexity_regularization
        self._min_node_weight = min_node_weight
        self._feature_column_group_id = feature_column_group_id
        self._name = name or ""
        self._multiclass_strategy = multiclass_strategy
        self._hessian_shape = hessian_shape
        self._gradient_shape = gradient_shape
        self._loss_uses_sum_reduction = loss_uses_sum_reduction

    def scheduled_reads(self) -> list[ScheduledOp]:
        """What `update_stats` has to read."""
        return []

    @abc.abstractmethod
    def update_stats(
        self,
        stamp_token: Any,
        example_partition_ids: Any,
        gradients: Any,
        hessians: Any,
        empty_gradients: Any,
        empty_hessians: Any,
        weights: Any,
        is_active: Any,
        scheduled_reads: Any,
    ) -> tuple[Any, list[ScheduledOp]]:
        """Adds a batch.

        Args:
          stamp_token: of the resources, an int64 scalar.
          example_partition_ids: the leaf of each example, int32 [examples].
          gradients: float32 [examples, ...].
          hessians: float32 [examples, ...].
          empty_gradients: float32 without elements, to take their place.
          empty_hessians: float32 without elements, to take their place.
          weights: of the examples in quantiles, float32 [examples].
          is_active: whether the column is used for this layer, and the next; bool [2].
          scheduled_reads: what `scheduled_reads` read.

        Returns:
          An operation, and others to be scheduled.
        """

    def update_stats_sync(
        self,
        stamp_token: Any,
        example_partition_ids: Any,
        gradients: Any,
        hessians: Any,
        empty_gradients: Any,
        empty_hessians: Any,
        weights: Any,
        is_active: Any,
    ) -> Any:
        """As `update_stats`, as one operation: this handler alone."""
        reads = run_handler_scheduled_ops(
            {self: self.scheduled_reads()}, stamp_token, None
        )
        update, scheduled = self.update_stats(
            stamp_token,
            example_partition_ids,
            gradients,
            hessians,
            empty_gradients,
            empty_hessians,
            weights,
            is_active,
            reads[self],
        )
        updates = run_handler_scheduled_ops({self: scheduled}, stamp_token, None)
        return group(update, *updates[self])

    @abc.abstractmethod
    def reset(self, stamp_token: Any, next_stamp_token: Any) -> Any:
        """The operation that forgets what was added."""

    @abc.abstractmethod
    def make_splits(
        self, stamp_token: Any, next_stamp_token: Any, class_id: Any
    ) -> tuple[Any, Any, Any, Any]:
        """The best split of each leaf; then begins anew.

        Args:
          stamp_token: of the resources, an int64 scalar.
          next_stamp_token: theirs from now on.
          class_id: the class that the tree is of, int32; -1 for all.

        Returns:
          Whether there are splits, a bool; leaves, int32 [n]; gains, float32 [n];
          serialized SplitInfo messages, string [n].
        """

    def _rules(self, class_id: Any, learner: Any = None) -> dict[str, Any]:
        """The arguments of an operation that finds splits."""
        rules = {
            "class_id": class_id,
            "feature_column_group_id": self._feature_column_group_id,
            "l1_regularization": self._l1_regularization,
            "l2_regularization": self._l2_regularization,
            "tree_complexity_regularization": self._tree_complexity_regularization,
            "min_node_weight": self._min_node_weight,
            "multiclass_strategy": self._multiclass_strategy,
        }
        return rules if learner is None else {**rules, "weak_learner_type": learner}
