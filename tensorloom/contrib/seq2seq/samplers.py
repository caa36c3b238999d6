"""Samplers: helpers that get their inputs when a decoder is called."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

from tensorloom.contrib.seq2seq.helpers import CustomHelper, Helper, TrainingHelper
from tensorloom.contrib.seq2seq.inference_helpers import (
    GreedyEmbeddingHelper,
    InferenceHelper,
    SampleEmbeddingHelper,
)
from tensorloom.contrib.seq2seq.sampling import checked_embedding_fn
from tensorloom.contrib.seq2seq.scheduled_helpers import (
    ScheduledEmbeddingTrainingHelper,
    ScheduledOutputTrainingHelper,
    checked_probability,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape


class Sampler(abc.ABC):
    """Base of samplers."""

    @abc.abstractmethod
    def initialize(self, inputs: Any, **kwargs: Any) -> Any:
        """(finished [batch], first inputs) for the inputs of a call."""

    @abc.abstractmethod
    def sample(self, time: Any, outputs: Any, state: Any) -> Any:
        """The samples of a step's outputs."""

    @abc.abstractmethod
    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any) -> Any:
        """(finished [batch], next inputs, next state)."""

    @property
    @abc.abstractmethod
    def batch_size(self) -> Any:
        """The number of sequences, an int32 scalar."""
        raise NotImplementedError("batch_size has not been implemented")

    @property
    @abc.abstractmethod
    def sample_ids_shape(self) -> Any:
        """The shape of a sequence's sample."""
        raise NotImplementedError("sample_ids_shape has not been implemented")

    @property
    @abc.abstractmethod
    def sample_ids_dtype(self) -> Any:
        """The dtype of samples."""
        raise NotImplementedError("sample_ids_dtype has not been implemented")


class _ByHelper(Sampler):
    """A sampler that does what a helper of its inputs does."""

    _helper: Helper | None = None
    _sample_shape: Any = TensorShape([])
    _sample_dtype: Any = dtypes.int32

    def _start(self, helper: Helper) -> Any:
        self._helper = helper
        return helper.initialize()

    def _begun(self) -> Any:
        if self._helper is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._helper

    @property
    def batch_size(self) -> Any:
        """The number of sequences.

        Raises:
          ValueError: `initialize` was not called.
        """
        return self._begun().batch_size

    @property
    def sample_ids_shape(self) -> Any:
        """The shape of a sequence's sample."""
        return self._sample_shape

    @property
    def sample_ids_dtype(self) -> Any:
        """The dtype of samples."""
        return self._sample_dtype

    def sample(self, time: Any, outputs: Any, state: Any) -> Any:
        """The samples of a step's outputs."""
        return self._begun().sample(time=time, outputs=outputs, state=state)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any) -> Any:
        """(finished [batch], next inputs, next state)."""
        return self._begun().next_inputs(
            time=time, outputs=outputs, state=state, sample_ids=sample_ids
        )


class CustomSampler(_ByHelper):
    """A sampler of functions.

    Args:
      initialize_fn: inputs -> (finished, first inputs).
      sample_fn, next_inputs_fn, sample_ids_shape, sample_ids_dtype: see `CustomHelper`.
    """

    def __init__(
        self,
        initialize_fn: Callable[..., Any],
        sample_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., Any],
        sample_ids_shape: Any = None,
        sample_ids_dtype: Any = None,
    ) -> None:
        self._initialize_fn = initialize_fn
        self._sample_fn = sample_fn
        self._next_inputs_fn = next_inputs_fn
        self._sample_shape = TensorShape(sample_ids_shape or [])
        self._sample_dtype = sample_ids_dtype or dtypes.int32

    def initialize(self, inputs: Any, **kwargs: Any) -> Any:
        """What the function gives."""
        return self._start(
            CustomHelper(
                lambda: self._initialize_fn(inputs, **kwargs),
                self._sample_fn,
                self._next_inputs_fn,
                self._sample_shape,
                self._sample_dtype,
            )
        )


class TrainingSampler(_ByHelper):
    """Gives the true inputs, whatever the outputs are; samples are the argmax.

    Args:
      time_major: whether inputs are [time, batch, ...].
    """

    def __init__(self, time_major: bool = False) -> None:
        self.time_major = time_major

    def initialize(  # type: ignore[override]
        self, inputs: Any, sequence_length: Any = None
    ) -> Any:
        """(finished, first inputs).

        Args:
          inputs: [batch, time, ...].
          sequence_length: int32 [batch].

        Raises:
          ValueError: no lengths are given, or they are no vector.
        """
        self._check_lengths(sequence_length)
        return self._start(TrainingHelper(inputs, sequence_length, self.time_major))

    def _check_lengths(self, sequence_length: Any) -> None:
        if sequence_length is None:
            raise ValueError("sequence_length is required for TrainingSampler")


