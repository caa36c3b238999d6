"""The model function of forests, with the hooks that end their training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from tensorloom.client.program import program_log
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.estimator import heads as core_heads
from tensorloom.contrib.layers.columns.parsing import transform_features
from tensorloom.contrib.learn.head.makers import multi_class_head, regression_head
from tensorloom.contrib.learn.keys import ModeKeys, ProblemType
from tensorloom.contrib.learn.model_results import ModelFnOps
from tensorloom.contrib.tensor_forest.metric_table import (
    INFERENCE_PRED_NAME,
    INFERENCE_PROB_NAME,
)
from tensorloom.estimator.export.outputs import PredictOutput
from tensorloom.feature_column.input_layers import (
    transform_features as transform_core_features,
)
from tensorloom.framework.export import export, export_value
from tensorloom.framework.graph.graph import Tensor, control_dependencies
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.losses.weighted import Reduction
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow.builders import group
from tensorloom.ops.math import math_ops
from tensorloom.ops.reductions.reductions import reduce_sum
from tensorloom.ops.state.reference_variable import assign_add
from tensorloom.summary import summary
from tensorloom.train import training_util
from tensorloom.train.hooks.session_run_hook import SessionRunArgs, SessionRunHook

NAMESPACE: Final = "contrib.tensor_forest.client.random_forest"
KEYS_NAME: Final = "keys"
LOSS_NAME: Final = "rf_training_loss"
TREE_PATHS_PREDICTION_KEY: Final = "tree_paths"
VARIANCE_PREDICTION_KEY: Final = "prediction_variance"
ALL_SERVING_KEY: Final = "tensorforest_all"
EPSILON: Final = 0.000001
for _name in (
    "KEYS_NAME",
    "LOSS_NAME",
    "TREE_PATHS_PREDICTION_KEY",
    "VARIANCE_PREDICTION_KEY",
    "ALL_SERVING_KEY",
    "EPSILON",
    "PredictOutput",
):
    export_value(globals()[_name], f"{NAMESPACE}.{_name}")


@export(f"{NAMESPACE}.ModelBuilderOutputType")
class ModelBuilderOutputType:
    """What a model function gives."""

    MODEL_FN_OPS: Final = 0  # `tf.contrib.learn.ModelFnOps`
    ESTIMATOR_SPEC: Final = 1  # `tf.estimator.EstimatorSpec`


@export(f"{NAMESPACE}.TensorForestRunOpAtEndHook")
class TensorForestRunOpAtEndHook(SessionRunHook):
    """Runs operations before the session ends, and logs what they give.

    Args:
      op_dict: the operations, by names; they run in the order of these.
    """

    def __init__(self, op_dict: dict[str, Any]) -> None:
        self._ops = op_dict

    def end(self, session: Any) -> None:
        """Runs them."""
        for name in sorted(self._ops):
            program_log.info("%s: %s", name, session.run(self._ops[name]))


@export(f"{NAMESPACE}.TensorForestLossHook")
class TensorForestLossHook(SessionRunHook):
    """Stops training when the loss falls no more.

    Args:
      early_stopping_rounds: after so many steps without a lower loss.
      early_stopping_loss_threshold: by which part of itself it must fall.
      loss_op: the loss; None for the first output of the operation `LOSS_NAME`.
    """

    def __init__(
        self,
        early_stopping_rounds: int,
        early_stopping_loss_threshold: float | None = None,
        loss_op: Any = None,
    ) -> None:
        self.early_stopping_rounds = early_stopping_rounds
        self.early_stopping_loss_threshold = early_stopping_loss_threshold
        self.loss_op = loss_op
        self.min_loss: Any = None
        self.last_step = -1
        # Steps since the loss was lowest.
        self.steps = 0

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Reads step and loss."""
        loss = self.loss_op
        if loss is None:
            graph = run_context.session.graph
            loss = graph.get_operation_by_name(LOSS_NAME).outputs[0]
        step = training_util.get_global_step()
        return SessionRunArgs({"global_step": step, "current_loss": loss})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Counts, and asks for a stop when the loss was not lower for long."""
        loss = run_values.results["current_loss"]
        step = run_values.results["global_step"]
        self.steps += 1
        # A step may be below the last one after training was recovered.
        if self.last_step == -1 or self.last_step > step:
            program_log.info("TensorForestLossHook resetting last_step.")
            self.last_step, self.steps, self.min_loss = step, 0, None
            return
        self.last_step = step
        share = self.early_stopping_loss_threshold or 0.0
        if self.min_loss is None or loss < self.min_loss - self.min_loss * share:
            self.min_loss, self.steps = loss, 0
        if self.steps > self.early_stopping_rounds:
            program_log.info("TensorForestLossHook requesting stop.")
            run_context.request_stop()


def default_head(
    params: Any, weights_name: str | None, output_type: int, name: str | None = None
) -> Any:
    """A head for what a forest predicts.

    Args:
      params: filled `ForestHParams`.
      weights_name: the key of the feature that has the weights; None for none.
      output_type: a `ModelBuilderOutputType`.
      name: of the head.
    """
    if output_type == ModelBuilderOutputType.MODEL_FN_OPS:
        options: dict[str, Any] = {
            "weight_column_name": weights_name,
            "enable_centered_bias": False,
            "head_name": name,
        }
        if params.regression:
            return regression_head(label_dimension=params.num_outputs, **options)
        return multi_class_head(params.num_classes, **options)
    options = {
        "weight_column": weights_name,
        "name": name,
        "loss_reduction": Reduction.SUM_OVER_BATCH_SIZE,
    }
    if params.regression:
        return core_heads.regression_head(label_dimension=params.num_outputs, **options)
    if params.num_classes == 2:
        return core_heads.binary_classification_head(**options)
    return core_heads.multi_class_head(n_classes=params.num_classes, **options)


@export(f"{NAMESPACE}.get_model_fn")
def get_model_fn(
    params: Any,
    graph_builder_class: Callable[..., Any],
    device_assigner: Any,
    feature_columns: Any = None,
    weights_name: str | None = None,
    model_head: Any = None,
    keys_name: str | None = None,
    early_stopping_rounds: int | None = 100,
    early_stopping_loss_threshold: float = 0.001,
    num_trainers: int = 1,
    trainer_id: int = 0,
    report_feature_importances: bool = False,
    local_eval: bool = False,
    head_scope: Any = None,
    include_all_in_serving: bool = False,
    output_type: int = ModelBuilderOutputType.MODEL_FN_OPS,
) -> Callable[..., Any]:
    """The model function of a forest.

    Args:
      params: filled `ForestHParams`.
      graph_builder_class: makes the forest's graphs: `RandomForestGraphs` or a like.
      device_assigner: a device function for the trees; None for the builder's.
      feature_columns: columns that are made of the features; None for the features.
      weights_name: the key of the feature that has the weights; None for none.
      model_head: makes loss, predictions and metrics; by `params` when None.
      keys_name: the key of a feature that predictions tell again; None for none.
      early_stopping_rounds: training ends after so many steps without a lower loss;
        never when 0 or None.
      early_stopping_loss_threshold: by which part of itself the loss must fall.
      num_trainers: how many trainers the trees are divided among.
      trainer_id: which of them this one is.
      report_feature_importances: whether the end of training logs them.
      local_eval: whether evaluation uses no `device_assigner`.
      head_scope: of the head's variables.
      include_all_in_serving: whether all predictions can be served, as
        `ALL_SERVING_KEY`.
      output_type: a `ModelBuilderOutputType`.
    """
    if model_head is None:
        model_head = default_head(params, weights_name, output_type)
    gives_spec = output_type == ModelBuilderOutputType.ESTIMATOR_SPEC

    def without(features: dict[str, Any], name: str | None) -> Any:
        return features.pop(name, None) if name else None

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        features = _transformed(features, feature_columns, gives_spec)
        weights = without(features, weights_name)
        keys = without(features, keys_name)
        is_local = mode == ModeKeys.INFER or (local_eval and mode == ModeKeys.EVAL)
        forest = graph_builder_class(
            params, device_assigner=None if is_local else device_assigner
        )
        logits, paths, variance = forest.inference_graph(features)
        summary.scalar("average_tree_size", forest.average_size())
        if not params.regression and params.num_classes == 2:
            logits = _log_odds(logits)
        train_op = None
        if labels is not None and mode == ModeKeys.TRAIN:
            # Predictions are those of the forest before the step.
            with control_dependencies([logits.op]):
                train_op = group(
                    forest.training_graph(
                        features,
                        labels,
                        input_weights=weights,
                        num_trainers=num_trainers,
                        trainer_id=trainer_id,
                    ),
                    assign_add(training_util.get_global_step(), 1),
                )
        if weights is not None:
            features[weights_name] = weights
        hooks: list[Any] = [_at_end(forest, report_feature_importances)]
        # A forest does not learn by its loss.
        arguments = {
            "features": features,
            "labels": labels,
            "mode": mode,
            "train_op_fn": lambda loss: train_op,
            "logits": logits,
        }
        if gives_spec:
            made = model_head.create_estimator_spec(**arguments)
        else:
            made = model_head.create_model_fn_ops(**arguments, scope=head_scope)
        if early_stopping_rounds:
            hooks.append(
                TensorForestLossHook(
                    early_stopping_rounds, early_stopping_loss_threshold, made.loss
                )
            )
        if keys is not None:
            made.predictions[keys_name] = keys
        if params.inference_tree_paths:
            made.predictions[TREE_PATHS_PREDICTION_KEY] = paths
        made.predictions[VARIANCE_PREDICTION_KEY] = variance
        if gives_spec:
            return _finished_spec(made, hooks, include_all_in_serving)
        return _finished_ops(made, hooks, include_all_in_serving)

    return model_fn


def _transformed(features: Any, columns: Any, core: bool) -> dict[str, Any]:
    """The features as a dict that may be changed, with the columns' tensors."""
    if isinstance(features, (Tensor, SparseTensor)):
        features = {"features": features}
    features = features.copy()
    if not columns:
        return dict(features)
    if core:
        for column in columns:
            found = transform_core_features(features, [column])
            features[column.name] = found[column]
    else:
        features.update(transform_features(features, columns))
    return dict(features)


