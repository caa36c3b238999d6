"""The `model_fn` of an ensemble of trees: predictions, and a step of growing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.gradients.gradients import gradients as gradients_of
from tensorloom.estimator.boosted_trees.caches import (
    TrainingState,
    cached_features,
    local_variable,
    unknown_state,
)
from tensorloom.estimator.boosted_trees.columns import TreeColumns
from tensorloom.estimator.boosted_trees.growing import (
    AccumulatingGrower,
    EnsembleGrower,
    InMemoryGrower,
)
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.feature_column.numeric import numeric_column
from tensorloom.framework.graph.graph import control_dependencies, device, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.reshape import squeeze
from tensorloom.ops.array.shape import shape
from tensorloom.ops.control_flow.builders import group, no_op
from tensorloom.ops.state.reference_variable import assign_add
from tensorloom.summary import summary
from tensorloom.train import training_util
from tensorloom.train.boosted_trees import QuantileAccumulator, TreeEnsemble
from tensorloom.train.hooks.session_run_hook import SessionRunArgs, SessionRunHook

if TYPE_CHECKING:
    from tensorloom.estimator.boosted_trees.options import TreeOptions
    from tensorloom.estimator.spec import EstimatorSpec

# The scope of the ensemble, and so its name in checkpoints.
SCOPE: Final = "boosted_trees"
_QUANTILES: Final = "QuantileAccumulator"
Derivatives = Callable[[Any, Any], tuple[Any, Any]]


@dataclass(frozen=True)
class TreeModel:
    """All that a model is made of but its features.

    Attributes:
      head: makes loss, predictions and metrics of logits.
      feature_columns: the columns.
      options: of the trees.
      n_batches_per_layer: how many batches make a layer.
      derivatives: of logits and labels: the loss's first and second derivatives by
        the logits; `tf.gradients` finds them when None.
      weight_column: the feature that weighs examples in quantiles.
      train_in_memory: whether each batch is the whole data.
    """

    head: Any
    feature_columns: Sequence[Any]
    options: TreeOptions
    n_batches_per_layer: Any = 1
    derivatives: Derivatives | None = None
    weight_column: Any = None
    train_in_memory: bool = False

    def spec(
        self, features: Mapping[Any, Any], labels: Any, mode: str, config: Any
    ) -> EstimatorSpec:
        """What a `model_fn` returns.

        Raises:
          ValueError: a column cannot be split, or training in memory is asked for in a
            cluster.
        """
        with name_scope(SCOPE) as scope:
            if mode == ModeKeys.TRAIN:
                return _Training(self, features, labels, config, scope).spec()
            return self.predicting_spec(features, labels, mode, scope)[0]

    def predicting_spec(
        self, features: Mapping[Any, Any], labels: Any, mode: str, scope: str
    ) -> tuple[EstimatorSpec, _Ensemble, list[Any]]:
        """The spec of evaluation or prediction, the trees, and the features in buckets.

        Called in the model's scope.
        """
        training_util.get_or_create_global_step()
        trees = _Ensemble(self, scope)
        buckets = trees.columns.bucketed(features, trees.boundaries)
        logits = apply_op(
            "BoostedTreesPredict",
            tree_ensemble_handle=trees.ensemble.resource_handle,
            bucketized_features=buckets,
            logits_dimension=self.head.logits_dimension,
        )
        spec = self.head.create_estimator_spec(
            features=features,
            mode=mode,
            labels=labels,
            train_op_fn=no_op,
            logits=logits,
        )
        return spec, trees, buckets


class _Ensemble:
    """The trees, and the boundaries of buckets where there are floats."""

    def __init__(self, model: TreeModel, scope: str) -> None:
        options = model.options
        self.columns = TreeColumns(model.feature_columns, options.num_quantiles)
        self.ensemble = TreeEnsemble(name=scope)
        self.quantiles: QuantileAccumulator | None = None
        self.boundaries: dict[str, list[Any]] = {}
        if self.columns.floats:
            self.quantiles = QuantileAccumulator(
                epsilon=options.quantile_sketch_epsilon,
                num_streams=self.columns.num_floats(),
                num_quantiles=options.num_quantiles,
                name=_QUANTILES,
            )
            self.boundaries = self.columns.boundaries_by_name(
                self.quantiles.get_bucket_boundaries()
            )


class _Training:
    """One training step: finds quantiles first, then grows layer by layer."""

    def __init__(
        self,
        model: TreeModel,
        features: Mapping[Any, Any],
        labels: Any,
        config: Any,
        scope: str,
    ) -> None:
        self._model = model
        self._features = features
        self._labels = labels
        self._global_step = training_util.get_or_create_global_step()
        self._trees = _Ensemble(model, scope)
        self._groups = self._trees.columns.groups()
        if model.train_in_memory:
            _check_in_memory(model, config)
        # Where this worker's other nodes are, for a copy of the trees there.
        worker_device = no_op().device
        self._are_boundaries_ready = local_variable(
            not self._trees.columns.floats, "are_boundaries_ready"
        )
        self._state: TrainingState | None = None
        self._cache_op: Any = None
        known = self._known_state()
        local, reload = self._local_ensemble(config, worker_device, scope)
        with control_dependencies([reload]):
            self._states = local.get_states()
            partial_logits, self._tree_ids, self._node_ids = apply_op(
                "BoostedTreesTrainingPredict",
                tree_ensemble_handle=local.resource_handle,
                cached_tree_ids=known[0],
                cached_node_ids=known[1],
                bucketized_features=self._buckets,
                logits_dimension=model.head.logits_dimension,
            )
        self._logits = known[2] + partial_logits
        self._grower = self._make_grower(config)
        self._write_summaries()
        self._needs_bias = local_variable(
            model.options.center_bias, "center_bias_needed"
        )
        self._weights = self._example_weights()

    def spec(self) -> EstimatorSpec:
        """The spec, whose step grows, and whose hooks stop when all trees are there."""
        options = self._model.options
        spec = self._model.head.create_estimator_spec(
            features=self._features,
            mode=ModeKeys.TRAIN,
            labels=self._labels,
            train_op_fn=self._train_op,
            logits=self._logits,
        )
        _, _, finished, attempted, _ = self._states
        stop = _StopWhenGrown(finished, attempted, options.n_trees, options.max_depth)
        begin = _GrowerInitialization(self._grower.chief_init_op())
        result: EstimatorSpec = spec._replace(
            training_hooks=(*spec.training_hooks, stop),
            training_chief_hooks=[begin, *spec.training_chief_hooks],
        )
        return result

    # --- what the step works on ------------------------------------------------------

    def _known_state(self) -> tuple[Any, Any, Any]:
        """Trees, nodes and logits of the examples so far; finds the buckets, too."""
        columns, boundaries = self._trees.columns, self._trees.boundaries
        width = self._model.head.logits_dimension
        if not self._model.train_in_memory:
            self._buckets = columns.bucketed(self._features, boundaries)
            return unknown_state(shape(self._labels)[0], width)
        batch_size = shape(self._labels)[0]
        self._buckets, self._cache_op = cached_features(
            self._features, columns, batch_size, boundaries, self._are_boundaries_ready
        )
        self._state = TrainingState(batch_size, width)
        return self._state.lookup()

    def _local_ensemble(
        self, config: Any, worker_device: str, scope: str
    ) -> tuple[TreeEnsemble, Any]:
        """The trees where this worker predicts, and the operation that renews them."""
        ensemble = self._trees.ensemble
        if config.num_worker_replicas <= 1:
            return ensemble, no_op()
        with device(worker_device):
            local = TreeEnsemble(name=scope + "_local", is_local=True)
        return local, local.deserialize(*ensemble.serialize())

    def _make_grower(self, config: Any) -> EnsembleGrower:
        model = self._model
        parts = (
            self._trees.ensemble,
            self._trees.quantiles,
            model.options,
            self._groups,
        )
        if model.train_in_memory:
            return InMemoryGrower(*parts)
        return AccumulatingGrower(
            *parts, self._states[0], model.n_batches_per_layer, config.is_chief
        )

    def _write_summaries(self) -> None:
        _, trees, finished, attempted, _ = self._states
        summary.scalar("ensemble/num_trees", trees)
        summary.scalar("ensemble/num_finalized_trees", finished)
        summary.scalar("ensemble/num_attempted_layers", attempted)

    def _example_weights(self) -> Any:
        column = self._model.weight_column
        if column is None:
            return constant(1.0, shape=[1])
        if isinstance(column, str):
            column = numeric_column(key=column, shape=(1,))
        columns = TreeColumns([column], self._model.options.num_quantiles)
        return columns.float_values(self._features)[0]

    # --- the step --------------------------------------------------------------------

    def _train_op(self, loss: Any) -> Any:
        if not self._trees.columns.floats:
            return self._grow(loss)
        return cond(
            self._are_boundaries_ready,
            lambda: self._grow(loss),
            self._update_quantiles,
        )

    def _update_quantiles(self) -> Any:
        with name_scope("UpdateQuantile"):
            floats = self._trees.columns.float_values(self._features)
            return self._grower.accumulate_quantiles(
                floats, self._weights, self._are_boundaries_ready
            )

    def _grow(self, loss: Any) -> Any:
        operations = [] if self._cache_op is None else [self._cache_op]
        if self._state is not None:
            operations.append(cond(self._needs_bias, no_op, self._keep_state))
        gradients, hessians = self._derivatives(loss)
        summaries = self._summaries(gradients, hessians)
        layer = self._states[-1]
        if self._model.options.center_bias:
            update = cond(
                self._needs_bias,
                lambda: self._grower.center_bias(self._needs_bias, gradients, hessians),
                lambda: self._grower.grow_tree(summaries, layer),
            )
        else:
            update = self._grower.grow_tree(summaries, layer)
        with control_dependencies([update]):
            counted = assign_add(self._global_step, 1).op
        return group(*operations, update, counted, name="grow_op")

    def _keep_state(self) -> Any:
        assert self._state is not None
        return self._state.insert(self._tree_ids, self._node_ids, self._logits)

    def _derivatives(self, loss: Any) -> tuple[Any, Any]:
        if self._model.derivatives is not None:
            return self._model.derivatives(self._logits, self._labels)
        first = gradients_of(loss, self._logits, name="Gradients")[0]
        return first, gradients_of(first, self._logits, name="Hessians")[0]

    def _summaries(self, gradients: Any, hessians: Any) -> list[list[Any]]:
        """Sums of derivatives by node and bucket: of each group's features."""
        return [
            [
                squeeze(
                    apply_op(
                        "BoostedTreesMakeStatsSummary",
                        node_ids=self._node_ids,
                        gradients=gradients,
                        hessians=hessians,
                        bucketized_features_list=[self._buckets[feature]],
                        max_splits=self._model.options.max_splits,
                        num_buckets=buckets,
                    ),
                    axis=0,
                )
                for feature in features
            ]
            for features, buckets in zip(
                self._groups.features, self._groups.buckets, strict=True
            )
        ]


