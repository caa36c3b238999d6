"""Decoders over lists of steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.variables.variable_scope import (
    get_variable,
    get_variable_scope,
    variable_scope,
)
from tensorloom.framework.export import export
from tensorloom.framework.types import nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.reductions.reductions import argmax


def best_symbol_embedded(
    embedding: Any, output_projection: Any = None, update_embedding: bool = True
) -> Callable[[Any, Any], Any]:
    """A loop function: the embedding of the most likely symbol of the last output."""

    def loop_function(prev: Any, _: Any) -> Any:
        if output_projection is not None:
            weights, biases = output_projection
            prev = nn_ops.xw_plus_b(prev, weights, biases)
        embedded = nn_ops.embedding_lookup(embedding, argmax(prev, 1))
        if not update_embedding:
            embedded = array_ops.stop_gradient(embedded)
        return embedded

    return loop_function


def check_projection(projection: Any, num_symbols: int, dtype: Any) -> None:
    """Raises ValueError unless (weights, biases) map to `num_symbols`."""
    if projection is None:
        return
    weights = convert_to_tensor(projection[0], dtype=dtype)
    weights.shape.assert_is_compatible_with([None, num_symbols])
    check_biases(projection, num_symbols, dtype)


def check_biases(projection: Any, num_symbols: int, dtype: Any) -> None:
    """Raises ValueError unless a projection's biases are of `num_symbols`."""
    if projection is not None:
        biases = convert_to_tensor(projection[1], dtype=dtype)
        biases.shape.assert_is_compatible_with([num_symbols])


def fed_or_not(
    feed_previous: Any,
    decode: Callable[[bool], tuple[list[Any], Any]],
    structure: Callable[[], Any],
) -> tuple[list[Any], Any]:
    """(outputs, state) of `decode(True)` or of `decode(False)`, as a tensor says.

    Both have the same variables; `structure()` is a state of the wanted structure.
    """

    def branch(feeds: bool) -> list[Any]:
        reuse = None if feeds else True
        with variable_scope(get_variable_scope(), reuse=reuse):
            outputs, state = decode(feeds)
        return outputs + nest.flatten(state)

    results = cond(feed_previous, lambda: branch(True), lambda: branch(False))
    wanted = structure()
    count = len(results) - len(nest.flatten(wanted))
    outputs, states = results[:count], results[count:]
    return outputs, nest.pack_sequence_as(wanted, states)


@export("contrib.legacy_seq2seq.rnn_decoder")
def rnn_decoder(
    decoder_inputs: Any,
    initial_state: Any,
    cell: Any,
    loop_function: Any = None,
    scope: Any = None,
) -> Any:
    """Runs a cell over steps, each with its input or with one made of the last output.

    Args:
      decoder_inputs: list of [batch, depth].
      initial_state: of the cell.
      cell: an RNNCell.
      loop_function: `loop_function(last output, i)` is the input of step i, after the
        first.
      scope: of the variables, "rnn_decoder" by default.

    Returns:
      (list of outputs [batch, output size], final state).
    """
    with variable_scope(scope or "rnn_decoder"):
        state, outputs = initial_state, []
        prev = None
        for i, inputs in enumerate(decoder_inputs):
            if loop_function is not None and prev is not None:
                with variable_scope("loop_function", reuse=True):
                    inputs = loop_function(prev, i)
            if i > 0:
                get_variable_scope().reuse_variables()
            output, state = cell(inputs, state)
            outputs.append(output)
            if loop_function is not None:
                prev = output
    return outputs, state


@export("contrib.legacy_seq2seq.embedding_rnn_decoder")
def embedding_rnn_decoder(
    decoder_inputs: Any,
    initial_state: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    output_projection: Any = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    scope: Any = None,
) -> Any:
    """`rnn_decoder` of symbols, through embeddings.

    Args:
      decoder_inputs: list of int32 [batch].
      initial_state: of the cell.
      cell: an RNNCell.
      num_symbols: how many symbols there are.
      embedding_size: width of an embedding.
      output_projection: (weights, biases) from outputs to symbols, for `feed_previous`.
      feed_previous: whether inputs after the first are the most likely symbols of the
        outputs before.
      update_embedding_for_previous: whether gradients reach embeddings through them.
      scope: of the variables, "embedding_rnn_decoder" by default.

    Returns:
      (list of outputs [batch, output size], final state).

    Raises:
      ValueError: the projection has another shape.
    """
    with variable_scope(scope or "embedding_rnn_decoder") as scope:
        check_projection(output_projection, num_symbols, scope.dtype)
        embedding = get_variable("embedding", [num_symbols, embedding_size])
        loop_function = None
        if feed_previous:
            loop_function = best_symbol_embedded(
                embedding, output_projection, update_embedding_for_previous
            )
        # Made step by step, as the decoder asks.
        embedded = (nn_ops.embedding_lookup(embedding, i) for i in decoder_inputs)
        return rnn_decoder(embedded, initial_state, cell, loop_function=loop_function)
