"""How an ensemble grows: at once from a whole batch, or from batches that add up.

In both ways statistics of a layer (sums of the loss's first and second derivatives by
node and bucket) say which split of each node gains most (Chen and Guestrin, "XGBoost: A
Scalable Tree Boosting System", 2016), and one operation adds the layer.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.queues.accumulators import ConditionalAccumulator
from tensorloom.framework.graph.graph import control_dependencies
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.reshape import expand_dims
from tensorloom.ops.array.stack import stack, unstack
from tensorloom.ops.control_flow.builders import group, no_op
from tensorloom.ops.reductions.reductions import reduce_mean, reduce_min

if TYPE_CHECKING:
    from tensorloom.estimator.boosted_trees.columns import FeatureGroups
    from tensorloom.estimator.boosted_trees.options import TreeOptions
    from tensorloom.train.boosted_trees import QuantileAccumulator, TreeEnsemble


class EnsembleGrower(abc.ABC):
    """Makes the operations that change an ensemble.

    Args:
      ensemble: what grows.
      quantiles: the sketches of floats; None where there are none.
      options: of the trees.
      groups: the features.
    """

    def __init__(
        self,
        ensemble: TreeEnsemble,
        quantiles: QuantileAccumulator | None,
        options: TreeOptions,
        groups: FeatureGroups,
    ) -> None:
        self._ensemble = ensemble
        self._quantiles = quantiles
        self._options = options
        self._groups = groups
        self._pruning_mode = options.parsed_pruning()

    @abc.abstractmethod
    def accumulate_quantiles(
        self, floats: Sequence[Any], weights: Any, are_boundaries_ready: Any
    ) -> Any:
        """Adds a batch to the sketches; with enough batches, sets the boundaries."""

    @abc.abstractmethod
    def center_bias(self, is_needed: Any, gradients: Any, hessians: Any) -> Any:
        """Moves the first node's value; says in `is_needed` whether to go on."""

    @abc.abstractmethod
    def grow_tree(self, summaries: Sequence[Sequence[Any]], layer: Any) -> Any:
        """Adds a layer of statistics: by group and feature.

        Args:
          layer: the nodes of the last layer, the first one and the end.
        """

    def chief_init_op(self) -> Any:
        """What the chief runs first in a new session."""
        return no_op()

    def _flush_quantiles(self) -> Any:
        assert self._quantiles is not None
        return self._quantiles.flush()

    def _add_to_quantiles(self, floats: Sequence[Any], weights: Any) -> Any:
        assert self._quantiles is not None
        return self._quantiles.add_summaries(floats, weights)

    def _move_bias(self, is_needed: Any, gradients: Any, hessians: Any) -> Any:
        """Args: means over examples, of shape `[1, logits]`."""
        goes_on = apply_op(
            "BoostedTreesCenterBias",
            tree_ensemble_handle=self._ensemble.resource_handle,
            mean_gradients=gradients,
            mean_hessians=hessians,
            l1=self._options.l1_regularization,
            l2=self._options.l2_regularization,
        )
        return is_needed.assign(goes_on)

    def _add_layer(self, summaries: Sequence[Sequence[Any]], layer: Any) -> Any:
        options = self._options
        features: list[int] = []
        best: list[list[Any]] = [[] for _ in range(5)]
        for group_features, group_summaries in zip(
            self._groups.features, summaries, strict=True
        ):
            features += group_features
            gains = apply_op(
                "BoostedTreesCalculateBestGainsPerFeature",
                node_id_range=layer,
                stats_summary_list=group_summaries,
                l1=options.l1_regularization,
                l2=options.l2_regularization,
                tree_complexity=options.tree_complexity,
                min_node_weight=options.min_node_weight,
                max_splits=options.max_splits,
            )
            for all_parts, parts in zip(best, gains, strict=True):
                all_parts += parts
        node_ids, gains, thresholds, left, right = best
        return apply_op(
            "BoostedTreesUpdateEnsemble",
            tree_ensemble_handle=self._ensemble.resource_handle,
            feature_ids=features,
            node_ids=node_ids,
            gains=gains,
            thresholds=thresholds,
            left_node_contribs=left,
            right_node_contribs=right,
            max_depth=options.max_depth,
            learning_rate=options.learning_rate,
            pruning_mode=self._pruning_mode,
        )


class InMemoryGrower(EnsembleGrower):
    """Grows a layer from each batch, which is the whole data."""

    def accumulate_quantiles(
        self, floats: Sequence[Any], weights: Any, are_boundaries_ready: Any
    ) -> Any:
        """See `EnsembleGrower`."""
        with control_dependencies([self._add_to_quantiles(floats, weights)]):
            flush = self._flush_quantiles()
        with control_dependencies([flush]):
            return are_boundaries_ready.assign(True).op

    def center_bias(self, is_needed: Any, gradients: Any, hessians: Any) -> Any:
        """See `EnsembleGrower`."""
        return self._move_bias(is_needed, _mean_row(gradients), _mean_row(hessians))

    def grow_tree(self, summaries: Sequence[Sequence[Any]], layer: Any) -> Any:
        """See `EnsembleGrower`."""
        return self._add_layer(summaries, layer)


