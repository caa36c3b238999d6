"""`Decoder`, and the loop that runs one: `dynamic_decode`."""

from __future__ import annotations

import abc
import contextlib
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow.while_loop import while_loop
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.keras.engine.base_layer import Layer
from tensorloom.nn.rnn_cell import zero_states
from tensorloom.nn.rnn_step import cache_variables, transpose_batch_time
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.constant import constant
from tensorloom.ops.lists.tensor_array import TensorArray
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


@export("contrib.seq2seq.Decoder")
class Decoder(abc.ABC):
    """What `dynamic_decode` runs: a first input and state, and a step."""

    @property
    def batch_size(self) -> Any:
        """The number of sequences."""
        raise NotImplementedError

    @property
    def output_size(self) -> Any:
        """Sizes of a step's outputs: numbers or shapes, without the batch."""
        raise NotImplementedError

    @property
    def output_dtype(self) -> Any:
        """Dtypes of a step's outputs, in the structure of `output_size`."""
        raise NotImplementedError

    @abc.abstractmethod
    def initialize(self, name: str | None = None) -> Any:
        """(finished [batch], first inputs, first state)."""
        raise NotImplementedError

    @abc.abstractmethod
    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """A step: (outputs, next state, next inputs, finished [batch]).

        Args:
          time: number of the step, an int32 scalar.
          inputs, state: what the last step gave.
          name: of the operations.
        """
        raise NotImplementedError

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """(outputs, final state) of those of the loop, where a decoder changes them.

        Args:
          outputs: of all steps, [time, batch, ...].
          final_state: the last step's.
          sequence_lengths: int32 [batch].
        """
        raise NotImplementedError

    @property
    def tracks_own_finished(self) -> bool:
        """Whether `finished` of a step is the whole truth.

        Else a sequence that was finished once stays so.
        """
        return False


