"""`tf.contrib.learn.DynamicRnnEstimator`: recurrent models of whole sequences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.contrib.layers.columns.input_layers import (
    input_from_feature_columns,
    sequence_input_from_feature_columns,
)
from tensorloom.contrib.layers.columns.parsing import transform_features
from tensorloom.contrib.layers.columns.targets import (
    multi_class_target,
    regression_target,
)
from tensorloom.contrib.layers.dense import fully_connected
from tensorloom.contrib.layers.training_step import OPTIMIZER_SUMMARIES, optimize_loss
from tensorloom.contrib.learn.estimators import rnn_parts
from tensorloom.contrib.learn.estimators.model_fn_estimator import Estimator
from tensorloom.contrib.learn.estimators.rnn_parts import PredictionType, RNNKeys
from tensorloom.contrib.learn.keys import ModeKeys, PredictionKey, ProblemType
from tensorloom.contrib.learn.model_results import ModelFnOps
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import control_dependencies, name_scope
from tensorloom.framework.types import dtypes, nest
from tensorloom.nn.dynamic_rnn import dynamic_rnn
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.identity import identity
from tensorloom.ops.array.pad import tile
from tensorloom.ops.array.reshape import expand_dims
from tensorloom.ops.array.shape import shape
from tensorloom.ops.debugging.check import assert_equal
from tensorloom.ops.debugging.check_rank import assert_rank
from tensorloom.ops.debugging.check_type import assert_type
from tensorloom.ops.reductions.reductions import argmax
from tensorloom.train.optimizers.momentum import MomentumOptimizer


def dict_to_state_tuple(input_dict: dict[str, Any], cell: Any) -> Any:
    """The state of a cell out of features; None if there is none.

    Args:
      input_dict: features, among them maybe the parts of a state, as
        `state_tuple_to_dict` calls them.
      cell: an `RNNCell`.

    Raises:
      ValueError: some parts are missing.
    """
    sizes = nest.flatten(cell.state_size)
    parts = []
    with name_scope("dict_to_state_tuple"):
        for index, size in enumerate(sizes):
            name = rnn_parts.state_name(index)
            part = input_dict.get(name)
            if part is None:
                continue
            checks = [
                assert_rank(part, 2, name=f"check_state_{index}_rank"),
                assert_equal(shape(part)[1], size, name=f"check_state_{index}_shape"),
            ]
            with control_dependencies(checks):
                parts.append(identity(part, name=name))
        if not parts:
            return None
        if len(parts) != len(sizes):
            raise ValueError(
                "RNN state was partially specified."
                f"Expected zero or {len(sizes)} state Tensors; got {len(parts)}"
            )
        like = cell.zero_state(batch_size=1, dtype=dtypes.bool)
        return nest.pack_sequence_as(like, parts)


def _concatenate_context_input(sequence_input: Any, context_input: Any) -> Any:
    """Puts the context [batch, size] beside each step of [batch, time, size]."""
    checks = []
    for name, tensor, rank in (
        ("sequence_input", sequence_input, 3),
        ("context_input", context_input, 2),
    ):
        message = f"{name} must have rank {rank}"
        checks.append(assert_rank(tensor, rank, message=message, data=[shape(tensor)]))
        message = f"{name} must have dtype float32; got {tensor.dtype}."
        checks.append(assert_type(tensor, dtypes.float32, message=message))
    with control_dependencies(checks):
        steps = shape(sequence_input)[1]
        tiled = tile(expand_dims(context_input, 1), concat([[1], [steps], [1]], 0))
    return concat([sequence_input, tiled], 2)


def build_sequence_input(
    features: dict[str, Any],
    sequence_feature_columns: Any,
    context_feature_columns: Any,
    weight_collections: Any = None,
    scope: Any = None,
) -> Any:
    """The columns side by side, for each step: [batch, time, size].

    Args:
      features: tensors by their keys.
      sequence_feature_columns: columns of the steps.
      context_feature_columns: columns of whole sequences, or None.
      weight_collections: get the variables.
      scope: of the variables.
    """
    both = [*sequence_feature_columns, *(context_feature_columns or [])]
    known = {**features, **transform_features(features, both)}
    found = sequence_input_from_feature_columns(
        columns_to_tensors=known,
        feature_columns=sequence_feature_columns,
        weight_collections=weight_collections,
        scope=scope,
    )
    if context_feature_columns is None:
        return found
    context = input_from_feature_columns(
        columns_to_tensors=known,
        feature_columns=context_feature_columns,
        weight_collections=weight_collections,
        scope=scope,
    )
    return _concatenate_context_input(found, context)


def construct_rnn(
    initial_state: Any,
    sequence_input: Any,
    cell: Any,
    num_label_columns: int,
    dtype: Any = dtypes.float32,
    parallel_iterations: int | None = 32,
    swap_memory: bool = True,
) -> tuple[Any, Any]:
    """Runs a cell over sequences, with a linear layer for what is predicted.

    Args:
      initial_state: of the cell; zeros when None.
      sequence_input: [batch, time, size].
      cell: an `RNNCell`.
      num_label_columns: the size of the linear layer.
      dtype: of the state.
      parallel_iterations: of the loop.
      swap_memory: whether memory of the loop may be swapped.

    Returns:
      Activations [batch, time, num_label_columns], and the last state.
    """
    with name_scope("RNN"):
        outputs, state = dynamic_rnn(
            cell=cell,
            inputs=sequence_input,
            initial_state=initial_state,
            dtype=dtype,
            parallel_iterations=parallel_iterations,
            swap_memory=swap_memory,
            time_major=False,
        )
        activations = fully_connected(
            inputs=outputs,
            num_outputs=num_label_columns,
            activation_fn=None,
            trainable=True,
        )
        return activations, state


def _single_value_predictions(
    activations: Any,
    sequence_length: Any,
    target_column: Any,
    problem_type: int,
    predict_probabilities: bool,
) -> dict[str, Any]:
    with name_scope("SingleValuePrediction"):
        last = rnn_parts.select_last_activations(activations, sequence_length)
        name = rnn_parts.predictions_name(problem_type)
        found = target_column.logits_to_predictions(last, proba=predict_probabilities)
        if not predict_probabilities:
            return {name: found}
        return {PredictionKey.PROBABILITIES: found, name: argmax(found, 1)}


def _single_value_loss(
    activations: Any,
    labels: Any,
    sequence_length: Any,
    target_column: Any,
    features: Any,
) -> Any:
    with name_scope("SingleValueLoss"):
        last = rnn_parts.select_last_activations(activations, sequence_length)
        return target_column.loss(last, labels, features)


def _output_alternatives(
    prediction_type: int, problem_type: int, predictions: dict[str, Any]
) -> dict[Any, Any] | None:
    if prediction_type == PredictionType.MULTIPLE_VALUE:
        return None
    served = {
        key: value
        for key, value in predictions.items()
        if RNNKeys.STATE_PREFIX not in key
    }
    return {"dynamic_rnn_output": (problem_type, served)}


def _check_prediction_type(prediction_type: int) -> None:
    known = (PredictionType.SINGLE_VALUE, PredictionType.MULTIPLE_VALUE)
    if prediction_type not in known:
        raise ValueError(
            "prediction_type must be one of PredictionType.MULTIPLE_VALUE or "
            f"PredictionType.SINGLE_VALUE; got {prediction_type}"
        )


def get_dynamic_rnn_model_fn(
    cell_type: Any,
    num_units: Any,
    target_column: Any,
    problem_type: int,
    prediction_type: int,
    optimizer: Any,
    sequence_feature_columns: Any,
    context_feature_columns: Any = None,
    predict_probabilities: bool = False,
    learning_rate: float | None = None,
    gradient_clipping_norm: float | None = None,
    dropout_keep_probabilities: Sequence[float] | None = None,
    sequence_length_key: str = RNNKeys.SEQUENCE_LENGTH_KEY,
    dtype: Any = dtypes.float32,
    parallel_iterations: int | None = None,
    swap_memory: bool = True,
    name: str = "DynamicRNNModel",
) -> Callable[..., ModelFnOps]:
    """The model function of a recurrent model.

    Args:
      cell_type: as `construct_rnn_cell` takes it.
      num_units: of the cell, or of each layer.
      target_column: makes predictions and the loss.
      problem_type: a `ProblemType`.
      prediction_type: a `PredictionType`.
      optimizer: as `optimize_loss` takes it.
      sequence_feature_columns: columns of the steps.
      context_feature_columns: columns of whole sequences, or None.
      predict_probabilities: whether probabilities come, too.
      learning_rate: of the optimizer.
      gradient_clipping_norm: the most that the gradients' norm may be.
      dropout_keep_probabilities: as `construct_rnn_cell` takes them.
      sequence_length_key: the key of the sequences' lengths; all steps count without.
      dtype: of the state.
      parallel_iterations: of the loop.
      swap_memory: whether memory of the loop may be swapped.
      name: of the name scope.

    Raises:
      ValueError: a type is none of those, or does not fit `predict_probabilities`.
    """
    rnn_parts.check_problem(problem_type, predict_probabilities)
    _check_prediction_type(prediction_type)
    multiple = prediction_type == PredictionType.MULTIPLE_VALUE

    def predict(activations: Any, length: Any) -> dict[str, Any]:
        if multiple:
            return rnn_parts.multi_value_predictions(
                activations, target_column, problem_type, predict_probabilities
            )
        return _single_value_predictions(
            activations, length, target_column, problem_type, predict_probabilities
        )

    def dynamic_rnn_model_fn(features: Any, labels: Any, mode: str) -> ModelFnOps:
        loss = metrics = train_op = None
        with name_scope(name):
            length = features.get(sequence_length_key)
            inputs = build_sequence_input(
                features, sequence_feature_columns, context_feature_columns
            )
            training = mode == ModeKeys.TRAIN
            dropout = dropout_keep_probabilities if training else None
            cell = rnn_parts.construct_rnn_cell(num_units, cell_type, dropout)
            activations, state = construct_rnn(
                dict_to_state_tuple(features, cell),
                inputs,
                cell,
                target_column.num_label_columns,
                dtype=dtype,
                parallel_iterations=parallel_iterations,
                swap_memory=swap_memory,
            )
            predictions = predict(activations, length)
            if mode != ModeKeys.INFER:
                loss_of = rnn_parts.multi_value_loss if multiple else _single_value_loss
                loss = loss_of(activations, labels, length, target_column, features)
            predictions.update(rnn_parts.state_tuple_to_dict(state))
            if mode != ModeKeys.INFER:
                metrics = rnn_parts.get_eval_metric_ops(
                    problem_type, prediction_type, length, predictions, labels
                )
            if training:
                train_op = optimize_loss(
                    loss=loss,
                    global_step=None,
                    learning_rate=learning_rate,
                    optimizer=optimizer,
                    clip_gradients=gradient_clipping_norm,
                    summaries=OPTIMIZER_SUMMARIES,
                )
        return ModelFnOps(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            output_alternatives=_output_alternatives(
                prediction_type, problem_type, predictions
            ),
        )

    return dynamic_rnn_model_fn


def target_of(problem_type: int, num_classes: int | None) -> tuple[Any, str]:
    """What makes predictions and losses, and what the model's name ends in.

    Raises:
      ValueError: the problem is another one, or classes are not counted.
    """
    if problem_type == ProblemType.LINEAR_REGRESSION:
        return regression_target(), "Regressor"
    if problem_type != ProblemType.CLASSIFICATION:
        raise ValueError(
            "problem_type must be either ProblemType.LINEAR_REGRESSION or "
            f"ProblemType.CLASSIFICATION; got {problem_type}"
        )
    if not num_classes:
        raise ValueError(
            "For CLASSIFICATION problem_type, num_classes must be specified."
        )
    return multi_class_target(n_classes=num_classes), "Classifier"


@export("contrib.learn.DynamicRnnEstimator")
class DynamicRnnEstimator(Estimator):
    """A recurrent model of whole sequences.

    Args:
      problem_type: `ProblemType.CLASSIFICATION` or `LINEAR_REGRESSION`.
      prediction_type: a `PredictionType`: for a sequence, or for each of its steps.
      sequence_feature_columns: columns of `tf.contrib.layers` for the steps.
      context_feature_columns: columns for whole sequences, or None.
      num_classes: how many classes there are.
      num_units: of the cell, or of each layer.
      cell_type: "basic_rnn", "lstm", "gru", or a class of cells.
      optimizer: its name, a class, an optimizer or a function.
      learning_rate: of the optimizer.
      predict_probabilities: whether probabilities come, too.
      momentum: of the optimizer "Momentum".
      gradient_clipping_norm: the most that the gradients' norm may be.
      dropout_keep_probabilities: of what goes into each layer and comes out of the
        last; no dropout when None.
      model_dir: where checkpoints and events go.
      feature_engineering_fn: from (features, labels) of the input to the model's.
      config: a `RunConfig`.

    Raises:
      ValueError: a type is none of those, or classes are not counted.
    """

    def __init__(
        self,
        problem_type: int,
        prediction_type: int,
        sequence_feature_columns: Any,
        context_feature_columns: Any = None,
        num_classes: int | None = None,
        num_units: Any = None,
        cell_type: Any = "basic_rnn",
        optimizer: Any = "SGD",
        learning_rate: float | None = 0.1,
        predict_probabilities: bool = False,
        momentum: float | None = None,
        gradient_clipping_norm: float | None = 5.0,
        dropout_keep_probabilities: Sequence[float] | None = None,
        model_dir: Any = None,
        feature_engineering_fn: Any = None,
        config: Any = None,
    ) -> None:
        _check_prediction_type(prediction_type)
        multiple = prediction_type == PredictionType.MULTIPLE_VALUE
        name = "MultiValueDynamicRNN" if multiple else "SingleValueDynamicRNN"
        target_column, kind = target_of(problem_type, num_classes)
        if optimizer == "Momentum":
            optimizer = MomentumOptimizer(learning_rate, momentum)
        model_fn = get_dynamic_rnn_model_fn(
            cell_type=cell_type,
            num_units=num_units,
            target_column=target_column,
            problem_type=problem_type,
            prediction_type=prediction_type,
            optimizer=optimizer,
            sequence_feature_columns=sequence_feature_columns,
            context_feature_columns=context_feature_columns,
            predict_probabilities=predict_probabilities,
            learning_rate=learning_rate,
            gradient_clipping_norm=gradient_clipping_norm,
            dropout_keep_probabilities=dropout_keep_probabilities,
            name=name + kind,
        )
        super().__init__(
            model_fn=model_fn,
            model_dir=model_dir,
            config=config,
            feature_engineering_fn=feature_engineering_fn,
        )
