"""Helpers for inference: a step's token, or a function of it, is the next input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.contrib.seq2seq.helpers import Helper, ScalarIds
from tensorloom.contrib.seq2seq.sampling import (
    categorical_sample,
    embedding_function,
    start_and_end,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops


@export("contrib.seq2seq.GreedyEmbeddingHelper")
class GreedyEmbeddingHelper(ScalarIds):
    """Takes the argmax of the outputs (logits), whose embedding is the next input.

    Args:
      embedding: ids -> embeddings, or what `tf.nn.embedding_lookup` takes.
      start_tokens: int32 [batch].
      end_token: an int32 scalar.

    Raises:
      ValueError: the first tokens are no vector, or the last one no scalar.
    """

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any) -> None:
        self._embedding_fn = embedding_function(embedding)
        self._start_tokens, self._end_token = start_and_end(start_tokens, end_token)
        self._batch_size = array_ops.size(start_tokens)
        self._start_inputs = self._embedding_fn(self._start_tokens)

    def initialize(self, name: str | None = None) -> Any:
        """The embeddings of the first tokens; no sequence is finished."""
        finished = array_ops.tile([False], [self._batch_size])
        return finished, self._start_inputs

    def sample(
        self, time: Any, outputs: Any, state: Any, name: str | None = None
    ) -> Any:
        """The argmax of the outputs.

        Raises:
          TypeError: they are more than a tensor.
        """
        del time, state, name
        return math_ops.argmax(_one_tensor(outputs), axis=-1, output_type=dtypes.int32)

    def next_inputs(
        self,
        time: Any,
        outputs: Any,
        state: Any,
        sample_ids: Any,
        name: str | None = None,
    ) -> Any:
        """The samples' embeddings; sequences end with the end token."""
        del time, outputs, name
        finished = math_ops.equal(sample_ids, self._end_token)
        next_inputs = cond(
            math_ops.reduce_all(finished),
            lambda: self._start_inputs,
            lambda: self._embedding_fn(sample_ids),
        )
        return finished, next_inputs, state


def _one_tensor(outputs: Any) -> Tensor:
    if not isinstance(outputs, Tensor):
        raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")
    return outputs


@export("contrib.seq2seq.SampleEmbeddingHelper")
class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """As `GreedyEmbeddingHelper`, with a token drawn in place of the argmax.

    Args:
      embedding, start_tokens, end_token: as there.
      softmax_temperature: what logits are divided by; above 1 draws vary more.
      seed: of the draws.
    """

    def __init__(
        self,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        softmax_temperature: Any = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(embedding, start_tokens, end_token)
        self._softmax_temperature = softmax_temperature
        self._seed = seed

    def sample(
        self, time: Any, outputs: Any, state: Any, name: str | None = None
    ) -> Any:
        """Tokens drawn with the outputs as logits.

        Raises:
          TypeError: they are more than a tensor.
        """
        del time, state, name
        logits: Any = _one_tensor(outputs)
        if self._softmax_temperature is not None:
            logits = logits / self._softmax_temperature
        return categorical_sample(logits=logits, seed=self._seed)


@export("contrib.seq2seq.InferenceHelper")
class InferenceHelper(Helper):
    """Samples by a function, which are the next inputs or become them.

    Args:
      sample_fn: outputs -> samples.
      sample_shape: of a sequence's sample.
      sample_dtype: of samples.
      start_inputs: the first inputs, [batch, ...].
      end_fn: samples -> bool [batch], which sequences end with them.
      next_inputs_fn: samples -> next inputs; the samples by default.
    """

    def __init__(
        self,
        sample_fn: Callable[[Any], Any],
        sample_shape: Any,
        sample_dtype: Any,
        start_inputs: Any,
        end_fn: Callable[[Any], Any],
        next_inputs_fn: Callable[[Any], Any] | None = None,
    ) -> None:
        self._sample_fn = sample_fn
        self._end_fn = end_fn
        self._sample_shape = TensorShape(sample_shape)
        self._sample_dtype = sample_dtype
        self._next_inputs_fn = next_inputs_fn
        self._batch_size = array_ops.shape(start_inputs)[0]
        self._start_inputs = convert_to_tensor(start_inputs, name="start_inputs")

    @property
    def batch_size(self) -> Any:
        """The number of sequences."""
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        """The shape of a sequence's sample."""
        return self._sample_shape

    @property
    def sample_ids_dtype(self) -> Any:
        """The dtype of samples."""
        return self._sample_dtype

    def initialize(self, name: str | None = None) -> Any:
        """The first inputs; no sequence is finished."""
        finished = array_ops.tile([False], [self._batch_size])
        return finished, self._start_inputs

    def sample(
        self, time: Any, outputs: Any, state: Any, name: str | None = None
    ) -> Any:
        """What the function gives."""
        del time, state, name
        return self._sample_fn(outputs)

    def next_inputs(
        self,
        time: Any,
        outputs: Any,
        state: Any,
        sample_ids: Any,
        name: str | None = None,
    ) -> Any:
        """The samples, or what the function makes of them."""
        del time, outputs, name
        next_inputs = sample_ids
        if self._next_inputs_fn is not None:
            next_inputs = self._next_inputs_fn(sample_ids)
        return self._end_fn(sample_ids), next_inputs, state
