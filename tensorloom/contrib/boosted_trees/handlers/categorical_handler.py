"""Splits by categories: an example has one, or it has not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.control_flow.cond import cond
from tensorloom.contrib.boosted_trees.handlers.base_handler import BaseSplitHandler
from tensorloom.contrib.boosted_trees.handlers.layer_statistics import with_leaf_totals
from tensorloom.contrib.boosted_trees.resources.stats_accumulator import (
    StatsAccumulator,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.fill import zeros_like
from tensorloom.ops.array.stack import stack
from tensorloom.ops.control_flow.builders import no_op
from tensorloom.ops.math.cast import cast

if TYPE_CHECKING:
    from tensorloom.contrib.boosted_trees.resources.batched_operations import (
        ScheduledOp,
    )

_BIAS_FEATURE_ID: Final = int(dtypes.int64.min)


class EqualitySplitHandler(BaseSplitHandler):
    """Splits of a column of categories.

    Args:
      sparse_int_column: a SparseTensor of int64, [examples, width].
      init_stamp_token: the first stamp.
      weak_learner_type: a LearnerConfig.WeakLearnerType.
      The others are those of `BaseSplitHandler`.
    """

    def __init__(
        self,
        sparse_int_column: Any,
        l1_regularization: Any,
        l2_regularization: Any,
        tree_complexity_regularization: Any,
        min_node_weight: Any,
        feature_column_group_id: Any,
        gradient_shape: Any,
        hessian_shape: Any,
        multiclass_strategy: Any,
        init_stamp_token: Any = 0,
        loss_uses_sum_reduction: Any = False,
        weak_learner_type: Any = 0,
        name: str | None = None,
    ) -> None:
        super().__init__(
            l1_regularization=l1_regularization,
            l2_regularization=l2_regularization,
            tree_complexity_regularization=tree_complexity_regularization,
            min_node_weight=min_node_weight,
            feature_column_group_id=feature_column_group_id,
            gradient_shape=gradient_shape,
            hessian_shape=hessian_shape,
            multiclass_strategy=multiclass_strategy,
            loss_uses_sum_reduction=loss_uses_sum_reduction,
            name=name,
        )
        self._stats_accumulator = StatsAccumulator(
            init_stamp_token,
            gradient_shape,
            hessian_shape,
            name=f"StatsAccumulator/{self._name}",
        )
        self._sparse_int_column = sparse_int_column
        self._weak_learner_type = weak_learner_type

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
        """Adds a batch; see `BaseSplitHandler.update_stats`."""

        def active() -> Any:
            leaves, bias, of_gradients, of_hessians = with_leaf_totals(
                self._sparse_int_column.indices,
                example_partition_ids,
                gradients,
                hessians,
                _BIAS_FEATURE_ID,
            )
            features = concat([bias, self._sparse_int_column.values], 0)
            places = stack([features, zeros_like(features)], axis=1)
            return leaves, places, of_gradients, of_hessians

        def inactive() -> Any:
            return (
                constant([], dtypes.int32),
                constant([], dtypes.int64, shape=[1, 2]),
                empty_gradients,
                empty_hessians,
            )

        added = cond(is_active[0], active, inactive)
        return no_op(), [self._stats_accumulator.schedule_add(*added)]

    def make_splits(
        self, stamp_token: Any, next_stamp_token: Any, class_id: Any
    ) -> tuple[Any, Any, Any, Any]:
        """The best splits, which are always ready: categories need no boundaries."""
        updates, leaves, features, gradients, hessians = self._stats_accumulator.flush(
            stamp_token, next_stamp_token
        )
        minibatches = cond(
            convert_to_tensor(self._loss_uses_sum_reduction),
            lambda: cast(1, dtypes.int64),
            lambda: updates,
        )
        leaves, gains, splits = apply_op(
            "BuildCategoricalEqualitySplits",
            num_minibatches=minibatches,
            partition_ids=leaves,
            feature_ids=features,
            gradients=gradients,
            hessians=hessians,
            bias_feature_id=_BIAS_FEATURE_ID,
            **self._rules(class_id, self._weak_learner_type),
        )
        return constant(True), leaves, gains, splits

    def reset(self, stamp_token: Any, next_stamp_token: Any) -> Any:
        """What was added; the sums begin anew."""
        return self._stats_accumulator.flush(stamp_token, next_stamp_token)
