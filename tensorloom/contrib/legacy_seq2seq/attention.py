"""Decoders that attend to the encoder's outputs."""

from __future__ import annotations

import copy
from typing import Any

from tensorloom.client.variables.variable_scope import (
    get_variable,
    get_variable_scope,
    variable_scope,
)
from tensorloom.contrib.legacy_seq2seq.decoders import (
    best_symbol_embedded,
    check_biases,
    fed_or_not,
)
from tensorloom.contrib.rnn.around_cells import (
    EmbeddingWrapper,
    OutputProjectionWrapper,
)
from tensorloom.contrib.rnn.linear import Linear
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes, nest
from tensorloom.nn.static_rnn import static_rnn
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.stack import stack
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.reductions.reductions import reduce_sum


class _Attention:
    """Means of the states attended to, one for each head."""

    def __init__(self, states: Any, num_heads: int, dtype: Any) -> None:
        self._dtype = dtype
        _, length, self._size = states.shape.as_list()
        if length is None:
            length = array_ops.shape(states)[1]
        self._length = length
        size = self._size
        self._hidden = array_ops.reshape(states, [-1, length, 1, size])
        self._heads = []
        for head in range(num_heads):
            k = get_variable(f"AttnW_{head}", [1, 1, size, size], dtype=dtype)
            features = nn_ops.conv2d(self._hidden, k, [1, 1, 1, 1], "SAME")
            v = get_variable(f"AttnV_{head}", [size], dtype=dtype)
            self._heads.append((features, v))

    def __call__(self, query: Any) -> list[Any]:
        """For each head the mean for a query: [batch, size]."""
        if nest.is_nested(query):
            parts = nest.flatten(query)
            for part in parts:
                if part.shape.rank:
                    assert part.shape.rank == 2
            query = array_ops.concat(parts, 1)
        means = []
        for head, (features, v) in enumerate(self._heads):
            with variable_scope(f"Attention_{head}"):
                y = Linear(query, self._size, True)(query)
                y = array_ops.reshape(y, [-1, 1, 1, self._size])
                y = math_ops.cast(y, self._dtype)
                s = reduce_sum(v * math_ops.tanh(features + y), [2, 3])
                a = nn_ops.softmax(math_ops.cast(s, dtype=dtypes.float32))
                a = math_ops.cast(a, self._dtype)
                weights = array_ops.reshape(a, [-1, self._length, 1, 1])
                mean = reduce_sum(weights * self._hidden, [1, 2])
                means.append(array_ops.reshape(mean, [-1, self._size]))
        return means

    def zeros(self, batch_size: Any) -> list[Any]:
        """The means before the first step."""
        shape = stack([batch_size, self._size])
        means = [array_ops.zeros(shape, dtype=self._dtype) for _ in self._heads]
        for mean in means:
            mean.set_shape([None, self._size])
        return means


