"""Recurrent models of sequences in segments, whose states are kept between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tensorloom.contrib.layers.columns.input_layers import (
    sequence_input_from_feature_columns,
)
from tensorloom.contrib.layers.dense import fully_connected
from tensorloom.contrib.layers.training_step import OPTIMIZER_SUMMARIES, optimize_loss
from tensorloom.contrib.learn.estimators import rnn_parts
from tensorloom.contrib.learn.estimators.dynamic_rnn_models import target_of
from tensorloom.contrib.learn.estimators.model_fn_estimator import Estimator
from tensorloom.contrib.learn.estimators.rnn_parts import PredictionType, RNNKeys
from tensorloom.contrib.learn.keys import ModeKeys
from tensorloom.contrib.learn.model_results import ModelFnOps
from tensorloom.contrib.training.sequence_batches import batch_sequences_with_states
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.nn.rnn_cells import LSTMStateTuple
from tensorloom.nn.static_rnn import static_state_saving_rnn
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.identity import identity
from tensorloom.ops.array.pad import tile
from tensorloom.ops.array.reshape import expand_dims, squeeze
from tensorloom.ops.array.stack import stack, unstack
from tensorloom.train.optimizers.momentum import MomentumOptimizer


def construct_state_saving_rnn(
    cell: Any,
    inputs: list[Any],
    num_label_columns: int,
    state_saver: Any,
    state_name: Any,
    scope: str = "rnn",
) -> tuple[Any, Any]:
    """Runs a cell over a segment, with a linear layer for what is predicted.

    Args:
      cell: an `RNNCell`.
      inputs: [batch, size] of each step.
      num_label_columns: the size of the linear layer.
      state_saver: has and keeps the states.
      state_name: the names of the states.
      scope: of the variables.

    Returns:
      Activations [batch, time, num_label_columns], and the last state.
    """
    with name_scope(scope):
        outputs, state = static_state_saving_rnn(
            cell=cell,
            inputs=inputs,
            state_saver=state_saver,
            state_name=state_name,
            scope=scope,
        )
        activations = fully_connected(
            inputs=stack(outputs, axis=1),
            num_outputs=num_label_columns,
            activation_fn=None,
            trainable=True,
        )
        return activations, identity(state, name=RNNKeys.FINAL_STATE_KEY)


def _source_names(column: Any) -> list[str]:
    """The keys of the features that a column is made of."""
    for name in ("sparse_id_column", "source_column"):
        if hasattr(column, name):
            return [getattr(column, name).name]
    return [column.name]


def _taken(names: Iterator[str], features: dict[str, Any], kind: str) -> dict[str, Any]:
    found = {}
    for name in names:
        if features.get(name) is None:
            raise ValueError(f"No key in features for {kind} feature: {name}")
        found[name] = features[name]
    return found


def prepare_features_for_sqss(
    features: dict[str, Any],
    labels: Any,
    mode: str,
    sequence_feature_columns: Any,
    context_feature_columns: Any,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The features of steps, with the labels, and those of whole sequences.

    Raises:
      ValueError: a column has no feature.
    """
    names = (
        name for column in sequence_feature_columns for name in _source_names(column)
    )
    sequences = _taken(names, features, "sequence")
    context_names = (column.name for column in context_feature_columns or ())
    context = _taken(context_names, features, "context")
    if mode != ModeKeys.INFER:
        sequences[RNNKeys.LABELS_KEY] = labels
    return sequences, context


def get_state_names(cell: Any) -> Any:
    """The names of the parts of a cell's state, in its structure.

    Raises:
      TypeError: the size of the state is a `TensorShape`.
    """
    size = cell.state_size
    if isinstance(size, TensorShape):
        raise TypeError("cell.state_size of type TensorShape is not supported.")

    def pair(index: int) -> list[str]:
        name = rnn_parts.state_name(index)
        return [f"{name}_c", f"{name}_h"]

    if isinstance(size, int):
        return rnn_parts.state_name(0)
    if isinstance(size, LSTMStateTuple):
        return pair(0)
    if isinstance(size[0], LSTMStateTuple):
        return [pair(index) for index in range(len(size))]
    return [rnn_parts.state_name(index) for index in range(len(size))]


