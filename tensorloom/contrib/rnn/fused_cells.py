"""Whole recurrences behind one call: the fused LSTM, and adaptors."""

from __future__ import annotations

import abc
from typing import Any

from tensorloom.contrib.rnn.block_cells import add_lstm_weights
from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.keras.engine.input_spec import InputSpec
from tensorloom.layers.base import Layer
from tensorloom.nn.dynamic_rnn import dynamic_rnn
from tensorloom.nn.rnn_cells import LSTMStateTuple
from tensorloom.nn.static_rnn import static_rnn
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.stack import stack, unstack
from tensorloom.ops.indexing.gather import gather_nd
from tensorloom.ops.indexing.one_hot import sequence_mask
from tensorloom.ops.math import math_ops
from tensorloom.ops.reductions.reductions import reduce_max


@export("contrib.rnn.FusedRNNCell")
class FusedRNNCell(metaclass=abc.ABCMeta):
    """A recurrence over all steps at once, time first."""

    @abc.abstractmethod
    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        """Runs over inputs [time, batch, depth], or a list of [batch, depth].

        Args:
          inputs: the steps.
          initial_state: zeros of `dtype` by default.
          dtype: of the state; needed without an initial state.
          sequence_length: steps of each sequence, [batch].
          scope: of the variables.

        Returns:
          (outputs in the form of the inputs, final state).
        """


@export("contrib.rnn.FusedRNNCellAdaptor")
class FusedRNNCellAdaptor(FusedRNNCell):
    """An RNNCell as a fused cell.

    Args:
      cell: an RNNCell.
      use_dynamic_rnn: whether the steps are a loop, else they are unrolled.
    """

    def __init__(self, cell: Any, use_dynamic_rnn: bool = False) -> None:
        self._cell = cell
        self._use_dynamic_rnn = use_dynamic_rnn

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        """Runs the cell over inputs [time, batch, depth] or a list of steps."""
        is_list = isinstance(inputs, list)
        options: dict[str, Any] = {
            "initial_state": initial_state,
            "dtype": dtype,
            "sequence_length": sequence_length,
            "scope": scope,
        }
        if self._use_dynamic_rnn:
            steps = stack(inputs) if is_list else inputs
            outputs, state = dynamic_rnn(self._cell, steps, time_major=True, **options)
            return (unstack(outputs) if is_list else outputs), state
        steps = inputs if is_list else unstack(inputs)
        outputs, state = static_rnn(self._cell, steps, **options)
        return (outputs if is_list else stack(outputs)), state


@export("contrib.rnn.TimeReversedFusedRNN")
class TimeReversedFusedRNN(FusedRNNCell):
    """A fused cell that runs from the last step to the first.

    Args:
      cell: a FusedRNNCell.
    """

    def __init__(self, cell: Any) -> None:
        self._cell = cell

    def _reverse(self, steps: Any, lengths: Any) -> Any:
        if isinstance(steps, list):
            return list(reversed(steps))
        if lengths is None:
            return array_ops.reverse(steps, [0])
        return array_ops.reverse_sequence(steps, lengths, 0, 1)

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        """Runs the cell over reversed inputs; outputs are in the inputs' order."""
        outputs, state = self._cell(
            self._reverse(inputs, sequence_length),
            initial_state=initial_state,
            dtype=dtype,
            sequence_length=sequence_length,
            scope=scope,
        )
        return self._reverse(outputs, sequence_length), state


