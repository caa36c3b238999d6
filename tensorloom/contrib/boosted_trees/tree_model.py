"""An ensemble of trees with the operations that predict with it and let it grow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.variables.variables import Variable
from tensorloom.contrib.boosted_trees.ensemble_growth import EnsembleGrowth
from tensorloom.contrib.boosted_trees.features import TreeFeatures, tree_features
from tensorloom.contrib.boosted_trees.learner_defaults import fill_learner_config
from tensorloom.contrib.boosted_trees.training_statistics import (
    GBDTTrainingState,
    TrainingStatistics,
)
from tensorloom.contrib.learn.keys import ModeKeys
from tensorloom.framework.graph.graph import control_dependencies, device, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.losses.weighted import Reduction
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.fill import zeros
from tensorloom.ops.array.identity import identity
from tensorloom.ops.control_flow.builders import group, no_op
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import not_equal
from tensorloom.protos.gradient_trees_learner_pb2 import LearnerConfig

# Keys of predictions.
ENSEMBLE_STAMP: Final = "ensemble_stamp"
PREDICTIONS: Final = "predictions"
PARTITION_IDS: Final = "partition_ids"
NUM_LAYERS_ATTEMPTED: Final = "num_layers"
NUM_TREES_ATTEMPTED: Final = "num_trees"
NUM_USED_HANDLERS: Final = "num_used_handlers"
USED_HANDLERS_MASK: Final = "used_handlers_mask"
LEAF_INDEX: Final = "leaf_index"
_MODES: Final = (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.INFER)


class _Shapes(NamedTuple):
    """Of an example's gradient and hessian."""

    gradient: TensorShape
    hessian: TensorShape


def _derivative_shapes(
    config: LearnerConfig, dimension: int, center_bias: bool
) -> _Shapes:
    if dimension == 1 or config.multi_class_strategy == LearnerConfig.TREE_PER_CLASS:
        return _Shapes(TensorShape([]), TensorShape([]))
    if center_bias:
        raise ValueError("Center bias should be False for multiclass.")
    is_full = config.multi_class_strategy == LearnerConfig.FULL_HESSIAN
    hessian = [dimension, dimension] if is_full else [dimension]
    return _Shapes(TensorShape([dimension]), TensorShape(hessian))