def _check_in_memory(model: TreeModel, config: Any) -> None:
    if model.n_batches_per_layer != 1:
        raise AssertionError(
            "When train_in_memory is enabled, input_fn should return the entire "
            "dataset as a single batch, and n_batches_per_layer should be set as 1."
        )
    if (
        not config.is_chief
        or config.num_worker_replicas > 1
        or config.num_ps_replicas > 0
    ):
        raise ValueError(
            "train_in_memory is supported only for non-distributed training."
        )


class _StopWhenGrown(SessionRunHook):
    """Ends training when all trees are there, or too many layers were tried."""

    def __init__(
        self, finished: Any, attempted: Any, n_trees: int, max_depth: int
    ) -> None:
        self._counts = [finished, attempted]
        self._n_trees = n_trees
        self._most_layers = 2 * n_trees * max_depth

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Asks for the counts, which are from before the step."""
        return SessionRunArgs(self._counts)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Looks again when the step may have been the last one."""
        if self._done(run_values.results, margin=1) and self._done(
            run_context.session.run(self._counts), margin=0
        ):
            run_context.request_stop()

    def _done(self, counts: Sequence[int], margin: int) -> bool:
        finished, attempted = counts
        return bool(
            finished >= self._n_trees - margin or attempted > self._most_layers - margin
        )


class _GrowerInitialization(SessionRunHook):
    """Runs what the chief runs first in each session."""

    def __init__(self, init_op: Any) -> None:
        self._init_op = init_op

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Runs it."""
        session.run(self._init_op)
