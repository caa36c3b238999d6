"""Splits by numbers: an example is above a boundary, or it is not.

The boundaries are quantiles of the examples of the layer before (Chen and Guestrin,
"XGBoost", 2016, section 3.2). So in the first layer there are none, and nothing grows:
while a layer's gradients are added up by the old boundaries, the new ones are made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.functions.function import Defun
from tensorloom.contrib.boosted_trees.handlers.base_handler import BaseSplitHandler
from tensorloom.contrib.boosted_trees.handlers.layer_statistics import with_leaf_totals
from tensorloom.contrib.boosted_trees.resources.quantile_accumulator import (
    QuantileAccumulator,
)
from tensorloom.contrib.boosted_trees.resources.stamped_resource import scope_name
from tensorloom.contrib.boosted_trees.resources.stats_accumulator import (
    StatsAccumulator,
)
from tensorloom.framework.graph.graph import (
    colocate_with,
    control_dependencies,
    name_scope,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.fill import zeros_like
from tensorloom.ops.array.identity import identity
from tensorloom.ops.array.shape import size
from tensorloom.ops.array.stack import stack
from tensorloom.ops.control_flow.builders import group, no_op
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import logical_and

if TYPE_CHECKING:
    from tensorloom.contrib.boosted_trees.resources.batched_operations import (
        ScheduledOp,
    )

_BIAS_FEATURE_ID: Final = -1


class InequalitySplitHandler(BaseSplitHandler):
    """What columns of numbers have in common: a sketch of quantiles.

    Args:
      epsilon: how far off quantiles may be.
      num_quantiles: how many there are.
      init_stamp_token: the first stamp.
      The others are those of `BaseSplitHandler`.
    """

    def __init__(
        self,
        l1_regularization: Any,
        l2_regularization: Any,
        tree_complexity_regularization: Any,
        min_node_weight: Any,
        feature_column_group_id: Any,
        epsilon: float,
        num_quantiles: int,
        gradient_shape: Any,
        hessian_shape: Any,
        multiclass_strategy: Any,
        init_stamp_token: Any = 0,
        loss_uses_sum_reduction: Any = False,
        name: str | None = None,
    ) -> None:
        super().__init__(
            name=name,
            l1_regularization=l1_regularization,
            l2_regularization=l2_regularization,
            tree_complexity_regularization=tree_complexity_regularization,
            min_node_weight=min_node_weight,
            feature_column_group_id=feature_column_group_id,
            gradient_shape=gradient_shape,
            hessian_shape=hessian_shape,
            multiclass_strategy=multiclass_strategy,
            loss_uses_sum_reduction=loss_uses_sum_reduction,
        )
        self._stats_accumulator = StatsAccumulator(
            init_stamp_token,
            gradient_shape,
            hessian_shape,
            name=f"StatsAccumulator/{self._name}",
        )
        with colocate_with(self._stats_accumulator.resource_handle):
            self._quantile_accumulator = QuantileAccumulator(
                init_stamp_token,
                epsilon=epsilon,
                num_quantiles=num_quantiles,
                name=f"QuantileAccumulator/{self._name}",
            )

    def reset(self, stamp_token: Any, next_stamp_token: Any) -> Any:
        """The operation that forgets what was added."""
        sums = self._stats_accumulator.flush(stamp_token, next_stamp_token)
        quantiles = self._quantile_accumulator.flush(stamp_token, next_stamp_token)
        return group(*sums, quantiles)

    def scheduled_reads(self) -> list[ScheduledOp]:
        """The boundaries."""
        return [self._quantile_accumulator.schedule_get_buckets()]

    def _flushed(self, stamp: Any, after: Any) -> tuple[Any, Any, dict[str, Any]]:
        """(whether there are splits, boundaries, the arguments of all such ops)."""
        are_ready, buckets = self._quantile_accumulator.get_buckets(stamp)
        # The boundaries are read before the flush makes the next ones.
        with control_dependencies([buckets]):
            flush = self._quantile_accumulator.flush(stamp, after)
        updates, leaves, features, gradients, hessians = self._stats_accumulator.flush(
            stamp, after
        )
        minibatches = cond(
            convert_to_tensor(self._loss_uses_sum_reduction),
            lambda: cast(1, dtypes.int64),
            lambda: updates,
        )
        with control_dependencies([flush, leaves]):
            are_ready = identity(are_ready)
        arguments = {
            "num_minibatches": minibatches,
            "bucket_boundaries": buckets,
            "partition_ids": leaves,
            "bucket_ids": features,
            "gradients": gradients,
            "hessians": hessians,
        }
        return are_ready, buckets, arguments


class DenseSplitHandler(InequalitySplitHandler):
    """Splits of a dense column.

    Args:
      dense_float_column: float32 [examples, 1].
      weak_learner_type: a LearnerConfig.WeakLearnerType.
      The others are those of `InequalitySplitHandler`.
    """

    def __init__(
        self,
        dense_float_column: Any,
        l1_regularization: Any,
        l2_regularization: Any,
        tree_complexity_regularization: Any,
        min_node_weight: Any,
        feature_column_group_id: Any,
        epsilon: float,
        num_quantiles: int,
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
            epsilon=epsilon,
            num_quantiles=num_quantiles,
            init_stamp_token=init_stamp_token,
            name=name,
            gradient_shape=gradient_shape,
            hessian_shape=hessian_shape,
            multiclass_strategy=multiclass_strategy,
            loss_uses_sum_reduction=loss_uses_sum_reduction,
        )
        self._dense_float_column = dense_float_column
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
        with name_scope(scope_name(self._name), "DenseSplitHandler"):
            are_ready, buckets = scheduled_reads[0]
            values, of_values, *slots = dense_make_stats_update(
                is_active,
                are_ready,
                self._dense_float_column,
                buckets,
                example_partition_ids,
                gradients,
                hessians,
                weights,
                empty_gradients,
                empty_hessians,
            )
            quantiles = self._quantile_accumulator.schedule_add_summary(
                stamp_token=stamp_token, column=values, example_weights=of_values
            )
            sums = self._stats_accumulator.schedule_add(*slots)
            return no_op(), [quantiles, sums]

    def make_splits(
        self, stamp_token: Any, next_stamp_token: Any, class_id: Any
    ) -> tuple[Any, Any, Any, Any]:
        """The best splits; see `BaseSplitHandler.make_splits`."""
        are_ready, _, arguments = self._flushed(stamp_token, next_stamp_token)
        found = apply_op(
            "BuildDenseInequalitySplits",
            **arguments,
            **self._rules(class_id, self._weak_learner_type),
        )
        return are_ready, *found


class SparseSplitHandler(InequalitySplitHandler):
    """Splits of a sparse column; those say where missing values go, too.

    Args:
      sparse_float_column: a SparseTensor of floats, [examples, width].
      The others are those of `InequalitySplitHandler`.
    """

    def __init__(
        self,
        sparse_float_column: Any,
        l1_regularization: Any,
        l2_regularization: Any,
        tree_complexity_regularization: Any,
        min_node_weight: Any,
        feature_column_group_id: Any,
        epsilon: float,
        num_quantiles: int,
        gradient_shape: Any,
        hessian_shape: Any,
        multiclass_strategy: Any,
        init_stamp_token: Any = 0,
        loss_uses_sum_reduction: Any = False,
        name: str | None = None,
    ) -> None:
        super().__init__(
            l1_regularization=l1_regularization,
            l2_regularization=l2_regularization,
            tree_complexity_regularization=tree_complexity_regularization,
            min_node_weight=min_node_weight,
            feature_column_group_id=feature_column_group_id,
            epsilon=epsilon,
            num_quantiles=num_quantiles,
            gradient_shape=gradient_shape,
            hessian_shape=hessian_shape,
            multiclass_strategy=multiclass_strategy,
            init_stamp_token=init_stamp_token,
            loss_uses_sum_reduction=loss_uses_sum_reduction,
            name=name,
        )
        self._sparse_float_column = sparse_float_column

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
        are_ready, buckets = scheduled_reads[0]
        column = self._sparse_float_column
        with name_scope(self._name, "SparseSplitHandler"):
            indices, values, shape, of_values, *slots = sparse_make_stats_update(
                is_active,
                are_ready,
                column.indices,
                column.values,
                column.dense_shape,
                buckets,
                example_partition_ids,
                gradients,
                hessians,
                weights,
                empty_gradients,
                empty_hessians,
            )
            quantiles = self._quantile_accumulator.schedule_add_summary(
                stamp_token=stamp_token,
                column=SparseTensor(indices, values, shape),
                example_weights=of_values,
            )
            sums = self._stats_accumulator.schedule_add(*slots)
            return no_op(), [quantiles, sums]

    def make_splits(
        self, stamp_token: Any, next_stamp_token: Any, class_id: Any
    ) -> tuple[Any, Any, Any, Any]:
        """The best splits; see `BaseSplitHandler.make_splits`."""
        are_ready, _, arguments = self._flushed(stamp_token, next_stamp_token)
        found = apply_op(
            "BuildSparseInequalitySplits",
            **arguments,
            bias_feature_id=_BIAS_FEATURE_ID,
            **self._rules(class_id),
        )
        return are_ready, *found


# --- statistics of a batch, as functions of their own -------------------------

_FLOAT, _INT64 = dtypes.float32, dtypes.int64


def _no_floats() -> Any:
    return constant([], _FLOAT)


def _no_slots(empty_gradients: Any, empty_hessians: Any) -> Any:
    return (
        constant([], dtypes.int32),
        constant([], _INT64, shape=[1, 2]),
        empty_gradients,
        empty_hessians,
    )


def _quantiles(values: Any, buckets: Any, indices: Any = None) -> Any:
    """The bucket and the dimension of each value, int64 [values, 2]."""
    dense = indices is None
    found = apply_op(
        "Quantiles",
        dense_values=[values] if dense else [],
        sparse_values=[] if dense else [values],
        dense_buckets=[buckets] if dense else [],
        sparse_buckets=[] if dense else [buckets],
        sparse_indices=[] if dense else [indices],
    )
    return cast(found[0 if dense else 1][0], _INT64)


@Defun(
    dtypes.bool, dtypes.bool, *[_FLOAT] * 2, dtypes.int32, *[_FLOAT] * 5, noinline=True
)
def dense_make_stats_update(
    is_active: Any,
    are_buckets_ready: Any,
    float_column: Any,
    quantile_buckets: Any,
    example_partition_ids: Any,
    gradients: Any,
    hessians: Any,
    weights: Any,
    empty_gradients: Any,
    empty_hessians: Any,
) -> Any:
    """What a dense column adds: to quantiles if it is active in the next layer, to sums
    if it is active in this one and has boundaries.
    """
    of_quantiles = cond(
        is_active[1],
        lambda: (float_column, weights),
        lambda: (_no_floats(), _no_floats()),
    )
    counts = logical_and(
        logical_and(are_buckets_ready, size(quantile_buckets) > 0), is_active[0]
    )
    slots = cond(
        counts,
        lambda: (
            example_partition_ids,
            _quantiles(float_column, quantile_buckets),
            gradients,
            hessians,
        ),
        lambda: _no_slots(empty_gradients, empty_hessians),
    )
    return *of_quantiles, *slots


@Defun(
    dtypes.bool,
    dtypes.bool,
    _INT64,
    _FLOAT,
    _INT64,
    _FLOAT,
    dtypes.int32,
    *[_FLOAT] * 5,
    noinline=True,
)
def sparse_make_stats_update(
    is_active: Any,
    are_buckets_ready: Any,
    sparse_column_indices: Any,
    sparse_column_values: Any,
    sparse_column_shape: Any,
    quantile_buckets: Any,
    example_partition_ids: Any,
    gradients: Any,
    hessians: Any,
    weights: Any,
    empty_gradients: Any,
    empty_hessians: Any,
) -> Any:
    """What a sparse column adds: to quantiles if it is active in the next layer, to
    sums if it has boundaries.
    """

    def ready() -> Any:
        buckets = _quantiles(
            sparse_column_values, quantile_buckets, sparse_column_indices
        )
        leaves, bias, of_gradients, of_hessians = with_leaf_totals(
            sparse_column_indices,
            example_partition_ids,
            gradients,
            hessians,
            _BIAS_FEATURE_ID,
        )
        bias = stack([bias, zeros_like(bias)], axis=1)
        return leaves, concat([bias, buckets], 0), of_gradients, of_hessians

    of_quantiles = cond(
        is_active[1],
        lambda: (
            sparse_column_indices,
            sparse_column_values,
            sparse_column_shape,
            weights,
        ),
        lambda: (
            constant([], _INT64, shape=[0, 2]),
            _no_floats(),
            constant([0, 1], _INT64),
            _no_floats(),
        ),
    )
    slots = cond(
        logical_and(are_buckets_ready, size(quantile_buckets) > 0),
        ready,
        lambda: _no_slots(empty_gradients, empty_hessians),
    )
    return *of_quantiles, *slots