class AccumulatingGrower(EnsembleGrower):
    """Grows a layer when enough batches, of all workers, were added up.

    Args:
      stamp: how often the ensemble was changed: batches for an older one are dropped.
      n_batches_per_layer: how many batches make a layer.
      is_chief: whether this task grows; others only add.
    """

    def __init__(
        self,
        ensemble: TreeEnsemble,
        quantiles: QuantileAccumulator | None,
        options: TreeOptions,
        groups: FeatureGroups,
        stamp: Any,
        n_batches_per_layer: Any,
        is_chief: bool,
    ) -> None:
        super().__init__(ensemble, quantiles, options, groups)
        self._stamp = stamp
        self._n_batches = n_batches_per_layer
        self._is_chief = is_chief
        self._layers = [
            _accumulator(
                [len(features), options.max_splits, buckets, 2],
                f"numeric_stats_summary_accumulator_{number}",
            )
            for number, (features, buckets) in enumerate(
                zip(groups.features, groups.buckets, strict=True)
            )
        ]
        all_accumulators = list(self._layers)
        if options.center_bias:
            self._bias = _accumulator([2, 1], "bias_accumulator")
            all_accumulators.append(self._bias)
        self._init_ops = [acc.set_global_step(stamp) for acc in all_accumulators]

    def chief_init_op(self) -> Any:
        """Tells the accumulators how often the ensemble was changed."""
        return group(*self._init_ops)

    def accumulate_quantiles(
        self, floats: Sequence[Any], weights: Any, are_boundaries_ready: Any
    ) -> Any:
        """See `EnsembleGrower`."""
        added = self._add_to_quantiles(floats, weights)
        # It only counts batches; the sketches themselves are in the quantiles.
        counter = _accumulator([], "quantile_summary_accum")
        step = counter.set_global_step(self._stamp)
        count = counter.apply_grad(constant(0.0), self._stamp)
        update = group(added, step, count)
        if not self._is_chief:
            return update

        def finish() -> Any:
            taken = counter.take_grad(1)
            flush = self._flush_quantiles()
            return group(flush, taken, are_boundaries_ready.assign(True).op)

        return self._when_enough(
            update, counter.num_accumulated, finish, "wait_until_quaniles_accumulated"
        )

    def center_bias(self, is_needed: Any, gradients: Any, hessians: Any) -> Any:
        """See `EnsembleGrower`."""
        both = reduce_mean(stack([gradients, hessians], axis=0), axis=1)

        def move() -> Any:
            means = unstack(self._bias.take_grad(1), axis=0)
            moved = self._move_bias(is_needed, *(expand_dims(m, 0) for m in means))
            with control_dependencies([moved]):
                return cond(is_needed, no_op, self._begin_layers)

        return self._when_enough(
            self._bias.apply_grad(both, self._stamp),
            self._bias.num_accumulated,
            move,
            "wait_until_n_batches_for_bias_accumulated",
        )

    def grow_tree(self, summaries: Sequence[Sequence[Any]], layer: Any) -> Any:
        """See `EnsembleGrower`."""
        added = [
            accumulator.apply_grad(stack(parts, axis=0), self._stamp)
            for accumulator, parts in zip(self._layers, summaries, strict=True)
        ]

        def grow() -> Any:
            taken = [unstack(acc.take_grad(1), axis=0) for acc in self._layers]
            return self._add_layer(taken, layer)

        def fewest() -> Any:
            return reduce_min(stack([acc.num_accumulated() for acc in self._layers]))

        return self._when_enough(
            group(*added), fewest, grow, "wait_until_n_batches_accumulated"
        )

    def _begin_layers(self) -> Any:
        return group(*(acc.set_global_step(self._stamp + 1) for acc in self._layers))

    def _when_enough(
        self,
        added: Any,
        count: Callable[[], Any],
        act: Callable[[], Any],
        name: str,
    ) -> Any:
        """Acts, in the chief, after `added`, if enough batches are counted."""
        with control_dependencies([added]):
            if not self._is_chief:
                return no_op()
            return cond(count() >= self._n_batches, act, no_op, name=name)


def _accumulator(shape: list[int], shared_name: str) -> ConditionalAccumulator:
    return ConditionalAccumulator(dtypes.float32, shape, shared_name)


def _mean_row(values: Any) -> Any:
    return expand_dims(reduce_mean(values, 0), 0)