def _log_odds(probabilities: Any) -> Any:
    """Logits of the second of two classes; finite for probabilities of 0 and 1."""
    second = array_ops.slice(probabilities, [0, 1], [-1, 1])
    odds = second / math_ops.maximum(1.0 - second, EPSILON)
    return math_ops.log(math_ops.maximum(odds, EPSILON))


def _at_end(forest: Any, report_feature_importances: bool) -> SessionRunHook:
    """Frees the forest, which sessions of one process would share."""
    freed = [
        apply_op("DestroyResourceOp", resource=handle)
        for handle in forest.get_all_resource_handles()
    ]
    last = {"9: clean up resources": group(*freed)}
    if report_feature_importances:
        last["1: feature_importances"] = forest.feature_importances()
    return TensorForestRunOpAtEndHook(last)


def _finished_ops(made: Any, hooks: Sequence[Any], serves_all: bool) -> Any:
    made.training_hooks.extend(hooks)
    if serves_all:
        alternatives = made.output_alternatives or {}
        alternatives[ALL_SERVING_KEY] = ProblemType.UNSPECIFIED, made.predictions
        made = made._replace(output_alternatives=alternatives)
    return made


def _finished_spec(spec: Any, hooks: list[Any], serves_all: bool) -> Any:
    spec = spec._replace(training_hooks=hooks + list(spec.training_hooks))
    if serves_all:
        outputs = {ALL_SERVING_KEY: PredictOutput(spec.predictions)}
        spec = spec._replace(export_outputs=outputs)
    return spec


