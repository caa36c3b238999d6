"""What recurrent models share: cells, last activations, masks, predictions, metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tensorloom.contrib.learn.keys import PredictionKey, ProblemType
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import nest
from tensorloom.metrics.averages import accuracy
from tensorloom.nn.rnn_cell import RNNCell
from tensorloom.nn.rnn_cell_wrappers import DropoutWrapper, MultiRNNCell
from tensorloom.nn.rnn_cells import BasicRNNCell, GRUCell
from tensorloom.nn.rnn_lstm_cell import LSTMCell
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.identity import identity
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.array.shape import shape
from tensorloom.ops.indexing.gather import gather
from tensorloom.ops.indexing.one_hot import sequence_mask
from tensorloom.ops.indexing.selection import boolean_mask
from tensorloom.ops.math.sequence import range as sequence
from tensorloom.ops.reductions.reductions import argmax

_CELLS: Final[dict[Any, Any]] = {
    "basic_rnn": BasicRNNCell,
    "lstm": LSTMCell,
    "gru": GRUCell,
}


class RNNKeys:
    """Keys of features and predictions of recurrent models."""

    FINAL_STATE_KEY = "final_state"
    LABELS_KEY = "__labels__"
    SEQUENCE_LENGTH_KEY = "sequence_length"
    STATE_PREFIX = "rnn_cell_state"


class PredictionType:
    """Whether there is a prediction for a sequence, or one for each step."""

    SINGLE_VALUE = 1
    MULTIPLE_VALUE = 2


def _single_cell(cell_type: Any, num_units: int) -> Any:
    found = _CELLS.get(cell_type, cell_type)
    if not found or not issubclass(found, RNNCell):
        raise ValueError(f"The supported cell types are {list(_CELLS)}; got {found}")
    return found(num_units=num_units)


def construct_rnn_cell(
    num_units: Any,
    cell_type: Any = "basic_rnn",
    dropout_keep_probabilities: Sequence[float] | None = None,
) -> Any:
    """A cell, or several in layers.

    Args:
      num_units: of the cell, or of each layer.
      cell_type: "basic_rnn", "lstm", "gru", or a class of cells.
      dropout_keep_probabilities: of what goes into each layer and comes out of the
        last; no dropout when None.

    Raises:
      ValueError: the type is none of cells, or there are not as many probabilities.
    """
    units = num_units if isinstance(num_units, list | tuple) else (num_units,)
    cells = [_single_cell(cell_type, n) for n in units]
    if dropout_keep_probabilities:
        cells = apply_dropout(cells, dropout_keep_probabilities)
    return cells[0] if len(cells) == 1 else MultiRNNCell(cells)


def apply_dropout(
    cells: list[Any],
    dropout_keep_probabilities: Sequence[float],
    random_seed: int | None = None,
) -> list[Any]:
    """The cells of layers with dropout.

    Args:
      cells: of the layers.
      dropout_keep_probabilities: of what goes into each layer and comes out of the
        last.
      random_seed: of what is dropped, but for the last layer.

    Raises:
      ValueError: there is not one probability more than cells.
    """
    keep = dropout_keep_probabilities
    if len(keep) != len(cells) + 1:
        raise ValueError(
            "The number of dropout probabilities must be one greater than the number "
            f"of cells. Got {len(cells)} cells and {len(keep)} dropout probabilities."
        )
    inner = zip(cells[:-1], keep[:-2], strict=True)
    wrapped = [DropoutWrapper(cell, p, 1.0, seed=random_seed) for cell, p in inner]
    return [*wrapped, DropoutWrapper(cells[-1], keep[-2], keep[-1])]


def get_eval_metric_ops(
    problem_type: int,
    prediction_type: int,
    sequence_length: Any,
    prediction_dict: dict[str, Any],
    labels: Any,
) -> dict[str, Any]:
    """The accuracy of classes; nothing for numbers."""
    if problem_type != ProblemType.CLASSIFICATION:
        return {}
    classes = prediction_dict[PredictionKey.CLASSES]
    if prediction_type == PredictionType.MULTIPLE_VALUE:
        classes, labels = mask_activations_and_labels(classes, labels, sequence_length)
    return {"accuracy": accuracy(predictions=classes, labels=labels)}


def select_last_activations(activations: Any, sequence_lengths: Any) -> Any:
    """Of activations [batch, time, size] those of each sequence's last step.

    Args:
      activations: of all steps.
      sequence_lengths: [batch]; all steps when None.
    """
    with name_scope("select_last_activations", values=[activations, sequence_lengths]):
        sizes = shape(activations)
        batch_size, steps, size = sizes[0], sizes[1], sizes[2]
        if sequence_lengths is None:
            sequence_lengths = steps
        rows = reshape(activations, [-1, size])
        last = gather(rows, sequence(batch_size) * steps + sequence_lengths - 1)
        static = activations.get_shape()
        last.set_shape([static[0], static[2]])
        return last


def mask_activations_and_labels(
    activations: Any, labels: Any, sequence_lengths: Any
) -> tuple[Any, Any]:
    """The activations and labels of all steps that are in their sequences, in rows.

    Args:
      activations: [batch, time, ...].
      labels: [batch, time].
      sequence_lengths: [batch]; all steps when None.
    """
    with name_scope(
        "mask_activations_and_labels",
        values=[activations, labels, sequence_lengths],
    ):
        sizes = shape(labels)
        batch_size, steps = sizes[0], sizes[1]
        if sequence_lengths is None:
            count = steps * batch_size
            return reshape(activations, [count, -1]), reshape(labels, [count])
        mask = sequence_mask(sequence_lengths, steps)
        return boolean_mask(activations, mask), boolean_mask(labels, mask)


def predictions_name(problem_type: int) -> str:
    """The key of the predictions."""
    classes = problem_type == ProblemType.CLASSIFICATION
    return PredictionKey.CLASSES if classes else PredictionKey.SCORES


def multi_value_predictions(
    activations: Any, target_column: Any, problem_type: int, predict_probabilities: bool
) -> dict[str, Any]:
    """A prediction for each step.

    Args:
      activations: [batch, time, size].
      target_column: what makes predictions of them.
      problem_type: a `ProblemType`.
      predict_probabilities: whether probabilities come, too.
    """
    with name_scope("MultiValuePrediction"):
        sizes = shape(activations)
        rows = reshape(activations, [-1, sizes[2]])
        found = {}
        if predict_probabilities:
            flat = target_column.logits_to_predictions(rows, proba=True)
            values = argmax(flat, 1)
            binary = target_column.num_label_columns == 1
            wanted = concat([sizes[:2], [2]], 0) if binary else sizes
            key = PredictionKey.PROBABILITIES
            found[key] = reshape(flat, wanted, name=key)
        else:
            values = target_column.logits_to_predictions(rows, proba=False)
        name = predictions_name(problem_type)
        found[name] = reshape(values, [sizes[0], sizes[1]], name=name)
        return found


def state_name(index: int) -> str:
    """The key of a part of the state."""
    return f"{RNNKeys.STATE_PREFIX}_{index}"


def state_tuple_to_dict(state: Any) -> dict[str, Any]:
    """The parts of a cell's state by their keys."""
    with name_scope("state_tuple_to_dict"):
        return {
            state_name(index): None
            if part is None
            else identity(part, name=state_name(index))
            for index, part in enumerate(nest.flatten(state))
        }


def multi_value_loss(
    activations: Any,
    labels: Any,
    sequence_length: Any,
    target_column: Any,
    features: Any,
) -> Any:
    """The loss over all steps that are in their sequences."""
    with name_scope("MultiValueLoss"):
        rows, row_labels = mask_activations_and_labels(
            activations, labels, sequence_length
        )
        return target_column.loss(rows, row_labels, features)


def check_problem(problem_type: int, predict_probabilities: bool) -> None:
    """Raises ValueError unless it is a known problem, with classes if probabilities."""
    known = (ProblemType.CLASSIFICATION, ProblemType.LINEAR_REGRESSION)
    if problem_type not in known:
        raise ValueError(
            "problem_type must be ProblemType.LINEAR_REGRESSION or "
            f"ProblemType.CLASSIFICATION; got {problem_type}"
        )
    if problem_type != ProblemType.CLASSIFICATION and predict_probabilities:
        raise ValueError(
            "predict_probabilities can only be set to True for problem_type "
            f"ProblemType.CLASSIFICATION; got {problem_type}."
        )
