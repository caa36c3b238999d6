"""Helpers: what a `BasicDecoder` takes as the token of a step and the next input."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.nn.rnn_step import transpose_batch_time
from tensorloom.ops.array import array_ops
from tensorloom.ops.lists.tensor_array import TensorArray
from tensorloom.ops.math import math_ops


@export("contrib.seq2seq.Helper")
class Helper(abc.ABC):
    """Base of helpers."""

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

    @abc.abstractmethod
    def initialize(self, name: str | None = None) -> Any:
        """(finished [batch], first inputs)."""

    @abc.abstractmethod
    def sample(
        self, time: Any, outputs: Any, state: Any, name: str | None = None
    ) -> Any:
        """The samples of a step's outputs."""

    @abc.abstractmethod
    def next_inputs(
        self,
        time: Any,
        outputs: Any,
        state: Any,
        sample_ids: Any,
        name: str | None = None,
    ) -> Any:
        """(finished [batch], next inputs, next state)."""


@export("contrib.seq2seq.CustomHelper")
class CustomHelper(Helper):
    """A helper of functions.

    Args:
      initialize_fn: () -> (finished, first inputs).
      sample_fn: (time, outputs, state), by name -> samples.
      next_inputs_fn: (time, outputs, state, sample_ids), by name -> (finished, next
        inputs, next state).
      sample_ids_shape: of a sequence's sample, a scalar by default.
      sample_ids_dtype: of samples, int32 by default.
    """

    def __init__(
        self,
        initialize_fn: Callable[[], Any],
        sample_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., Any],
        sample_ids_shape: Any = None,
        sample_ids_dtype: Any = None,
    ) -> None:
        self._initialize_fn = initialize_fn
        self._sample_fn = sample_fn
        self._next_inputs_fn = next_inputs_fn
        self._batch_size: Any = None
        self._sample_ids_shape = TensorShape(sample_ids_shape or [])
        self._sample_ids_dtype = sample_ids_dtype or dtypes.int32

    @property
    def batch_size(self) -> Any:
        """The number of sequences.

        Raises:
          ValueError: `initialize` was not called.
        """
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        """The shape of a sequence's sample."""
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self) -> Any:
        """The dtype of samples."""
        return self._sample_ids_dtype

    def initialize(self, name: str | None = None) -> Any:
        """What the function gives."""
        with name_scope(name, f"{type(self).__name__}Initialize"):
            finished, next_inputs = self._initialize_fn()
            if self._batch_size is None:
                self._batch_size = array_ops.size(finished)
        return finished, next_inputs

    def sample(
        self, time: Any, outputs: Any, state: Any, name: str | None = None
    ) -> Any:
        """What the function gives."""
        values = nest.flatten((time, outputs, state))
        with name_scope(name, f"{type(self).__name__}Sample", values):
            return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(
        self,
        time: Any,
        outputs: Any,
        state: Any,
        sample_ids: Any,
        name: str | None = None,
    ) -> Any:
        """What the function gives."""
        values = nest.flatten((time, outputs, state))
        with name_scope(name, f"{type(self).__name__}NextInputs", values):
            return self._next_inputs_fn(
                time=time, outputs=outputs, state=state, sample_ids=sample_ids
            )


class ScalarIds(Helper):
    """A helper whose samples are int32 scalars."""

    _batch_size: Any

    @property
    def batch_size(self) -> Any:
        """The number of sequences."""
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        """Scalars."""
        return TensorShape([])

    @property
    def sample_ids_dtype(self) -> Any:
        """int32."""
        return dtypes.int32


def unstacked(value: Tensor) -> TensorArray:
    """A TensorArray of the elements along the first axis."""
    array = TensorArray(
        dtype=value.dtype,
        size=array_ops.shape(value)[0],
        element_shape=value.shape[1:],
    )
    return array.unstack(value)


@export("contrib.seq2seq.TrainingHelper")
class TrainingHelper(ScalarIds):
    """Gives the true inputs, whatever the outputs are; samples are the argmax.

    Args:
      inputs: [batch, time, ...].
      sequence_length: int32 [batch].
      time_major: whether inputs are [time, batch, ...].
      name: of the operations.

    Raises:
      ValueError: the lengths are no vector.
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        time_major: bool = False,
        name: str | None = None,
    ) -> None:
        with name_scope(name, "TrainingHelper", [inputs, sequence_length]):
            inputs = convert_to_tensor(inputs, name="inputs")
            self._inputs = inputs
            if not time_major:
                inputs = transpose_batch_time(inputs)
            self._input_tas = unstacked(inputs)
            self._sequence_length = convert_to_tensor(
                sequence_length, name="sequence_length"
            )
            if self._sequence_length.shape.rank != 1:
                raise ValueError(
                    "Expected sequence_length to be a vector, but received shape: "
                    f"{self._sequence_length.shape}"
                )
            self._zero_inputs = array_ops.zeros_like(inputs[0, :])
            self._batch_size = array_ops.size(sequence_length)

    @property
    def inputs(self) -> Any:
        """The inputs as they were given, as a tensor."""
        return self._inputs

    @property
    def sequence_length(self) -> Any:
        """The lengths as a tensor."""
        return self._sequence_length

    def _read(self, time: Any, all_finished: Tensor) -> Any:
        """The inputs of a step; zeros where no sequence has that many."""
        return cond(
            all_finished,
            lambda: self._zero_inputs,
            lambda: self._input_tas.read(time),
        )

    def initialize(self, name: str | None = None) -> Any:
        """Sequences of no length are finished."""
        with name_scope(name, "TrainingHelperInitialize"):
            finished = math_ops.equal(0, self._sequence_length)
            return finished, self._read(0, math_ops.reduce_all(finished))

    def sample(  # type: ignore[override]
        self, time: Any, outputs: Any, name: str | None = None, **unused_kwargs: Any
    ) -> Any:
        """The argmax of the outputs."""
        with name_scope(name, "TrainingHelperSample", [time, outputs]):
            return math_ops.cast(math_ops.argmax(outputs, axis=-1), dtypes.int32)

    def next_inputs(  # type: ignore[override]
        self,
        time: Any,
        outputs: Any,
        state: Any,
        name: str | None = None,
        **unused_kwargs: Any,
    ) -> Any:
        """The true inputs of the next step."""
        values = nest.flatten([time, outputs, state])
        with name_scope(name, "TrainingHelperNextInputs", values):
            next_time = time + 1
            finished = next_time >= self._sequence_length
            inputs = self._read(next_time, math_ops.reduce_all(finished))
            return finished, inputs, state
