"""Recurrent encoders as functions of features and labels."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.rnn.attention_cell import AttentionCellWrapper
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.nn.rnn_cell import RNNCell
from tensorloom.nn.rnn_cell_wrappers import MultiRNNCell
from tensorloom.nn.rnn_cells import BasicLSTMCell, BasicRNNCell, GRUCell
from tensorloom.nn.static_rnn import static_rnn
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.permute import reverse_sequence
from tensorloom.ops.array.stack import stack, unstack


def _reverse_seq(input_seq: list[Any], lengths: Any) -> list[Any]:
    """The steps of a list backwards, those after `lengths` where they are."""
    if lengths is None:
        return list(reversed(input_seq))
    for step in input_seq:
        step.set_shape(step.get_shape().with_rank(2))
    found: list[Any] = unstack(reverse_sequence(stack(input_seq), lengths, 0, 1))
    return found


@export("contrib.learn.models.bidirectional_rnn")
def bidirectional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: list[Any],
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: str | None = None,
) -> tuple[list[Any], Any]:
    """Runs one cell forwards and one backwards.

    Args:
      cell_fw: an `RNNCell`.
      cell_bw: another one.
      inputs: [batch, features] of each step.
      initial_state_fw: zeros when None.
      initial_state_bw: zeros when None.
      dtype: of the states, where none are given.
      sequence_length: [batch] steps of each sequence; all when None.
      scope: begins the names of the variable scopes; `BiRNN` when None.

    Returns:
      Outputs [batch, both sizes] of each step, and the last states side by side.

    Raises:
      TypeError: a cell is none, or `inputs` no list.
      ValueError: there are no inputs.
    """
    for name, cell in (("cell_fw", cell_fw), ("cell_bw", cell_bw)):
        if not isinstance(cell, RNNCell):
            raise TypeError(f"{name} must be an instance of RNNCell")
    if not isinstance(inputs, list):
        raise TypeError("inputs must be a list")
    if not inputs:
        raise ValueError("inputs must not be empty")
    name = scope or "BiRNN"
    with variable_scope(f"{name}_FW"):
        forwards, state_fw = static_rnn(
            cell_fw, inputs, initial_state_fw, dtype, sequence_length
        )
    with variable_scope(f"{name}_BW"):
        backwards, state_bw = static_rnn(
            cell_bw,
            _reverse_seq(inputs, sequence_length),
            initial_state_bw,
            dtype,
            sequence_length,
        )
    back = _reverse_seq(backwards, sequence_length)
    outputs = [concat([fw, bw], 1) for fw, bw in zip(forwards, back, strict=True)]
    return outputs, concat([state_fw, state_bw], 1)


def _cell_class(cell_type: str) -> Callable[..., Any]:
    classes: dict[str, Callable[..., Any]] = {
        "rnn": BasicRNNCell,
        "gru": GRUCell,
        "lstm": functools.partial(BasicLSTMCell, state_is_tuple=False),
    }
    if cell_type not in classes:
        raise ValueError(f"cell_type {cell_type} is not supported. ")
    return classes[cell_type]


@export("contrib.learn.models.get_rnn_model")
def get_rnn_model(
    rnn_size: int,
    cell_type: str,
    num_layers: int,
    input_op_fn: Callable[[Any], Any],
    bidirectional: bool,
    target_predictor_fn: Callable[[Any, Any], Any],
    sequence_length: Any,
    initial_state: Any,
    attn_length: int | None,
    attn_size: int | None,
    attn_vec_size: int | None,
) -> Callable[[Any, Any], Any]:
    """A function of features and labels that encodes sequences by recurrent layers.

    Args:
      rnn_size: units of a layer.
      cell_type: "rnn", "gru" or "lstm".
      num_layers: how many layers.
      input_op_fn: from features to [batch, features] of each step.
      bidirectional: whether there are layers backwards, too.
      target_predictor_fn: from the last states and the labels to what it gives:
        predictions and loss.
      sequence_length: [batch] steps of each sequence; all when None.
      initial_state: of the layers; zeros when None.
      attn_length: cells see so many steps before; none when None.
      attn_size: see `tf.contrib.rnn.AttentionCellWrapper`.
      attn_vec_size: see there.

    Raises:
      ValueError: (the function) there is no such cell.
    """

    def layers() -> MultiRNNCell:
        make = _cell_class(cell_type)
        cells = []
        for _ in range(num_layers):
            cell = make(rnn_size)
            if attn_length is not None:
                cell = AttentionCellWrapper(
                    cell,
                    attn_length=attn_length,
                    attn_size=attn_size,
                    attn_vec_size=attn_vec_size,
                    state_is_tuple=False,
                )
            cells.append(cell)
        return MultiRNNCell(cells, state_is_tuple=False)

    def rnn_estimator(x: Any, y: Any) -> Any:
        steps = input_op_fn(x)
        if bidirectional:
            _, encoding = bidirectional_rnn(
                layers(),
                layers(),
                steps,
                dtype=dtypes.float32,
                sequence_length=sequence_length,
                initial_state_fw=initial_state,
                initial_state_bw=initial_state,
            )
        else:
            _, encoding = static_rnn(
                layers(),
                steps,
                dtype=dtypes.float32,
                sequence_length=sequence_length,
                initial_state=initial_state,
            )
        return target_predictor_fn(encoding, y)

    return rnn_estimator
