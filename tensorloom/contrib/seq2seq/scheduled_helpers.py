"""Scheduled sampling: training on the true inputs and on a model's own, mixed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.contrib.seq2seq.helpers import TrainingHelper, unstacked
from tensorloom.contrib.seq2seq.sampling import (
    bernoulli_sample,
    categorical_sample,
    embedding_function,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.nn.rnn_step import transpose_batch_time
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops


def checked_probability(value: Any) -> Tensor:
    """A probability as a tensor. Raises ValueError: neither a scalar nor a vector."""
    tensor = convert_to_tensor(value, name="sampling_probability")
    if tensor.shape.rank not in (0, 1):
        raise ValueError(
            "sampling_probability must be either a scalar or a vector. saw shape: "
            f"{tensor.shape}"
        )
    return tensor


def _places(chosen: Any) -> Tensor:
    """Indices [number, 1] of the rows that are chosen."""
    places: Tensor = math_ops.cast(array_ops.where(chosen), dtypes.int32)
    return places


def _mixed(
    base_inputs: Tensor,
    sampled: Tensor,
    not_sampled: Tensor,
    make_inputs: Callable[[Tensor], Any],
) -> Any:
    """`make_inputs` at the rows `sampled`, the true inputs at `not_sampled`."""
    kept = array_ops.gather_nd(base_inputs, not_sampled)
    made = make_inputs(sampled)
    shape = array_ops.shape(base_inputs)
    return array_ops.scatter_nd(
        indices=sampled, updates=made, shape=shape
    ) + array_ops.scatter_nd(indices=not_sampled, updates=kept, shape=shape)


@export("contrib.seq2seq.ScheduledEmbeddingTrainingHelper")
class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """Gives, with some probability, the embedding of a token drawn from the outputs.

    Samples are the tokens, -1 where none was drawn.

    Args:
      inputs, sequence_length, time_major, name: as of `TrainingHelper`.
      embedding: ids -> embeddings, or what `tf.nn.embedding_lookup` takes.
      sampling_probability: of draws, a scalar or [batch].
      seed: of the draws.
      scheduling_seed: of the decisions whether to draw.

    Raises:
      ValueError: the probability is neither scalar nor vector.
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        embedding: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        scheduling_seed: int | None = None,
        name: str | None = None,
    ) -> None:
        values = [] if callable(embedding) else [embedding]
        with name_scope(
            name,
            "ScheduledEmbeddingSamplingWrapper",
            [*values, sampling_probability],
        ):
            self._embedding_fn = embedding_function(embedding)
            self._sampling_probability = checked_probability(sampling_probability)
            self._seed = seed
            self._scheduling_seed = scheduling_seed
            super().__init__(
                inputs=inputs,
                sequence_length=sequence_length,
                time_major=time_major,
                name=name,
            )

    def sample(  # type: ignore[override]
        self, time: Any, outputs: Any, state: Any, name: str | None = None
    ) -> Any:
        """Tokens drawn with the outputs as logits, or -1."""
        values = nest.flatten([time, outputs, state])
        with name_scope(name, "ScheduledEmbeddingTrainingHelperSample", values):
            chosen = bernoulli_sample(
                probs=self._sampling_probability,
                dtype=dtypes.bool,
                sample_shape=self.batch_size,
                seed=self._scheduling_seed,
            )
            return array_ops.where(
                chosen,
                categorical_sample(logits=outputs, seed=self._seed),
                array_ops.fill([self.batch_size], -1),
            )

    def next_inputs(  # type: ignore[override]
        self,
        time: Any,
        outputs: Any,
        state: Any,
        sample_ids: Any,
        name: str | None = None,
    ) -> Any:
        """The tokens' embeddings, the true inputs where none was drawn."""
        values = nest.flatten([time, outputs, state, sample_ids])
        with name_scope(name, "ScheduledEmbeddingTrainingHelperNextInputs", values):
            finished, base_inputs, state = super().next_inputs(
                time=time, outputs=outputs, state=state, name=name
            )

            def embeddings(rows: Tensor) -> Any:
                return self._embedding_fn(array_ops.gather_nd(sample_ids, rows))

            def mixed() -> Any:
                sampled = _places(sample_ids > -1)
                not_sampled = _places(sample_ids <= -1)
                return _mixed(base_inputs, sampled, not_sampled, embeddings)

            all_finished = math_ops.reduce_all(finished)
            return finished, cond(all_finished, lambda: base_inputs, mixed), state


