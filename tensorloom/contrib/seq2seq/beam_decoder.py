"""`BeamSearchDecoder` and `BeamSearchDecoderV2`: the best of many hypotheses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.contrib.seq2seq.beam_decoding import BeamDecoding
from tensorloom.contrib.seq2seq.decoding_loop import (
    BaseDecoder,
    Decoder,
)
from tensorloom.contrib.seq2seq.sampling import (
    checked_embedding_fn,
    embedding_function,
)
from tensorloom.framework.export import export


@export("contrib.seq2seq.BeamSearchDecoder")
class BeamSearchDecoder(BeamDecoding, Decoder):
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
        super().__init__(
            cell,
            beam_width,
            output_layer,
            length_penalty_weight,
            coverage_penalty_weight,
            reorder_tensor_arrays,
        )
        self._set_start(
            embedding_function(embedding), start_tokens, end_token, initial_state
        )

    def initialize(self, name: str | None = None) -> Any:
        """(finished, first inputs, first state)."""
        return self._first()


class BeamSearchDecoderV2(BeamDecoding, BaseDecoder):
    """A `BeamSearchDecoder` that is a Keras layer.

        decoder = BeamSearchDecoderV2(cell, beam_width=3, maximum_iterations=20)
        outputs, state, lengths = decoder(
            embedding, start_tokens=..., end_token=..., initial_state=...
        )

    Args:
      cell, beam_width, output_layer, length_penalty_weight, coverage_penalty_weight,
        reorder_tensor_arrays: see `BeamSearchDecoder`.
      embedding_fn: ids -> embeddings; None where calls give an embedding.
      **kwargs: see `BaseDecoder`.

    Raises:
      TypeError: not a cell or layer.
      ValueError: `embedding_fn` is no function.
    """

    def __init__(
        self,
        cell: Any,
        beam_width: int,
        embedding_fn: Callable[[Any], Any] | None = None,
        output_layer: Any = None,
        length_penalty_weight: Any = 0.0,
        coverage_penalty_weight: Any = 0.0,
        reorder_tensor_arrays: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            cell,
            beam_width,
            output_layer,
            length_penalty_weight,
            coverage_penalty_weight,
            reorder_tensor_arrays,
            **kwargs,
        )
        self._embedding_fn = checked_embedding_fn(embedding_fn, "a callable")

    def initialize(  # type: ignore[override]
        self, embedding: Any, start_tokens: Any, end_token: Any, initial_state: Any
    ) -> Any:
        """(finished, first inputs, first state).

        Args:
          embedding: of all tokens, where the decoder has no function.
          start_tokens: int32 [batch].
          end_token: an int32 scalar.
          initial_state: of the cell, [batch * beam, ...].

        Raises:
          ValueError: both an embedding and a function, or a rank is wrong.
        """
        if embedding is not None and self._embedding_fn is not None:
            raise ValueError(
                "embedding and embedding_fn cannot be provided at same time"
            )
        function = self._embedding_fn or embedding_function(embedding)
        self._set_start(function, start_tokens, end_token, initial_state)
        return self._first()

    def call(  # type: ignore[override]
        self,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        initial_state: Any,
        **kwargs: Any,
    ) -> Any:
        """Runs the search; see `dynamic_decode` and `initialize`."""
        return self._decode(
            embedding,
            start_tokens=start_tokens,
            end_token=end_token,
            initial_state=initial_state,
            **kwargs,
        )
