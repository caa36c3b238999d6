"""What the decoders that search with beams share: the step, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
from tensorloom.contrib.seq2seq.helped_decoder import size_after
from tensorloom.contrib.seq2seq.sampling import start_and_end
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


@dataclass(frozen=True)
class BeamStart:
    """Where a search starts: known once a decoder has got its first tokens."""

    # The number of sequences, an int32 scalar.
    batch_size: Any
    layout: BeamLayout
    # Of the cell, [batch, beam, ...].
    cell_state: Any
    # Of the first tokens, [batch, beam, ...].
    inputs: Any
    end_token: Any
    embedding_fn: Callable[[Any], Any]


class BeamDecoding:
    """The best hypotheses of each sequence, step by step.

    Args:
      cell: an RNNCell.
      beam_width: how many hypotheses.
      output_layer: a layer on the cell's outputs, which gives logits.
      length_penalty_weight, coverage_penalty_weight, reorder_tensor_arrays: see
        `BeamSearchDecoder`.

    Raises:
      TypeError: not a cell or layer.
    """

    _beam_start: BeamStart

    def __init__(
        self,
        cell: Any,
        beam_width: int,
        output_layer: Any = None,
        length_penalty_weight: Any = 0.0,
        coverage_penalty_weight: Any = 0.0,
        reorder_tensor_arrays: bool = True,
        **kwargs: Any,
    ) -> None:
        check_is_cell("cell", cell)
        if output_layer is not None and not isinstance(output_layer, Layer):
            raise TypeError(
                f"output_layer must be a Layer, received: {type(output_layer)}"
            )
        super().__init__(**kwargs)
        self._cell = cell
        self._output_layer = output_layer
        self._reorder_tensor_arrays = reorder_tensor_arrays
        self._beam_width = beam_width
        self._length_penalty_weight = length_penalty_weight
        self._coverage_penalty_weight = coverage_penalty_weight

    def _set_start(
        self,
        embedding_fn: Callable[[Any], Any],
        start_tokens: Any,
        end_token: Any,
        initial_state: Any,
    ) -> None:
        """Raises ValueError: the first tokens are no vector, or the last no scalar."""
        tokens, end = start_and_end(start_tokens, end_token)
        batch_size = array_ops.size(start_tokens)
        layout = BeamLayout(batch_size, self._beam_width)
        cell_state = nest.map_structure(
            layout.maybe_split, initial_state, self._cell.state_size
        )
        tokens = array_ops.tile(array_ops.expand_dims(tokens, 1), [1, self._beam_width])
        self._beam_start = BeamStart(
            batch_size, layout, cell_state, embedding_fn(tokens), end, embedding_fn
        )

    def _first_beam(self, first: Any, others: Any, dtype: Any) -> Any:
        """[batch, beam] of one value for the first beam, another for the others."""
        return array_ops.one_hot(
            array_ops.zeros([self._beam_start.batch_size], dtype=dtypes.int32),
            depth=self._beam_width,
            on_value=first,
            off_value=others,
            dtype=dtype,
        )

    @property
    def batch_size(self) -> Any:
        """The number of sequences."""
        return self._beam_start.batch_size

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
        dtype = self._state_dtype
        return BeamSearchDecoderOutput(
            scores=nest.map_structure(lambda _: dtype, self._rnn_output_size()),
            predicted_ids=dtypes.int32,
            parent_ids=dtypes.int32,
        )

    @property
    def _state_dtype(self) -> Any:
        return nest.flatten(self._beam_start.cell_state)[0].dtype

    def _first(self) -> Any:
        """(finished, first inputs, first state)."""
        start, dtype = self._beam_start, self._state_dtype
        # All beams but the first are equal to it, and must not be continued.
        finished = self._first_beam(False, True, dtypes.bool)
        log_probs = self._first_beam(
            convert_to_tensor(0.0, dtype=dtype),
            convert_to_tensor(-np.inf, dtype=dtype),
            dtype,
        )
        attention = attention_probs(start.cell_state, self._coverage_penalty_weight)
        state = BeamSearchDecoderState(
            cell_state=start.cell_state,
            log_probs=log_probs,
            finished=finished,
            lengths=array_ops.zeros(
                [start.batch_size, self._beam_width], dtype=dtypes.int64
            ),
            accumulated_attention_probs=() if attention is None else attention,
        )
        return finished, start.inputs, state

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
            end_token=self._beam_start.end_token,
        )
        if self._reorder_tensor_arrays:
            cell_state = nest.map_structure(
                lambda t: self._beam_start.layout.maybe_sort(
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
        start, sizes = self._beam_start, self._cell.state_size
        layout = start.layout
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
                batch_size=start.batch_size,
                beam_width=self._beam_width,
                end_token=start.end_token,
                length_penalty_weight=self._length_penalty_weight,
                coverage_penalty_weight=self._coverage_penalty_weight,
            )
            finished = next_state.finished
            next_inputs = cond(
                math_ops.reduce_all(finished),
                lambda: start.inputs,
                lambda: start.embedding_fn(output.predicted_ids),
            )
        return output, next_state, next_inputs, finished
