"""`BeamSearchDecoder`: the best of many hypotheses for each sequence."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tensorloom.client.control_flow.cond import cond
from tensorloom.contrib.seq2seq.beam_layout import BeamLayout, gather_tree
from tensorloom.contrib.seq2seq.beam_scores import attention_probs
from tensorloom.contrib.seq2seq.beam_step import (
    BeamSearchDecoderOutput,
    BeamSearchDecoderState,
    beam_search_step,
)
from tensorloom.contrib.seq2seq.decoding_loop import Decoder
from tensorloom.contrib.seq2seq.helped_decoder import size_after
from tensorloom.contrib.seq2seq.sampling import embedding_function, start_and_end
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.keras.engine.base_layer import Layer
from tensorloom.nn.rnn_cell import check_is_cell
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops


@export("contrib.seq2seq.FinalBeamSearchDecoderOutput")
class FinalBeamSearchDecoderOutput(NamedTuple):
    """What `dynamic_decode` gives of a `BeamSearchDecoder`."""

    predicted_ids: Any
    """Tokens int32 [batch, time, beam], beams from best to worst."""
    beam_search_decoder_output: Any
    """The steps' `BeamSearchDecoderOutput`."""


@export("contrib.seq2seq.BeamSearchDecoder")
class BeamSearchDecoder(Decoder):
    """A decoder that keeps the best hypotheses of each sequence.

    With an `AttentionWrapper` the memory, its lengths and the encoder's state go
    through `tile_batch` first; `zero_state` takes batch size * beam width.

    Args:
      cell: an RNNCell.
      embedding: ids -> embeddings, or what `tf.nn.embedding_lookup` takes.
      start_tokens: int32 [batch].
      end_token: an int32 scalar.
      initial_state: of the cell, [batch * beam, ...].
      beam_width: how many hypotheses.
      output_layer: a layer on the cell's outputs, which gives logits.
      length_penalty_weight: how much longer hypotheses are preferred; 0 for not.
      coverage_penalty_weight: how much those are that attend to the whole memory.
      reorder_tensor_arrays: whether TensorArrays of the final state come stacked, in
        the order of the hypotheses.

    Raises:
      TypeError: not a cell or layer.
      ValueError: the first tokens are no vector, or the last one no scalar.
    """

    def __init__(
        self,
        cell: Any,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        initial_state: Any,
        beam_width: int,
        output_layer: Any = None,
        length_penalty_weight: Any = 0.0,
        coverage_penalty_weight: Any = 0.0,
        reorder_tensor_arrays: bool = True,
    ) -> None:
        check_is_cell("cell", cell)
        if output_layer is not None and not isinstance(output_layer, Layer):
            raise TypeError(
                f"output_layer must be a Layer, received: {type(output_layer)}"
            )
        self._cell = cell
        self._output_layer = output_layer
        self._reorder_tensor_arrays = reorder_tensor_arrays
        self._beam_width = beam_width
        self._length_penalty_weight = length_penalty_weight
        self._coverage_penalty_weight = coverage_penalty_weight
        self._embedding_fn = embedding_function(embedding)
        tokens, self._end_token = start_and_end(start_tokens, end_token)
        self._batch_size = array_ops.size(start_tokens)
        self._layout = BeamLayout(self._batch_size, beam_width)
        self._initial_cell_state = nest.map_structure(
            self._layout.maybe_split, initial_state, self._cell.state_size
        )
        self._start_tokens = array_ops.tile(
            array_ops.expand_dims(tokens, 1), [1, beam_width]
        )
        self._start_inputs = self._embedding_fn(self._start_tokens)
        # All beams but the first are equal to it, and must not be continued.
        self._finished = self._first_beam(False, True, dtypes.bool)

    def _first_beam(self, first: Any, others: Any, dtype: Any) -> Any:
        """[batch, beam] of one value for the first beam, another for the others."""
        return array_ops.one_hot(
            array_ops.zeros([self._batch_size], dtype=dtypes.int32),
            depth=self._beam_width,
            on_value=first,
            off_value=others,
            dtype=dtype,
        )

    @property
    def batch_size(self) -> Any:
        """The number of sequences."""
        return self._batch_size

    def _rnn_output_size(self) -> Any:
        return size_after(self._output_layer, self._cell.output_size)

    @property
    def tracks_own_finished(self) -> bool:
        """True: beams change their places."""
        return True

    @property
    def output_size(self) -> Any:
        """A number for each beam."""
        return BeamSearchDecoderOutput(
            scores=TensorShape([self._beam_width]),
            predicted_ids=TensorShape([self._beam_width]),
            parent_ids=TensorShape([self._beam_width]),
        )

    @property
    def output_dtype(self) -> Any:
        """The dtype of the first state for scores; int32."""
        dtype = self._dtype
        return BeamSearchDecoderOutput(
            scores=nest.map_structure(lambda _: dtype, self._rnn_output_size()),
            predicted_ids=dtypes.int32,
            parent_ids=dtypes.int32,
        )

    @property
    def _dtype(self) -> Any:
        return nest.flatten(self._initial_cell_state)[0].dtype

    def initialize(self, name: str | None = None) -> Any:
        """(finished, first inputs, first state)."""
        dtype = self._dtype
        log_probs = self._first_beam(
            convert_to_tensor(0.0, dtype=dtype),
            convert_to_tensor(-np.inf, dtype=dtype),
            dtype,
        )
        attention = attention_probs(
            self._initial_cell_state, self._coverage_penalty_weight
        )
        state = BeamSearchDecoderState(
            cell_state=self._initial_cell_state,
            log_probs=log_probs,
            finished=self._finished,
            lengths=array_ops.zeros(
                [self._batch_size, self._beam_width], dtype=dtypes.int64
            ),
            accumulated_attention_probs=() if attention is None else attention,
        )
        return self._finished, self._start_inputs, state

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """Follows the best hypotheses back from the last step.

        Args:
          outputs: BeamSearchDecoderOutput of all steps.
          final_state: BeamSearchDecoderState.
          sequence_lengths: not used; the state has the lengths.

        Returns:
          (FinalBeamSearchDecoderOutput, final state).
        """
        del sequence_lengths
        longest = math_ops.cast(
            math_ops.reduce_max(final_state.lengths, axis=1), dtypes.int32
        )
        predicted_ids = gather_tree(
            outputs.predicted_ids,
            outputs.parent_ids,
            max_sequence_lengths=longest,
            end_token=self._end_token,
        )
        if self._reorder_tensor_arrays:
            cell_state = nest.map_structure(
                lambda t: self._layout.maybe_sort(
                    t, outputs.parent_ids, final_state.lengths
                ),
                final_state.cell_state,
            )
            final_state = final_state._replace(cell_state=cell_state)
        final = FinalBeamSearchDecoderOutput(
            beam_search_decoder_output=outputs, predicted_ids=predicted_ids
        )
        return final, final_state

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """(BeamSearchDecoderOutput, next state, next inputs, finished)."""
        layout, sizes = self._layout, self._cell.state_size
        values = nest.flatten((time, inputs, state))
        with name_scope(name, "BeamSearchDecoderStep", values):
            inputs = nest.map_structure(
                lambda part: layout.merge(part, part.shape[2:]), inputs
            )
            cell_state = nest.map_structure(layout.maybe_merge, state.cell_state, sizes)
            outputs, next_cell_state = self._cell(inputs, cell_state)
            outputs = nest.map_structure(
                lambda part: layout.split(part, part.shape[1:]), outputs
            )
            next_cell_state = nest.map_structure(
                layout.maybe_split, next_cell_state, sizes
            )
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            output, next_state = beam_search_step(
                time=time,
                logits=outputs,
                next_cell_state=next_cell_state,
                beam_state=state,
                batch_size=self._batch_size,
                beam_width=self._beam_width,
                end_token=self._end_token,
                length_penalty_weight=self._length_penalty_weight,
                coverage_penalty_weight=self._coverage_penalty_weight,
            )
            finished = next_state.finished
            next_inputs = cond(
                math_ops.reduce_all(finished),
                lambda: self._start_inputs,
                lambda: self._embedding_fn(output.predicted_ids),
            )
        return output, next_state, next_inputs, finished