@export("contrib.legacy_seq2seq.attention_decoder")
def attention_decoder(
    decoder_inputs: Any,
    initial_state: Any,
    attention_states: Any,
    cell: Any,
    output_size: int | None = None,
    num_heads: int = 1,
    loop_function: Any = None,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> Any:
    """`rnn_decoder` that sees a mean of other states in each step (arXiv:1412.7449).

    Args:
      decoder_inputs: list of [batch, depth].
      initial_state: of the cell.
      attention_states: [batch, length, size].
      cell: an RNNCell.
      output_size: width of an output; the cell's by default.
      num_heads: how many means there are.
      loop_function: see `rnn_decoder`.
      dtype: of the variables; the scope's by default.
      scope: of the variables, "attention_decoder" by default.
      initial_state_attention: whether the first means are of the initial state, else
        zeros.

    Returns:
      (list of outputs [batch, output_size], final state).

    Raises:
      ValueError: no inputs, no heads, or sizes that are not known.
    """
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    if attention_states.shape[2].value is None:
        raise ValueError(
            f"Shape[2] of attention_states must be known: {attention_states.shape}"
        )
    if output_size is None:
        output_size = cell.output_size
    with variable_scope(scope or "attention_decoder", dtype=dtype) as scope:
        dtype = scope.dtype
        batch_size = array_ops.shape(decoder_inputs[0])[0]
        attention = _Attention(attention_states, num_heads, dtype)
        state, outputs = initial_state, []
        prev = None
        means = attention.zeros(batch_size)
        if initial_state_attention:
            means = attention(initial_state)
        for i, step in enumerate(decoder_inputs):
            if i > 0:
                get_variable_scope().reuse_variables()
            if loop_function is not None and prev is not None:
                with variable_scope("loop_function", reuse=True):
                    step = loop_function(prev, i)
            depth = step.shape.with_rank(2).as_list()[1]
            if depth is None:
                raise ValueError(f"Could not infer input size from input: {step.name}")
            joined = [math_ops.cast(value, dtype) for value in [step, *means]]
            x = Linear(joined, depth, True)(joined)
            cell_output, state = cell(x, state)
            if i == 0 and initial_state_attention:
                with variable_scope(get_variable_scope(), reuse=True):
                    means = attention(state)
            else:
                means = attention(state)
            with variable_scope("AttnOutputProjection"):
                joined = [math_ops.cast(cell_output, dtype), *means]
                output: Any = Linear(joined, output_size, True)(joined)
            if loop_function is not None:
                prev = output
            outputs.append(output)
    return outputs, state


@export("contrib.legacy_seq2seq.embedding_attention_decoder")
def embedding_attention_decoder(
    decoder_inputs: Any,
    initial_state: Any,
    attention_states: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_size: int | None = None,
    output_projection: Any = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> Any:
    """`attention_decoder` of symbols, through embeddings.

    Args:
      decoder_inputs: list of int32 [batch].
      num_symbols, embedding_size, output_projection, feed_previous,
        update_embedding_for_previous: see `embedding_rnn_decoder`.
      initial_state, attention_states, cell, num_heads, output_size, dtype,
        initial_state_attention: see `attention_decoder`.
      scope: of the variables, "embedding_attention_decoder" by default.

    Returns:
      (list of outputs [batch, output_size], final state).

    Raises:
      ValueError: the projection has another shape.
    """
    if output_size is None:
        output_size = cell.output_size
    check_biases(output_projection, num_symbols, dtype)
    with variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        embedding = get_variable("embedding", [num_symbols, embedding_size])
        loop_function = None
        if feed_previous:
            loop_function = best_symbol_embedded(
                embedding, output_projection, update_embedding_for_previous
            )
        return attention_decoder(
            [nn_ops.embedding_lookup(embedding, step) for step in decoder_inputs],
            initial_state,
            attention_states,
            cell,
            output_size=output_size,
            num_heads=num_heads,
            loop_function=loop_function,
            initial_state_attention=initial_state_attention,
        )


@export("contrib.legacy_seq2seq.embedding_attention_seq2seq")
def embedding_attention_seq2seq(
    encoder_inputs: Any,
    decoder_inputs: Any,
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> Any:
    """`embedding_rnn_seq2seq` whose decoder attends to the encoder's outputs.

    Args:
      encoder_inputs, decoder_inputs, cell, num_encoder_symbols, num_decoder_symbols,
        embedding_size, output_projection, feed_previous, dtype: see
        `embedding_rnn_seq2seq`.
      num_heads, initial_state_attention: see `attention_decoder`.
      scope: of the variables, "embedding_attention_seq2seq" by default.

    Returns:
      (list of outputs, final state).
    """
    name = scope or "embedding_attention_seq2seq"
    with variable_scope(name, dtype=dtype) as scope:
        encoder = EmbeddingWrapper(
            copy.deepcopy(cell),
            embedding_classes=num_encoder_symbols,
            embedding_size=embedding_size,
        )
        encoder_outputs, encoder_state = static_rnn(
            encoder, encoder_inputs, dtype=scope.dtype
        )
        rows = [
            array_ops.reshape(output, [-1, 1, cell.output_size])
            for output in encoder_outputs
        ]
        attention_states = array_ops.concat(rows, 1)
        output_size = None
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)
            output_size = num_decoder_symbols

        def decode(feeds: bool, **options: Any) -> Any:
            return embedding_attention_decoder(
                decoder_inputs,
                encoder_state,
                attention_states,
                cell,
                num_decoder_symbols,
                embedding_size,
                num_heads=num_heads,
                output_size=output_size,
                output_projection=output_projection,
                feed_previous=feeds,
                initial_state_attention=initial_state_attention,
                **options,
            )

        if isinstance(feed_previous, bool):
            return decode(feed_previous)
        return fed_or_not(
            feed_previous,
            lambda feeds: decode(feeds, update_embedding_for_previous=False),
            lambda: encoder_state,
        )