def get_initial_states(cell: Any) -> dict[str, Any]:
    """Zeros for each part of a cell's state, by its name."""
    names = nest.flatten(get_state_names(cell))
    values = nest.flatten(cell.zero_state(1, dtype=dtypes.float32))
    return {
        name: squeeze(value, axis=0) for name, value in zip(names, values, strict=True)
    }


def prepare_inputs_for_rnn(
    sequence_features: dict[str, Any],
    context_features: dict[str, Any],
    sequence_feature_columns: Any,
    num_unroll: int,
) -> list[Any]:
    """[batch, size] of each step of a segment: its features and the context's."""

    def every_step(feature: Any) -> Any:
        return squeeze(tile(expand_dims(feature, 1), [1, num_unroll, 1]), axis=2)

    for feature in sequence_features.values():
        if isinstance(feature, SparseTensor):
            # The queue that it came out of has lost its rank.
            feature.dense_shape.set_shape([3])
    steps = sequence_input_from_feature_columns(
        columns_to_tensors=sequence_features,
        feature_columns=sequence_feature_columns,
        weight_collections=None,
        scope=None,
    )
    steps.set_shape([None, num_unroll, None])
    if context_features:
        context = [
            every_step(context_features[key]) for key in sorted(context_features)
        ]
        steps = concat([steps, stack(context, 2)], axis=2)
    found: list[Any] = unstack(steps, axis=1)
    return found


def get_rnn_model_fn(
    cell_type: Any,
    target_column: Any,
    problem_type: int,
    optimizer: Any,
    num_unroll: int,
    num_units: Any,
    num_threads: int,
    queue_capacity: int,
    batch_size: int,
    sequence_feature_columns: Any,
    context_feature_columns: Any = None,
    predict_probabilities: bool = False,
    learning_rate: float | None = None,
    gradient_clipping_norm: float | None = None,
    dropout_keep_probabilities: Sequence[float] | None = None,
    name: str = "StateSavingRNNModel",
    seed: int | None = None,
) -> Callable[..., ModelFnOps]:
    """The model function of `StateSavingRnnEstimator`; arguments as there.

    Raises:
      ValueError: a type is none of those, or `num_unroll` not positive.
    """
    rnn_parts.check_problem(problem_type, predict_probabilities)
    if num_unroll <= 0:
        raise ValueError(f"num_unroll must be positive; got {num_unroll}.")

    def read_batch(cell: Any, features: Any, labels: Any, mode: str) -> Any:
        states = get_initial_states(cell)
        sequences, context = prepare_features_for_sqss(
            features, labels, mode, sequence_feature_columns, context_feature_columns
        )
        return batch_sequences_with_states(
            input_key="key",
            input_sequences=sequences,
            input_context=context,
            input_length=None,
            initial_states=states,
            num_unroll=num_unroll,
            batch_size=batch_size,
            pad=True,
            make_keys_unique=True,
            make_keys_unique_seed=seed,
            num_threads=num_threads,
            capacity=queue_capacity,
        )

    def rnn_model_fn(features: Any, labels: Any, mode: str) -> ModelFnOps:
        loss = metrics = train_op = None
        training, inferring = mode == ModeKeys.TRAIN, mode == ModeKeys.INFER
        with name_scope(name):
            dropout = dropout_keep_probabilities if training else None
            cell = rnn_parts.construct_rnn_cell(num_units, cell_type, dropout)
            batch = read_batch(cell, features, labels, mode)
            sequences = batch.sequences
            if not inferring:
                labels = sequences.pop(RNNKeys.LABELS_KEY)
            activations, state = construct_state_saving_rnn(
                cell=cell,
                inputs=prepare_inputs_for_rnn(
                    sequences, batch.context, sequence_feature_columns, num_unroll
                ),
                num_label_columns=target_column.num_label_columns,
                state_saver=batch,
                state_name=get_state_names(cell),
            )
            predictions = rnn_parts.multi_value_predictions(
                activations, target_column, problem_type, predict_probabilities
            )
            if not inferring:
                loss = rnn_parts.multi_value_loss(
                    activations, labels, batch.length, target_column, features
                )
                metrics = rnn_parts.get_eval_metric_ops(
                    problem_type,
                    PredictionType.MULTIPLE_VALUE,
                    batch.length,
                    predictions,
                    labels,
                )
            predictions.update(rnn_parts.state_tuple_to_dict(state))
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
        )

    return rnn_model_fn