@export("contrib.rnn.LSTMBlockWrapper")
class LSTMBlockWrapper(Layer, metaclass=abc.ABCMeta):
    """Base of LSTMs that run over all steps in `_call_cell`."""

    @property
    @abc.abstractmethod
    def num_units(self) -> Any:
        """Number of units: the width of the output."""

    @abc.abstractmethod
    def _call_cell(
        self,
        inputs: Any,
        initial_cell_state: Any,
        initial_output: Any,
        dtype: Any,
        sequence_length: Any,
    ) -> Any:
        """(memories, outputs), both [time, batch, units]."""

    def call(  # type: ignore[override]
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
    ) -> Any:
        """Runs over inputs [time, batch, depth], or a list of [batch, depth].

        Args:
          inputs: the steps.
          initial_state: a pair (memory, output); zeros of `dtype` by default.
          dtype: of the state.
          sequence_length: steps of each sequence, [batch].

        Returns:
          (outputs in the form of the inputs, LSTMStateTuple of the last steps).

        Raises:
          ValueError: the depth is not known, neither a state nor a dtype is given, or
            the state is not a pair.
        """
        is_list = isinstance(inputs, list)
        if is_list:
            inputs = stack(inputs)
        time_len, batch_size, depth = inputs.shape.with_rank(3).as_list()
        if not depth:
            raise ValueError(f"Expecting inputs_shape[2] to be set: {inputs.shape}")
        if batch_size is None:
            batch_size = array_ops.shape(inputs)[1]
        if time_len is None:
            time_len = array_ops.shape(inputs)[0]
        if initial_state is None:
            if dtype is None:
                raise ValueError("Either initial_state or dtype needs to be specified")
            size = stack([batch_size, self.num_units])
            zeros = array_ops.zeros(size, dtype=dtype)
            initial_state = zeros, zeros
        elif len(initial_state) != 2:
            raise ValueError(
                "Expecting initial_state to be a tuple with length 2 or None"
            )
        elif dtype is None:
            dtype = initial_state[0].dtype
        if sequence_length is not None:
            sequence_length = convert_to_tensor(sequence_length)
        memory, output = initial_state
        memories, outputs = self._call_cell(
            inputs, memory, output, dtype, sequence_length
        )
        if sequence_length is None:
            final = memories[-1], outputs[-1]
        else:
            mask = sequence_mask(sequence_length, time_len, dtype=dtype)
            mask = array_ops.expand_dims(array_ops.transpose(mask, [1, 0]), [-1])
            outputs *= array_ops.tile(mask, [1, 1, self.num_units])
            # Row 0 is the initial state, for sequences without a step.
            rows = [
                array_ops.concat([array_ops.expand_dims(first, [0]), steps], 0)
                for first, steps in zip(initial_state, (memories, outputs), strict=True)
            ]
            final = tuple(_last(r, sequence_length, batch_size) for r in rows)
        if is_list:
            outputs = unstack(outputs)
        return outputs, LSTMStateTuple(*final)


def _last(rows: Any, lengths: Any, batch_size: Any) -> Any:
    """rows[lengths[i], i] for each i of the batch."""
    places = stack([lengths, math_ops.range(batch_size)], axis=1)
    return gather_nd(rows, places)


@export("contrib.rnn.LSTMBlockFusedCell")
class LSTMBlockFusedCell(LSTMBlockWrapper):
    """An LSTM over all steps in one operation, with the variables of `LSTMCell`.

    Args:
      num_units: size of memory and output.
      forget_bias: added to the forget gate's input.
      cell_clip: bound of the memory's absolute values, none by default.
      use_peephole: gates see the memory through diagonal weights.
      reuse: whether existing variables are reused.
      name, dtype: see `Layer`.
    """

    _kernel: Any
    _bias: Any
    _peepholes: Any

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        reuse: Any = None,
        dtype: Any = None,
        name: str | None = "lstm_fused_cell",
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._cell_clip = -1 if cell_clip is None else cell_clip
        self._use_peephole = use_peephole
        self.input_spec = InputSpec(ndim=3)

    @property
    def num_units(self) -> Any:
        """Number of units: the width of the output."""
        return self._num_units

    def build(self, input_shape: Any) -> None:
        """Makes kernel [depth + units, 4 * units], bias and peepholes."""
        depth = input_shape.as_list()[2]
        add_lstm_weights(self, depth, self._num_units, self._use_peephole)
        self.built = True

    def _call_cell(
        self,
        inputs: Any,
        initial_cell_state: Any = None,
        initial_output: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
    ) -> Any:
        steps = inputs.shape.with_rank(3).as_list()[0]
        if steps is None:
            steps = array_ops.shape(inputs)[0]
        if self._use_peephole:
            wci, wcf, wco = self._peepholes
        else:
            wci = wcf = wco = array_ops.zeros([self._num_units], dtype=dtype)
        if sequence_length is not None:
            steps = reduce_max(sequence_length)
        outputs = apply_op(
            "BlockLSTM",
            seq_len_max=math_ops.cast(steps, dtypes.int64),
            x=inputs,
            cs_prev=initial_cell_state,
            h_prev=initial_output,
            w=self._kernel,
            wci=wci,
            wcf=wcf,
            wco=wco,
            b=self._bias,
            forget_bias=self._forget_bias,
            cell_clip=self._cell_clip,
            use_peephole=self._use_peephole,
        )
        return outputs[1], outputs[6]