class GradientBoostedDecisionTreeModel:
    """Trees that are grown by the gradients of a loss.

    Args:
      is_chief: whether this worker lets the ensemble grow.
      num_ps_replicas: how many parameter servers there are.
      ensemble_handle: of the ensemble.
      center_bias: whether the first tree is a bias.
      examples_per_layer: how many examples make a layer; or a function of the layer's
        number that says so.
      learner_config: how trees are learned; what is open is filled in.
      features: tensors by their names.
      logits_dimension: how many logits an example has.
      loss_reduction: `Reduction.SUM` or `SUM_OVER_NONZERO_WEIGHTS`.
      feature_columns: columns that are made of the features; None for the features.
      use_core_columns: whether the columns are `tf.feature_column`'s.
      output_leaf_index: whether predictions tell the leaves of examples.
      output_leaf_index_modes: in which modes they do; None for prediction alone.
      num_quantiles: how many boundaries dense numbers are split by.

    Raises:
      ValueError: something needed is not given, or does not fit.
    """

    def __init__(
        self,
        is_chief: bool,
        num_ps_replicas: int,
        ensemble_handle: Any,
        center_bias: bool,
        examples_per_layer: Any,
        learner_config: Any,
        features: Any,
        logits_dimension: int,
        loss_reduction: Any = Reduction.SUM_OVER_NONZERO_WEIGHTS,
        feature_columns: Any = None,
        use_core_columns: bool = False,
        output_leaf_index: bool = False,
        output_leaf_index_modes: Sequence[str] | None = None,
        num_quantiles: int = 100,
    ) -> None:
        for name, value in (
            ("ensemble_handle", ensemble_handle),
            ("learner_config", learner_config),
        ):
            if value is None:
                raise ValueError(f"{name} must be specified.")
        if learner_config.num_classes < 2:
            raise ValueError("Number of classes must be >=2")
        if loss_reduction not in (Reduction.SUM, Reduction.SUM_OVER_NONZERO_WEIGHTS):
            raise ValueError(f"Invalid loss reduction is provided: {loss_reduction}.")
        self._logits_dimension = logits_dimension
        self._is_chief = is_chief
        self._num_ps_replicas = num_ps_replicas
        self._ensemble_handle = ensemble_handle
        self._center_bias = center_bias
        self._examples_per_layer = examples_per_layer
        self._loss_reduction = loss_reduction
        fill_learner_config(learner_config, logits_dimension)
        self._shapes = _derivative_shapes(learner_config, logits_dimension, center_bias)
        self._learner_config = learner_config
        self._serialized_config = learner_config.SerializeToString()
        self._num_quantiles = num_quantiles
        self._max_tree_depth = Variable(
            initial_value=learner_config.constraints.max_tree_depth
        )
        self._attempted_trees, self._finalized_trees = (
            Variable(zeros([], dtypes.int64), trainable=False, name=name)
            for name in ("attempted_trees", "finalized_trees")
        )
        self._features: TreeFeatures = tree_features(
            features, feature_columns, use_core_columns
        )
        is_oblivious = (
            learner_config.weak_learner_type == LearnerConfig.OBLIVIOUS_DECISION_TREE
        )
        if is_oblivious and self._features.floats:
            raise ValueError("Oblivious trees don't handle sparse float features yet.")
        if output_leaf_index_modes is None:
            output_leaf_index_modes = [ModeKeys.INFER]
        elif any(mode not in _MODES for mode in output_leaf_index_modes):
            raise ValueError("output_leaf_index_modes should only contain ModeKeys.")
        self._leaf_modes = output_leaf_index_modes if output_leaf_index else ()

    # --- predictions -----------------------------------------------------------

    def predict(self, mode: str) -> dict[str, Any]:
        """Predictions and what training needs to know of the ensemble.

        Args:
          mode: a `tf.contrib.learn.ModeKeys`.

        Raises:
          ValueError: there are no features.
        """
        inputs = self._features.inputs()
        if not inputs:
            raise ValueError("No input tensors for prediction.")
        handle = self._ensemble_handle
        stamp = apply_op("TreeEnsembleStampToken", tree_ensemble_handle=handle)
        if handle.device == inputs[0].device:
            with device(handle.device):
                return self._predicted(handle, stamp, mode)
        local, refresh, stamp = self._local_copy(stamp, inputs[0])
        with control_dependencies([refresh]):
            return self._predicted(local, stamp, mode)

    def _local_copy(self, stamp: Any, first_input: Any) -> tuple[Any, Any, Any]:
        """(handle, what brings it up to date, stamp) of a copy beside the features."""
        with name_scope("local_ensemble", "TreeEnsembleVariable"):
            local = apply_op(
                "DecisionTreeEnsembleResourceHandleOp",
                container=self._ensemble_handle.op.name + "/local_ensemble",
            )
            create = apply_op(
                "CreateTreeEnsembleVariable",
                tree_ensemble_handle=local,
                stamp_token=-1,
                tree_ensemble_config="",
            )
            with control_dependencies([create]):
                local_stamp = apply_op(
                    "TreeEnsembleStampToken", tree_ensemble_handle=local
                )

        def refreshed() -> Any:
            with control_dependencies([first_input]):
                newest, trees = apply_op(
                    "TreeEnsembleSerialize", tree_ensemble_handle=self._ensemble_handle
                )
            with control_dependencies([create]):
                replaced = apply_op(
                    "TreeEnsembleDeserialize",
                    tree_ensemble_handle=local,
                    stamp_token=newest,
                    tree_ensemble_config=trees,
                )
            return replaced, newest

        with device(local.device):
            colocated = identity(stamp)
            refresh, stamp = cond(
                not_equal(colocated, local_stamp),
                refreshed,
                lambda: (no_op(), colocated),
            )
        return local, refresh, stamp

    def _predicted(self, handle: Any, stamp: Any, mode: str) -> dict[str, Any]:
        ensemble: dict[str, Any] = {"tree_ensemble_handle": handle}
        stats = apply_op("TreeEnsembleStats", **ensemble, stamp_token=stamp)
        used = apply_op(
            "TreeEnsembleUsedHandlers",
            **ensemble,
            stamp_token=stamp,
            num_all_handlers=len(self._features.names),
        )
        attempted_trees, attempted_layers = stats[4], stats[5]
        features: dict[str, Any] = self._features.arguments()
        trains = mode == ModeKeys.TRAIN
        leaves_too = mode in self._leaf_modes
        # What reads the stamp runs first: it sees that the ensemble has the right one.
        with control_dependencies(list(stats)):
            predicted = apply_op(
                f"GradientTreesPrediction{'Verbose' if leaves_too else ''}",
                **ensemble,
                seed=attempted_trees if trains else -1,
                **features,
                learner_config=self._serialized_config,
                apply_dropout=trains,
                apply_averaging=not trains,
                use_locking=True,
                center_bias=self._center_bias,
                reduce_dim=self._learner_config.multi_class_strategy
                == LearnerConfig.TREE_PER_CLASS
                and self._learner_config.num_classes == 2,
            )
            leaves = apply_op(
                "GradientTreesPartitionExamples",
                **ensemble,
                **features,
                use_locking=True,
            )
        found = {
            ENSEMBLE_STAMP: stamp,
            PREDICTIONS: predicted[0],
            PARTITION_IDS: leaves,
            NUM_LAYERS_ATTEMPTED: attempted_layers,
            NUM_TREES_ATTEMPTED: attempted_trees,
            NUM_USED_HANDLERS: used[0],
            USED_HANDLERS_MASK: used[1],
        }
        return {**found, LEAF_INDEX: predicted[2]} if leaves_too else found

    # --- training --------------------------------------------------------------

    def _class_id(self, predictions: dict[str, Any]) -> Any:
        """The class that the growing tree is of, an int32 scalar; -1 for all."""
        if (
            self._learner_config.multi_class_strategy == LearnerConfig.TREE_PER_CLASS
            and self._logits_dimension != 1
        ):
            turn = predictions[NUM_TREES_ATTEMPTED] % self._logits_dimension
            return cast(turn, dtypes.int32)
        return constant(-1, dtypes.int32)

    def update_stats(
        self,
        loss: Any,
        predictions_dict: dict[str, Any],
        gradients: Any = None,
        hessians: Any = None,
    ) -> tuple[list[Any], Any, GBDTTrainingState]:
        """Adds the statistics of a batch.

        Args:
          loss: the mean loss of the batch, a scalar.
          predictions_dict: of `predict`.
          gradients: of the loss by the logits; None for `tf.gradients`.
          hessians: the same of second derivatives.

        Returns:
          Operations that add; one that takes all trees away and begins anew; the
          resources that training uses.

        Raises:
          ValueError: hessians of several classes are given.
        """
        statistics = TrainingStatistics(
            self._features,
            self._learner_config,
            self._logits_dimension,
            self._shapes.gradient,
            self._shapes.hessian,
            self._num_quantiles,
            self._num_ps_replicas,
        )
        updates = statistics.update(
            loss,
            predictions_dict,
            self._class_id(predictions_dict),
            self._loss_reduction == Reduction.SUM,
            self._center_bias,
            (gradients, hessians),
        )
        state = statistics.state
        return updates, self._reset(state) if self._is_chief else no_op(), state

    def _reset(self, state: GBDTTrainingState) -> Any:
        stamp, _ = apply_op(
            "TreeEnsembleSerialize", tree_ensemble_handle=self._ensemble_handle
        )
        after = stamp + 1
        resets: list[Any] = [h.reset(stamp, after) for h in state.handlers]
        if self._center_bias:
            resets.append(state.bias_stats_accumulator.flush(stamp, after))
        resets.append(state.steps_accumulator.flush(stamp, after))
        resets += [
            self._finalized_trees.assign(0).op,
            self._attempted_trees.assign(0).op,
        ]
        resets.append(
            apply_op(
                "TreeEnsembleDeserialize",
                tree_ensemble_handle=self._ensemble_handle,
                stamp_token=after,
                tree_ensemble_config="",
                name="reset_gbdt",
            )
        )
        return group(*_flat(resets))

    def increment_step_counter_and_maybe_update_ensemble(
        self, predictions_dict: dict[str, Any], training_state: GBDTTrainingState
    ) -> Any:
        """Counts the examples of a batch; with enough of them, adds a layer.

        Args:
          predictions_dict: of `predict`.
          training_state: of `update_stats`.
        """
        growth = self._growth(
            predictions_dict[ENSEMBLE_STAMP],
            training_state,
            # Workers that are no chief do not need it, and may not have it.
            predictions_dict.get(NUM_TREES_ATTEMPTED),
            self._class_id(predictions_dict),
        )
        return growth.step(
            predictions_dict[PREDICTIONS], self._examples_per_layer, self._is_chief
        )

    def make_update_ensemble_fn(
        self, ensemble_stamp: Any, training_state: Any, dropout_seed: Any, class_id: Any
    ) -> Any:
        """A function that makes the operation which adds a layer.

        Args:
          ensemble_stamp: of the ensemble.
          training_state: of `update_stats`.
          dropout_seed: which trees were left out.
          class_id: the class that the tree is of; -1 for all.

        Raises:
          ValueError: the learning rate should be searched for.
        """
        return self._growth(
            ensemble_stamp, training_state, dropout_seed, class_id
        ).update_ensemble

    def _growth(
        self, stamp: Any, state: Any, seed: Any, class_id: Any
    ) -> EnsembleGrowth:
        return EnsembleGrowth(
            self._ensemble_handle,
            self._learner_config,
            self._center_bias,
            (self._max_tree_depth, self._finalized_trees, self._attempted_trees),
            state,
            (stamp, seed, class_id),
        )

    def get_number_of_trees_tensor(self) -> tuple[Variable, Variable]:
        """(trees that are finished, trees that were tried), int64 variables."""
        return self._finalized_trees, self._attempted_trees

    def get_max_tree_depth(self) -> Variable:
        """How many layers a tree has, an int32 variable."""
        return self._max_tree_depth

    def train(
        self,
        loss: Any,
        predictions_dict: dict[str, Any],
        labels: Any,
        gradients: Any = None,
        hessians: Any = None,
    ) -> Any:
        """The operation of a training step.

        Args:
          loss: the mean loss of the batch, a scalar.
          predictions_dict: of `predict`.
          labels: TensorFlow's argument, unused.
          gradients: of the loss by the logits; None for `tf.gradients`.
          hessians: the same of second derivatives.

        Raises:
          ValueError: hessians of several classes are given.
        """
        updates, _, state = self.update_stats(
            loss, predictions_dict, gradients, hessians
        )
        with control_dependencies(updates):
            return self.increment_step_counter_and_maybe_update_ensemble(
                predictions_dict, state
            )


def _flat(results: list[Any]) -> list[Any]:
    """Operations and tensors, those of lists and tuples too."""
    flat: list[Any] = []
    for result in results:
        if isinstance(result, (list, tuple)):
            flat += _flat(list(result))
        else:
            flat.append(result)
    return flat
