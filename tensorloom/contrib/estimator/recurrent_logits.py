"""The network of the recurrent models: sequences, a cell, logits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.feature_column.sequences import sequence_input_layer
from tensorloom.feature_column.input_layers import input_layer
from tensorloom.framework.graph.graph import control_dependencies, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.layers.core import dense
from tensorloom.nn.dynamic_rnn import dynamic_rnn
from tensorloom.nn.rnn_cell import RNNCell
from tensorloom.nn.rnn_cell_wrappers import MultiRNNCell
from tensorloom.nn.rnn_cells import BasicLSTMCell, BasicRNNCell, GRUCell
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.pad import tile
from tensorloom.ops.array.reshape import expand_dims, reshape
from tensorloom.ops.array.shape import shape as shape_of
from tensorloom.ops.debugging.check_rank import assert_rank
from tensorloom.ops.debugging.check_type import assert_type
from tensorloom.ops.indexing.gather import gather
from tensorloom.ops.indexing.one_hot import sequence_mask
from tensorloom.ops.math import math_ops
from tensorloom.ops.math.cast import to_int64
from tensorloom.ops.state.initializers import GlorotUniform
from tensorloom.summary import summary

_CELLS: Final[dict[str, type]] = {
    "basic_rnn": BasicRNNCell,
    "lstm": BasicLSTMCell,
    "gru": GRUCell,
}


def make_rnn_cell_fn(
    num_units: Iterable[int], cell_type: Any = "basic_rnn"
) -> Callable[[str], Any]:
    """A function of a mode that makes a cell of as many layers as there are sizes.

    Args:
      num_units: of each layer.
      cell_type: `"basic_rnn"`, `"lstm"`, `"gru"` or a subclass of `RNNCell`.

    Raises:
      ValueError: when called: another class.
      TypeError: when called: another string, as in TensorFlow.
    """

    def rnn_cell_fn(mode: str) -> Any:
        cells = [_cell(size, cell_type) for size in num_units]
        return cells[0] if len(cells) == 1 else MultiRNNCell(cells)

    return rnn_cell_fn


def _cell(num_units: int, cell_type: Any) -> Any:
    kind = _CELLS.get(cell_type, cell_type)
    if not kind or not issubclass(kind, RNNCell):
        raise ValueError(f"Supported cell types are {list(_CELLS)}; got {cell_type}")
    return kind(num_units=num_units)


def concatenate_context_input(sequence_input: Any, context_input: Any) -> Any:
    """The context beside each step: `[batch, steps, d0 + d1]`.

    Args:
      sequence_input: float32 `[batch, steps, d0]`.
      context_input: float32 `[batch, d1]`.

    Raises:
      ValueError: another rank.
      TypeError: another dtype.
    """
    checks = []
    for name, tensor, rank in (
        ("sequence_input", sequence_input, 3),
        ("context_input", context_input, 2),
    ):
        size = [shape_of(tensor)]
        problem = f"{name} must have rank {rank}"
        checks.append(assert_rank(tensor, rank, message=problem, data=size))
        problem = f"{name} must have dtype float32; got {tensor.dtype}."
        checks.append(assert_type(tensor, dtypes.float32, message=problem))
    with control_dependencies(checks):
        steps = shape_of(sequence_input)[1]
        repeated = tile(expand_dims(context_input, 1), concat([[1], [steps], [1]], 0))
    return concat([sequence_input, repeated], 2)


def select_last_activations(activations: Any, sequence_lengths: Any) -> Any:
    """What each sequence has in its last step: `[batch, units]`.

    Args:
      activations: `[batch, steps, units]`.
      sequence_lengths: int64 `[batch]`; all are full if None.
    """
    with name_scope(
        None, "select_last_activations", values=[activations, sequence_lengths]
    ):
        sizes = shape_of(activations)
        batch, steps, units = sizes[0], sizes[1], sizes[2]
        if sequence_lengths is None:
            sequence_lengths = to_int64(steps)
        starts = to_int64(math_ops.range(batch) * steps)
        rows = reshape(activations, [batch * steps, units])
        last = gather(rows, starts + sequence_lengths - 1)
        last.set_shape([activations.shape[0], activations.shape[2]])
        return last


def rnn_logit_fn_builder(
    output_units: int,
    rnn_cell_fn: Callable[[str], Any],
    sequence_feature_columns: Any,
    context_feature_columns: Any,
    input_layer_partitioner: Any,
    return_sequences: bool = False,
) -> Callable[..., Any]:
    """A function of features and a mode: the logits, and which steps are there.

    Args:
      output_units: number of logits.
      rnn_cell_fn: makes the cell for a mode.
      sequence_feature_columns: of what differs in each step.
      context_feature_columns: of what is the same in each step.
      input_layer_partitioner: cuts the variables of the columns.
      return_sequences: logits for each step, not for the last alone.

    Raises:
      ValueError: `output_units` is not an int.
    """
    if not isinstance(output_units, int):
        raise ValueError(
            f"output_units must be an int.  Given type: {type(output_units)}"
        )

    def rnn_logit_fn(features: Mapping[str, Any], mode: str) -> tuple[Any, Any]:
        with variable_scope(
            "sequence_input_layer",
            values=tuple(features.values()),
            partitioner=input_layer_partitioner,
        ):
            inputs, lengths = sequence_input_layer(features, sequence_feature_columns)
            summary.histogram("sequence_length", lengths)
            if context_feature_columns:
                context = input_layer(features, context_feature_columns)
                inputs = concatenate_context_input(inputs, context)
        outputs, _ = dynamic_rnn(
            rnn_cell_fn(mode),
            inputs,
            sequence_length=lengths,
            dtype=dtypes.float32,
            time_major=False,
        )
        if not return_sequences:
            outputs = select_last_activations(outputs, lengths)
        with variable_scope("logits", values=(outputs,)):
            logits = dense(
                outputs,
                units=output_units,
                activation=None,
                kernel_initializer=GlorotUniform(),
            )
        return logits, sequence_mask(lengths)

    return rnn_logit_fn