class ScheduledEmbeddingTrainingSampler(TrainingSampler):
    """Gives, with some probability, the embedding of a token drawn from the outputs.

    Args:
      sampling_probability: of draws, a scalar or [batch].
      embedding_fn: ids -> embeddings; None where calls give an embedding.
      time_major: whether inputs are [time, batch, ...].
      seed: of the draws.
      scheduling_seed: of the decisions whether to draw.

    Raises:
      ValueError: the probability has another rank, or `embedding_fn` is no function.
    """

    def __init__(
        self,
        sampling_probability: Any,
        embedding_fn: Callable[[Any], Any] | None = None,
        time_major: bool = False,
        seed: int | None = None,
        scheduling_seed: int | None = None,
    ) -> None:
        super().__init__(time_major=time_major)
        self.embedding_fn = checked_embedding_fn(embedding_fn)
        self.sampling_probability = checked_probability(sampling_probability)
        self.seed = seed
        self.scheduling_seed = scheduling_seed

    def initialize(  # type: ignore[override]
        self, inputs: Any, sequence_length: Any = None, embedding: Any = None
    ) -> Any:
        """(finished, first inputs); see `TrainingSampler`.

        Raises:
          ValueError: neither a function nor an embedding is there.
        """
        if self.embedding_fn is None and embedding is None:
            raise ValueError(
                "embedding is required as a keyword argument for "
                "ScheduledEmbeddingTrainingSampler"
            )
        self._check_lengths(sequence_length)
        return self._start(
            ScheduledEmbeddingTrainingHelper(
                inputs,
                sequence_length,
                self.embedding_fn or embedding,
                self.sampling_probability,
                self.time_major,
                self.seed,
                self.scheduling_seed,
            )
        )


class ScheduledOutputTrainingSampler(TrainingSampler):
    """Gives, with some probability, the outputs as the next inputs.

    Args:
      sampling_probability: of outputs, a scalar or [batch].
      time_major: whether inputs are [time, batch, ...].
      seed: of the decisions.
      next_inputs_fn: outputs -> inputs; outputs as they are by default.

    Raises:
      ValueError: the probability is neither scalar nor vector.
    """

    def __init__(
        self,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        next_inputs_fn: Callable[[Any], Any] | None = None,
    ) -> None:
        super().__init__(time_major=time_major)
        self.sampling_probability = checked_probability(sampling_probability)
        self.seed = seed
        self.next_inputs_fn = next_inputs_fn

    def initialize(  # type: ignore[override]
        self, inputs: Any, sequence_length: Any = None, auxiliary_inputs: Any = None
    ) -> Any:
        """(finished, first inputs); see `TrainingSampler`.

        Args:
          auxiliary_inputs: further inputs, which are joined to both kinds.
        """
        self._check_lengths(sequence_length)
        return self._start(
            ScheduledOutputTrainingHelper(
                inputs,
                sequence_length,
                self.sampling_probability,
                self.time_major,
                self.seed,
                self.next_inputs_fn,
                auxiliary_inputs,
            )
        )


class GreedyEmbeddingSampler(_ByHelper):
    """Takes the argmax of the outputs (logits), whose embedding is the next input.

    Args:
      embedding_fn: ids -> embeddings; None where calls give an embedding.

    Raises:
      ValueError: `embedding_fn` is no function.
    """

    def __init__(self, embedding_fn: Callable[[Any], Any] | None = None) -> None:
        self.embedding_fn = checked_embedding_fn(embedding_fn, "a callable")

    def initialize(  # type: ignore[override]
        self, embedding: Any, start_tokens: Any = None, end_token: Any = None
    ) -> Any:
        """The embeddings of the first tokens; no sequence is finished.

        Args:
          embedding: of all tokens, where the sampler has no function.
          start_tokens: int32 [batch].
          end_token: an int32 scalar.

        Raises:
          ValueError: the first tokens are no vector, or the last one no scalar.
        """
        function = self.embedding_fn or embedding
        return self._start(self._make(function, start_tokens, end_token))

    def _make(self, embedding: Any, start_tokens: Any, end_token: Any) -> Helper:
        return GreedyEmbeddingHelper(embedding, start_tokens, end_token)


class SampleEmbeddingSampler(GreedyEmbeddingSampler):
    """As `GreedyEmbeddingSampler`, with a token drawn in place of the argmax.

    Args:
      embedding_fn: as there.
      softmax_temperature: what logits are divided by; above 1 draws vary more.
      seed: of the draws.
    """

    def __init__(
        self,
        embedding_fn: Callable[[Any], Any] | None = None,
        softmax_temperature: Any = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(embedding_fn)
        self.softmax_temperature = softmax_temperature
        self.seed = seed

    def _make(self, embedding: Any, start_tokens: Any, end_token: Any) -> Helper:
        return SampleEmbeddingHelper(
            embedding, start_tokens, end_token, self.softmax_temperature, self.seed
        )


class InferenceSampler(_ByHelper):
    """Samples by a function, which are the next inputs or become them.

    Args:
      sample_fn, sample_shape, sample_dtype, end_fn, next_inputs_fn: see
        `InferenceHelper`.
    """

    def __init__(
        self,
        sample_fn: Callable[[Any], Any],
        sample_shape: Any,
        sample_dtype: Any,
        end_fn: Callable[[Any], Any],
        next_inputs_fn: Callable[[Any], Any] | None = None,
    ) -> None:
        self.sample_fn = sample_fn
        self._sample_shape = TensorShape(sample_shape)
        self._sample_dtype = sample_dtype
        self.end_fn = end_fn
        self.next_inputs_fn = next_inputs_fn

    def initialize(self, start_inputs: Any) -> Any:  # type: ignore[override]
        """The first inputs, [batch, ...]; no sequence is finished."""
        return self._start(
            InferenceHelper(
                self.sample_fn,
                self._sample_shape,
                self._sample_dtype,
                start_inputs,
                self.end_fn,
                self.next_inputs_fn,
            )
        )
