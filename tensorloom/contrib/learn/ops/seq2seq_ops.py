"""Sequences to sequences, step by step."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.variable_scope import (
    get_variable_scope,
    variable_scope,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.nn.static_rnn import static_rnn
from tensorloom.ops.array.fill import zeros
from tensorloom.ops.array.shape import shape
from tensorloom.ops.array.stack import stack, unstack
from tensorloom.ops.nn.loss import softmax_cross_entropy_with_logits
from tensorloom.ops.nn.softmax import softmax
from tensorloom.ops.reductions.aggregate import add_n
from tensorloom.ops.reductions.reductions import reduce_sum


@export("contrib.learn.ops.sequence_classifier")
def sequence_classifier(
    decoding: Any, labels: Any, sampling_decoding: Any = None, name: str | None = None
) -> tuple[Any, Any]:
    """Probabilities [batch, time, classes] and loss of the outputs of a decoder.

    Args:
      decoding: logits [batch, classes] of each step.
      labels: probabilities [batch, classes] of each step.
      sampling_decoding: logits for the probabilities, in place of `decoding`.
      name: of the name scope.
    """
    with name_scope(name, "sequence_classifier", [decoding, labels]):
        predictions, losses = [], []
        for index, logits in enumerate(decoding):
            losses.append(
                softmax_cross_entropy_with_logits(
                    labels=labels[index],
                    logits=logits,
                    name=f"sequence_loss/xent_raw{index}",
                )
            )
            sampled = sampling_decoding[index] if sampling_decoding else logits
            predictions.append(softmax(sampled))
        loss = reduce_sum(
            add_n(losses, name="sequence_loss/xent"), name="sequence_loss"
        )
        return stack(predictions, axis=1), loss


@export("contrib.learn.ops.seq2seq_inputs")
def seq2seq_inputs(
    x: Any,
    y: Any,
    input_length: int,
    output_length: int,
    sentinel: Any = None,
    name: str | None = None,
) -> tuple[list[Any], list[Any], list[Any]]:
    """The steps of encoder inputs, of decoder inputs and of decoder outputs.

    Args:
      x: [batch, input_length, features].
      y: [batch, output_length, features].
      input_length: steps of `x`.
      output_length: steps of `y`.
      sentinel: what the decoder begins and ends with: zeros when None.
      name: of the name scope.
    """
    with name_scope(name, "seq2seq_inputs", [x, y]):
        inputs, outputs = unstack(x, axis=1), unstack(y, axis=1)
        if not sentinel:
            static = outputs[0].get_shape()
            sentinel = zeros(stack([shape(x)[0], static[1]]))
            sentinel.set_shape(static)
        return inputs, [sentinel, *outputs], [*outputs, sentinel]


@export("contrib.learn.ops.rnn_decoder")
def rnn_decoder(
    decoder_inputs: Any, initial_state: Any, cell: Any, scope: str | None = None
) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """Runs a cell over inputs, and over its own outputs.

    Args:
      decoder_inputs: [batch, features] of each step.
      initial_state: of the cell.
      cell: an `RNNCell` whose outputs can be its inputs.
      scope: of the variables; `dnn_decoder` when None.

    Returns:
      Outputs and states with the inputs, then those with its own outputs. States begin
      with the initial one.
    """
    with variable_scope(scope or "dnn_decoder"):
        states, sampling_states = [initial_state], [initial_state]
        outputs: list[Any] = []
        sampling_outputs: list[Any] = []
        with name_scope("training", values=[decoder_inputs, initial_state]):
            for index, step in enumerate(decoder_inputs):
                if index > 0:
                    get_variable_scope().reuse_variables()
                output, state = cell(step, states[-1])
                outputs.append(output)
                states.append(state)
        with name_scope("sampling", values=[initial_state]):
            for index, _ in enumerate(decoder_inputs):
                if index == 0:
                    output, state = outputs[0], states[0]
                else:
                    output, state = cell(sampling_outputs[-1], sampling_states[-1])
                sampling_outputs.append(output)
                sampling_states.append(state)
    return outputs, states, sampling_outputs, sampling_states


@export("contrib.learn.ops.rnn_seq2seq")
def rnn_seq2seq(
    encoder_inputs: Any,
    decoder_inputs: Any,
    encoder_cell: Any,
    decoder_cell: Any = None,
    dtype: Any = dtypes.float32,
    scope: str | None = None,
) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """An encoder whose last state a decoder begins with; gives what `rnn_decoder` does.

    Args:
      encoder_inputs: [batch, features] of each step.
      decoder_inputs: [batch, features] of each step.
      encoder_cell: an `RNNCell`.
      decoder_cell: another one; the same when None.
      dtype: of the initial state.
      scope: of the variables; `rnn_seq2seq` when None.
    """
    with variable_scope(scope or "rnn_seq2seq"):
        _, state = static_rnn(encoder_cell, encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, decoder_cell or encoder_cell)