@export("contrib.seq2seq.ScheduledOutputTrainingHelper")
class ScheduledOutputTrainingHelper(TrainingHelper):
    """Gives, with some probability, the outputs as the next inputs.

    Samples are 1 where it does, else 0.

    Args:
      inputs, sequence_length, time_major, name: as of `TrainingHelper`.
      sampling_probability: of outputs, a scalar or [batch].
      seed: of the decisions.
      next_inputs_fn: outputs -> inputs; outputs as they are by default.
      auxiliary_inputs: further inputs, which are joined to both kinds.

    Raises:
      ValueError: the probability is neither scalar nor vector.
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        next_inputs_fn: Callable[[Any], Any] | None = None,
        auxiliary_inputs: Any = None,
        name: str | None = None,
    ) -> None:
        values = [inputs, auxiliary_inputs, sampling_probability]
        with name_scope(name, "ScheduledOutputTrainingHelper", values):
            self._sampling_probability = checked_probability(sampling_probability)
            self._auxiliary_input_tas = None
            if auxiliary_inputs is not None:
                inputs = convert_to_tensor(inputs, name="inputs")
                auxiliary = convert_to_tensor(auxiliary_inputs, name="auxiliary_inputs")
                inputs = array_ops.concat((inputs, auxiliary), -1)
                if not time_major:
                    auxiliary = transpose_batch_time(auxiliary)
                self._auxiliary_input_tas = unstacked(auxiliary)
            self._seed = seed
            self._next_inputs_fn = next_inputs_fn
            super().__init__(
                inputs=inputs,
                sequence_length=sequence_length,
                time_major=time_major,
                name=name,
            )

    def sample(  # type: ignore[override]
        self, time: Any, outputs: Any, state: Any, name: str | None = None
    ) -> Any:
        """1 for the sequences whose output is the next input, else 0."""
        values = nest.flatten([time, outputs, state])
        with name_scope(name, "ScheduledOutputTrainingHelperSample", values):
            return bernoulli_sample(
                probs=self._sampling_probability,
                sample_shape=self.batch_size,
                seed=self._seed,
            )

    def next_inputs(  # type: ignore[override]
        self,
        time: Any,
        outputs: Any,
        state: Any,
        sample_ids: Any,
        name: str | None = None,
    ) -> Any:
        """Outputs where the samples say so, else the true inputs."""
        values = nest.flatten([time, outputs, state, sample_ids])
        with name_scope(name, "ScheduledOutputTrainingHelperNextInputs", values):
            finished, base_inputs, state = super().next_inputs(
                time=time, outputs=outputs, state=state, name=name
            )
            chosen = math_ops.cast(sample_ids, dtypes.bool)
            all_finished = math_ops.reduce_all(finished)
            none_chosen = math_ops.logical_not(math_ops.reduce_any(chosen))
            next_inputs = cond(
                math_ops.logical_or(all_finished, none_chosen),
                lambda: base_inputs,
                lambda: self._mix(time, outputs, chosen, base_inputs),
            )
            return finished, next_inputs, state

    def _mix(self, time: Any, outputs: Any, chosen: Tensor, base_inputs: Tensor) -> Any:
        function = self._next_inputs_fn
        if function is None:
            return array_ops.where(
                chosen, self._with_auxiliary(time, outputs), base_inputs
            )
        sampled = _places(chosen)
        not_sampled = _places(math_ops.logical_not(chosen))

        def made(rows: Tensor) -> Any:
            own = function(array_ops.gather_nd(outputs, rows))
            return self._with_auxiliary(time, own, rows)

        return _mixed(base_inputs, sampled, not_sampled, made)

    def _with_auxiliary(self, time: Any, inputs: Any, rows: Any = None) -> Any:
        """Inputs, joined with the next step's further ones where there are any."""
        if self._auxiliary_input_tas is None:
            return inputs
        auxiliary = self._auxiliary_input_tas.read(time + 1)
        if rows is not None:
            auxiliary = array_ops.gather_nd(auxiliary, rows)
        return array_ops.concat((inputs, auxiliary), -1)