class StateSavingRnnEstimator(Estimator):
    """A recurrent model of sequences in segments; it predicts for each step.

    Args:
      problem_type: `ProblemType.CLASSIFICATION` or `LINEAR_REGRESSION`.
      num_unroll: steps of a segment.
      batch_size: segments in a batch.
      sequence_feature_columns: columns of `tf.contrib.layers` for the steps.
      context_feature_columns: columns for whole sequences, or None.
      num_classes: how many classes there are.
      num_units: of the cell, or of each layer.
      cell_type: "basic_rnn", "lstm", "gru", or a class of cells.
      optimizer_type: its name, a class, an optimizer or a function.
      learning_rate: of the optimizer.
      predict_probabilities: whether probabilities come, too.
      momentum: of the optimizer "Momentum".
      gradient_clipping_norm: the most that the gradients' norm may be.
      dropout_keep_probabilities: of what goes into each layer and comes out of the
        last; no dropout when None.
      model_dir: where checkpoints and events go.
      config: a `RunConfig`.
      feature_engineering_fn: from (features, labels) of the input to the model's.
      num_threads: threads that read.
      queue_capacity: sequences that wait.
      seed: of the sequences' names.

    Raises:
      ValueError: a type is none of those, classes are not counted, or `num_unroll` is
        not positive.
    """

    def __init__(
        self,
        problem_type: int,
        num_unroll: int,
        batch_size: int,
        sequence_feature_columns: Any,
        context_feature_columns: Any = None,
        num_classes: int | None = None,
        num_units: Any = None,
        cell_type: Any = "basic_rnn",
        optimizer_type: Any = "SGD",
        learning_rate: float | None = 0.1,
        predict_probabilities: bool = False,
        momentum: float | None = None,
        gradient_clipping_norm: float | None = 5.0,
        dropout_keep_probabilities: Sequence[float] | None = None,
        model_dir: Any = None,
        config: Any = None,
        feature_engineering_fn: Any = None,
        num_threads: int = 3,
        queue_capacity: int = 1000,
        seed: int | None = None,
    ) -> None:
        target_column, kind = target_of(problem_type, num_classes)
        if optimizer_type == "Momentum":
            optimizer_type = MomentumOptimizer(learning_rate, momentum)
        model_fn = get_rnn_model_fn(
            cell_type=cell_type,
            target_column=target_column,
            problem_type=problem_type,
            optimizer=optimizer_type,
            num_unroll=num_unroll,
            num_units=num_units,
            num_threads=num_threads,
            queue_capacity=queue_capacity,
            batch_size=batch_size,
            sequence_feature_columns=sequence_feature_columns,
            context_feature_columns=context_feature_columns,
            predict_probabilities=predict_probabilities,
            learning_rate=learning_rate,
            gradient_clipping_norm=gradient_clipping_norm,
            dropout_keep_probabilities=dropout_keep_probabilities,
            name=f"MultiValueStateSavingRNN{kind}",
            seed=seed,
        )
        super().__init__(
            model_fn=model_fn,
            model_dir=model_dir,
            config=config,
            feature_engineering_fn=feature_engineering_fn,
        )