class BaseDecoder(Layer):
    """A decoder that is a Keras layer: its call runs all the steps.

    Args:
      output_time_major, impute_finished, maximum_iterations, parallel_iterations,
        swap_memory: see `dynamic_decode`.
      **kwargs: of the layer: its name and dtype.
    """

    def __init__(
        self,
        output_time_major: bool = False,
        impute_finished: bool = False,
        maximum_iterations: Any = None,
        parallel_iterations: int = 32,
        swap_memory: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.output_time_major = output_time_major
        self.impute_finished = impute_finished
        self.maximum_iterations = maximum_iterations
        self.parallel_iterations = parallel_iterations
        self.swap_memory = swap_memory

    def call(self, inputs: Any, initial_state: Any = None, **kwargs: Any) -> Any:
        """(outputs, final state, sequence lengths); see `dynamic_decode`.

        Args:
          inputs, initial_state, **kwargs: go to `initialize`.
        """
        return self._decode(inputs, initial_state=initial_state, **kwargs)

    def _decode(self, inputs: Any, **kwargs: Any) -> Any:
        return dynamic_decode(
            self,
            output_time_major=self.output_time_major,
            impute_finished=self.impute_finished,
            maximum_iterations=self.maximum_iterations,
            parallel_iterations=self.parallel_iterations,
            swap_memory=self.swap_memory,
            decoder_init_input=inputs,
            decoder_init_kwargs=kwargs,
        )

    @property
    def batch_size(self) -> Any:
        """The number of sequences."""
        raise NotImplementedError

    @property
    def output_size(self) -> Any:
        """Sizes of a step's outputs: numbers or shapes, without the batch."""
        raise NotImplementedError

    @property
    def output_dtype(self) -> Any:
        """Dtypes of a step's outputs, in the structure of `output_size`."""
        raise NotImplementedError

    def initialize(self, inputs: Any, initial_state: Any = None, **kwargs: Any) -> Any:
        """(finished [batch], first inputs, first state)."""
        raise NotImplementedError

    def step(self, time: Any, inputs: Any, state: Any) -> Any:
        """A step; see `Decoder.step`."""
        raise NotImplementedError

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """(outputs, final state) of those of the loop; see `Decoder.finalize`."""
        raise NotImplementedError

    @property
    def tracks_own_finished(self) -> bool:
        """Whether `finished` of a step is the whole truth."""
        return False


@export("contrib.seq2seq.dynamic_decode")
def dynamic_decode(
    decoder: Decoder | BaseDecoder,
    output_time_major: bool = False,
    impute_finished: bool = False,
    maximum_iterations: Any = None,
    parallel_iterations: int = 32,
    swap_memory: bool = False,
    scope: Any = None,
    **kwargs: Any,
) -> Any:
    """Runs a decoder's steps until all its sequences are finished.

    Args:
      decoder: a `Decoder`.
      output_time_major: whether outputs are [time, batch, ...], which is faster.
      impute_finished: whether finished sequences keep their state and have outputs of
        zeros. Needed where gradients must not see the steps past the end.
      maximum_iterations: int32 scalar, the most steps.
      parallel_iterations, swap_memory: hints for the loop.
      scope: variable scope, "decoder" by default.
      **kwargs: for decoders that are Keras layers: `decoder_init_input`, and
        `decoder_init_kwargs`, a dict, for their `initialize`.

    Returns:
      (outputs [batch, time, ...], final state, sequence lengths int32 [batch]).

    Raises:
      TypeError: not a decoder.
      ValueError: `maximum_iterations` is no scalar.
    """
    if not isinstance(decoder, Decoder | BaseDecoder):
        raise TypeError(
            f"Expected decoder to be type Decoder, but saw: {type(decoder)}"
        )
    with variable_scope(scope, "decoder") as entered:
        cache_variables(entered)
        if maximum_iterations is not None:
            maximum_iterations = _limit(maximum_iterations)
        loop = _Loop(decoder, impute_finished, maximum_iterations, kwargs)
        outputs, state, lengths = loop.run(parallel_iterations, swap_memory)
        # A decoder that has no `finalize` of its own wants none.
        with contextlib.suppress(NotImplementedError):
            outputs, state = decoder.finalize(outputs, state, lengths)
        if not output_time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
    return outputs, state, lengths


def _limit(maximum_iterations: Any) -> Tensor:
    limit = convert_to_tensor(
        maximum_iterations, dtype=dtypes.int32, name="maximum_iterations"
    )
    if limit.shape.rank != 0:
        raise ValueError("maximum_iterations must be a scalar")
    return limit


class _Loop:
    """The while loop over the steps of one decoder."""

    def __init__(
        self,
        decoder: Decoder | BaseDecoder,
        impute: bool,
        limit: Tensor | None,
        given: dict[str, Any],
    ) -> None:
        self.decoder, self.impute, self.limit = decoder, impute, limit
        if isinstance(decoder, Decoder):
            first = decoder.initialize()
        else:
            first = decoder.initialize(
                given.get("decoder_init_input"), **given.get("decoder_init_kwargs", {})
            )
        self.finished, self.inputs, self.state = first
        batch = decoder.batch_size
        self.zeros = nest.map_structure(
            lambda size, dtype: zero_states(size, batch, dtype),
            decoder.output_size,
            decoder.output_dtype,
        )
        if limit is not None:
            self.finished = math_ops.logical_or(self.finished, limit <= 0)

    def run(self, parallel_iterations: int, swap_memory: bool) -> Any:
        """(outputs [time, batch, ...], final state, lengths)."""
        lengths = array_ops.zeros_like(self.finished, dtype=dtypes.int32)
        time = constant(0, dtype=dtypes.int32)
        arrays = nest.map_structure(
            self._array, self.decoder.output_size, self.decoder.output_dtype
        )
        _, arrays, state, _, _, lengths = while_loop(
            lambda time, arrays, state, inputs, finished, lengths: math_ops.logical_not(
                math_ops.reduce_all(finished)
            ),
            self._body,
            loop_vars=(time, arrays, self.state, self.inputs, self.finished, lengths),
            parallel_iterations=parallel_iterations,
            maximum_iterations=self.limit,
            swap_memory=swap_memory,
        )
        return nest.map_structure(lambda array: array.stack(), arrays), state, lengths

    def _array(self, size: Any, dtype: Any) -> TensorArray:
        shape = None
        if isinstance(size, TensorShape) and size.rank != 0:
            batch = convert_to_tensor(self.decoder.batch_size, name="batch_size")
            shape = TensorShape([constant_value(batch)]).concatenate(size)
        return TensorArray(dtype=dtype, size=0, dynamic_size=True, element_shape=shape)

    def _body(
        self,
        time: Any,
        arrays: Any,
        state: Any,
        inputs: Any,
        finished: Any,
        lengths: Any,
    ) -> Any:
        outputs, next_state, next_inputs, now_finished = self.decoder.step(
            time, inputs, state
        )
        if not self.decoder.tracks_own_finished:
            now_finished = math_ops.logical_or(now_finished, finished)
        next_lengths = array_ops.where(
            math_ops.logical_not(finished),
            array_ops.fill(array_ops.shape(lengths), time + 1),
            lengths,
        )
        nest.assert_same_structure(state, next_state)
        nest.assert_same_structure(arrays, outputs)
        nest.assert_same_structure(inputs, next_inputs)
        if self.impute:
            outputs = nest.map_structure(
                lambda output, zero: array_ops.where(finished, zero, output),
                outputs,
                self.zeros,
            )
            next_state = nest.map_structure(
                lambda new, old: _kept(finished, old, new), next_state, state
            )
        arrays = nest.map_structure(
            lambda array, output: array.write(time, output), arrays, outputs
        )
        return time + 1, arrays, next_state, next_inputs, now_finished, next_lengths


def _kept(finished: Tensor, old: Any, new: Any) -> Any:
    """`old` in the rows that are finished; TensorArrays and scalars as they are."""
    if isinstance(old, TensorArray):
        return new
    new.set_shape(old.shape)
    return new if new.shape.rank == 0 else array_ops.where(finished, old, new)
