"""Encoders with decoders, over lists of steps."""

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
    check_projection,
    embedding_rnn_decoder,
    fed_or_not,
    rnn_decoder,
)
from tensorloom.contrib.rnn.around_cells import (
    EmbeddingWrapper,
    OutputProjectionWrapper,
)
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.nn.rnn_cell import RNNCell
from tensorloom.nn.static_rnn import static_rnn
from tensorloom.ops.array import array_ops
from tensorloom.ops.nn import nn_ops


@export("contrib.legacy_seq2seq.basic_rnn_seq2seq")
def basic_rnn_seq2seq(
    encoder_inputs: Any,
    decoder_inputs: Any,
    cell: Any,
    dtype: Any = dtypes.float32,
    scope: Any = None,
) -> Any:
    """Encodes into a state, decodes from it; two cells of one kind.

    Args:
      encoder_inputs, decoder_inputs: lists of [batch, depth].
      cell: an RNNCell; the encoder has a copy.
      dtype: of the first state.
      scope: of the variables, "basic_rnn_seq2seq" by default.

    Returns:
      (list of outputs, final state).
    """
    with variable_scope(scope or "basic_rnn_seq2seq"):
        encoder = copy.deepcopy(cell)
        _, state = static_rnn(encoder, encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


@export("contrib.legacy_seq2seq.tied_rnn_seq2seq")
def tied_rnn_seq2seq(
    encoder_inputs: Any,
    decoder_inputs: Any,
    cell: Any,
    loop_function: Any = None,
    dtype: Any = dtypes.float32,
    scope: Any = None,
) -> Any:
    """Encodes into a state, decodes from it; one cell for both.

    Args:
      encoder_inputs, decoder_inputs: lists of [batch, depth].
      cell: an RNNCell.
      loop_function: see `rnn_decoder`.
      dtype: of the first state.
      scope: of the variables, "tied_rnn_seq2seq" by default.

    Returns:
      (list of outputs, final state).
    """
    with variable_scope("combined_tied_rnn_seq2seq"):
        scope = scope or "tied_rnn_seq2seq"
        _, state = static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        get_variable_scope().reuse_variables()
        return rnn_decoder(
            decoder_inputs, state, cell, loop_function=loop_function, scope=scope
        )


@export("contrib.legacy_seq2seq.embedding_rnn_seq2seq")
def embedding_rnn_seq2seq(
    encoder_inputs: Any,
    decoder_inputs: Any,
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> Any:
    """`basic_rnn_seq2seq` of symbols, through embeddings.

    Args:
      encoder_inputs, decoder_inputs: lists of int32 [batch].
      cell: an RNNCell; the encoder has a copy.
      num_encoder_symbols, num_decoder_symbols: how many symbols there are.
      embedding_size: width of an embedding.
      output_projection: (weights, biases) from outputs to symbols; without it outputs
        are projected to symbols.
      feed_previous: bool or bool tensor; see `embedding_rnn_decoder`.
      dtype: of the first state; the scope's by default.
      scope: of the variables, "embedding_rnn_seq2seq" by default.

    Returns:
      (list of outputs, final state).
    """
    with variable_scope(scope or "embedding_rnn_seq2seq") as scope:
        if dtype is None:
            dtype = scope.dtype
        else:
            scope.set_dtype(dtype)
        encoder = EmbeddingWrapper(
            copy.deepcopy(cell),
            embedding_classes=num_encoder_symbols,
            embedding_size=embedding_size,
        )
        _, encoder_state = static_rnn(encoder, encoder_inputs, dtype=dtype)
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)

        def decode(feeds: bool, **options: Any) -> Any:
            return embedding_rnn_decoder(
                decoder_inputs,
                encoder_state,
                cell,
                num_decoder_symbols,
                embedding_size,
                output_projection=output_projection,
                feed_previous=feeds,
                **options,
            )

        if isinstance(feed_previous, bool):
            return decode(feed_previous)
        return fed_or_not(
            feed_previous,
            lambda feeds: decode(feeds, update_embedding_for_previous=False),
            lambda: encoder_state,
        )


@export("contrib.legacy_seq2seq.embedding_tied_rnn_seq2seq")
def embedding_tied_rnn_seq2seq(
    encoder_inputs: Any,
    decoder_inputs: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_decoder_symbols: int | None = None,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> Any:
    """`tied_rnn_seq2seq` of symbols, through one embedding.

    Args:
      encoder_inputs, decoder_inputs: lists of int32 [batch].
      cell: an RNNCell.
      num_symbols: how many symbols both sides have together.
      embedding_size: width of an embedding.
      num_decoder_symbols: how many symbols the outputs tell apart; all by default.
      output_projection, feed_previous: see `embedding_rnn_seq2seq`.
      dtype: of the first state; the scope's by default.
      scope: of the variables, "embedding_tied_rnn_seq2seq" by default.

    Returns:
      (list of outputs, final state).

    Raises:
      ValueError: the projection has another shape.
    """
    name = scope or "embedding_tied_rnn_seq2seq"
    with variable_scope(name, dtype=dtype) as scope:
        dtype = scope.dtype
        check_projection(output_projection, num_symbols, dtype)
        embedding = get_variable(
            "embedding", [num_symbols, embedding_size], dtype=dtype
        )
        encoded, decoded = (
            [nn_ops.embedding_lookup(embedding, step) for step in steps]
            for steps in (encoder_inputs, decoder_inputs)
        )
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols or num_symbols)

        def decode(feeds: bool, update_embedding: bool) -> Any:
            loop_function = None
            if feeds:
                loop_function = best_symbol_embedded(
                    embedding, output_projection, update_embedding
                )
            return tied_rnn_seq2seq(
                encoded, decoded, cell, loop_function=loop_function, dtype=dtype
            )

        def a_state() -> Any:
            size = encoder_inputs[0].shape[0]
            for step in encoder_inputs[1:]:
                size.assert_is_compatible_with(step.shape[0])
            batch = size.value
            if batch is None:
                batch = array_ops.shape(encoder_inputs[0])[0]
            return cell.zero_state(batch, dtype)

        if isinstance(feed_previous, bool):
            return decode(feed_previous, True)
        return fed_or_not(feed_previous, lambda feeds: decode(feeds, False), a_state)


@export("contrib.legacy_seq2seq.one2many_rnn_seq2seq")
def one2many_rnn_seq2seq(
    encoder_inputs: Any,
    decoder_inputs_dict: Any,
    enc_cell: Any,
    dec_cells_dict: Any,
    num_encoder_symbols: int,
    num_decoder_symbols_dict: Any,
    embedding_size: int,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> Any:
    """One encoder and a decoder for each task (arXiv:1511.06114).

    Args:
      encoder_inputs: list of int32 [batch].
      decoder_inputs_dict: by name of the decoder, a list of int32 [batch].
      enc_cell: an RNNCell.
      dec_cells_dict: by name, an RNNCell.
      num_encoder_symbols: how many symbols the encoder has.
      num_decoder_symbols_dict: by name, how many symbols the decoder has.
      embedding_size: width of an embedding.
      feed_previous: bool or bool tensor; see `embedding_rnn_decoder`.
      dtype: of the first state; the scope's by default.
      scope: of the variables, "one2many_rnn_seq2seq" by default.

    Returns:
      (lists of outputs by name, final states by name).

    Raises:
      TypeError: a cell is not an RNNCell.
      ValueError: cells and inputs have different names.
    """
    if not isinstance(enc_cell, RNNCell):
        raise TypeError(f"enc_cell is not an RNNCell: {type(enc_cell)}")
    if set(dec_cells_dict) != set(decoder_inputs_dict):
        raise ValueError("keys of dec_cells_dict != keys of decoder_inputs_dict")
    for dec_cell in dec_cells_dict.values():
        if not isinstance(dec_cell, RNNCell):
            raise TypeError(f"dec_cell is not an RNNCell: {type(dec_cell)}")
    outputs, states = {}, {}
    with variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as scope:
        encoder = EmbeddingWrapper(
            enc_cell,
            embedding_classes=num_encoder_symbols,
            embedding_size=embedding_size,
        )
        _, encoder_state = static_rnn(encoder, encoder_inputs, dtype=scope.dtype)
        for name, decoder_inputs in decoder_inputs_dict.items():
            symbols = num_decoder_symbols_dict[name]
            with variable_scope(f"one2many_decoder_{name}"):
                cell = OutputProjectionWrapper(dec_cells_dict[name], symbols)

                def decode(
                    feeds: bool,
                    steps: Any = decoder_inputs,
                    decoder: Any = cell,
                    symbols: int = symbols,
                ) -> Any:
                    return embedding_rnn_decoder(
                        steps,
                        encoder_state,
                        decoder,
                        symbols,
                        embedding_size,
                        feed_previous=feeds,
                    )

                if isinstance(feed_previous, bool):
                    outputs[name], states[name] = decode(feed_previous)
                else:
                    outputs[name], states[name] = fed_or_not(
                        feed_previous, decode, lambda: encoder_state
                    )
    return outputs, states