@export(f"{NAMESPACE}.get_combined_model_fn")
def get_combined_model_fn(model_fns: Sequence[Callable[..., Any]]) -> Any:
    """The model function of several forests, each for one column of the labels.

    Training steps are done together, losses are averaged, probabilities stand side by
    side, and classes are [examples, forests].

    Args:
      model_fns: of `get_model_fn`.
    """

    def model_fn(features: Any, labels: Any, mode: str) -> ModelFnOps:
        parts = []
        for index, one in enumerate(model_fns):
            with variable_scope(f"label_{index}"):
                column = array_ops.slice(labels, [0, index], [-1, 1])
                parts.append(one(features, column, mode))
        predictions: dict[str, Any] = {}
        loss = train_op = None
        if mode in (ModeKeys.EVAL, ModeKeys.INFER):
            found = [part.predictions for part in parts]
            predictions[INFERENCE_PROB_NAME] = array_ops.concat(
                [one[INFERENCE_PROB_NAME] for one in found], axis=1
            )
            predictions[INFERENCE_PRED_NAME] = array_ops.stack(
                [one[INFERENCE_PRED_NAME] for one in found], axis=1
            )
        if mode in (ModeKeys.EVAL, ModeKeys.TRAIN):
            losses = array_ops.stack([part.loss for part in parts])
            loss = reduce_sum(losses) / len(parts)
        if mode == ModeKeys.TRAIN:
            train_op = group(*(part.train_op for part in parts))
        return ModelFnOps(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            training_hooks=[hook for part in parts for hook in part.training_hooks],
            scaffold=None,
            output_alternatives=None,
        )

    return model_fn
