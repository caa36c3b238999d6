"""`functional_rnn`: `tf.nn.dynamic_rnn` by `Recurrent`."""

from __future__ import annotations

from typing import Any

from tensorloom.client.functions.function import Defun
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.recurrent import structures
from tensorloom.contrib.recurrent.loops import Recurrent
from tensorloom.framework.export import export
from tensorloom.framework.types import nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import fill, pad, permute, reshape, shape
from tensorloom.ops.array.identity import stop_gradient
from tensorloom.ops.indexing import gather
from tensorloom.ops.math import binary, cast, comparison
from tensorloom.ops.math.sequence import range as range_op
from tensorloom.ops.reductions import reductions


@export("contrib.recurrent.functional_rnn")
def functional_rnn(
    cell: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
    dtype: Any = None,
    time_major: bool = False,
    scope: Any = None,
    use_tpu: bool = False,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """A cell over time, as `tf.nn.dynamic_rnn`, by a loop of `Recurrent`.

    Args:
      cell: an RNNCell.
      inputs: [batch, time, depth]; [time, batch, depth] if `time_major`.
      sequence_length: [batch]: outputs after it are zero, and the state is that of the
        last step in it. By default all steps count.
      initial_state: by default zeros of `dtype`.
      dtype: of the state, where none is given.
      time_major: whether time comes first.
      scope: of the cell's variables; "rnn" by default.
      use_tpu: as of `Recurrent`.
      reverse: whether to go from the last step to the first.

    Returns:
      The outputs, in the layout of the inputs, and the last state.
    """
    with variable_scope(scope or "rnn"):
        if not time_major:
            inputs = nest.map_structure(
                lambda tensor: permute.transpose(tensor, [1, 0, 2]), inputs
            )
        first = nest.flatten(inputs)[0]
        if initial_state is None:
            initial_state = cell.zero_state(shape.shape(first)[1], dtype)
        functional = _FunctionalCell(cell, inputs, initial_state)
    longest = None
    if sequence_length is not None:
        longest = reductions.reduce_max(sequence_length)
    if reverse:
        inputs = permute.reverse(inputs, [0])
    states, last = Recurrent(
        theta=functional.theta,
        state0=functional.extended_state,
        inputs=inputs,
        cell_fn=functional.step,
        max_input_length=longest,
        use_tpu=use_tpu,
        aligned_end=reverse,
    )
    outputs, state = functional.results(
        states, last, first.shape[0], sequence_length, reverse
    )
    if time_major:
        outputs = permute.transpose(outputs, [1, 0, 2])
    return outputs, state


class _FunctionalCell:
    """An RNNCell as a pure step: its variables are arguments.

    `Recurrent` keeps states alone. So the output of a cell whose state does not have it
    (that of an LSTM does) is kept as the first part of an extended state.
    """

    def __init__(self, cell: Any, inputs: Any, initial_state: Any) -> None:
        row = nest.map_structure(
            lambda tensor: stop_gradient(gather.gather(tensor, 0)), inputs
        )
        flat_state = [
            convert_to_tensor(tensor) for tensor in nest.flatten(initial_state)
        ]
        self._state_types = [tensor.dtype for tensor in flat_state]

        def flat_cell_step(*args: Any) -> list[Any]:
            inputs_t, state = structures.pack(args, (row, initial_state))
            structures.set_shapes(state, initial_state)
            structures.set_shapes(inputs_t, row)
            output, after = cell(inputs_t, state)
            states = nest.flatten(after)
            self._output_shape = output.shape
            places = [at for at, tensor in enumerate(states) if tensor is output]
            self._output_place = places[0] if places else None
            return states if places else [output, *states]

        flat_cell_step.__name__ = "FlatCellStep"
        function: Any = Defun(inputs.dtype, *self._state_types)(flat_cell_step)
        self.theta = function.captured_inputs
        self._step = function.with_captures_as_arguments()
        self._initial_state = initial_state

    @property
    def extended_state(self) -> Any:
        """The first state for `Recurrent`."""
        if self._output_place is not None:
            return self._initial_state
        output = fill.zeros(self._output_shape, dtype=self._state_types[0])
        return [output, self._initial_state]

    def _without_output(self, extended: Any) -> list[Any]:
        flat = nest.flatten(extended)
        return flat[1:] if self._output_place is None else flat

    def step(
        self, theta: Any, extended_state: Any, inputs: Any
    ) -> tuple[Any, list[Any]]:
        """The step for `Recurrent`: the extended state after it, and no extras."""
        state = self._without_output(extended_state)
        return self._step(inputs, *state, *theta), []

    def results(
        self, states: Any, last: Any, time: Any, lengths: Any, is_reversed: bool
    ) -> tuple[Any, Any]:
        """Outputs [batch, time, depth], and the last state, from what was kept."""
        if lengths is None or is_reversed:
            flat = self._without_output(last)
        else:
            flat = [_last_row(kept, lengths) for kept in self._without_output(states)]
        state = structures.pack(flat, self._initial_state)
        outputs = nest.flatten(states)[self._output_place or 0]
        if is_reversed:
            outputs = permute.reverse(outputs, [0])
        outputs = permute.transpose(outputs, [1, 0, 2])
        outputs.set_shape([self._output_shape[0], time, self._output_shape[1]])
        if lengths is not None:
            outputs = _masked(outputs, lengths)
        structures.set_shapes(state, self._initial_state)
        return outputs, state


def _steps(batch_size: Any, time: Any) -> Any:
    """The number of each step, for each row of the batch."""
    tiled = pad.tile(range_op(0, time), [batch_size])
    return reshape.reshape(tiled, [batch_size, time])


def _masked(outputs: Any, lengths: Any) -> Any:
    sizes = shape.shape(outputs)
    steps = _steps(sizes[0], sizes[1])
    ends = pad.tile(reshape.reshape(lengths, [-1, 1]), [1, sizes[1]])
    kept = cast.cast(comparison.less(steps, ends), outputs.dtype)
    return pad.tile(reshape.expand_dims(kept, -1), [1, 1, sizes[2]]) * outputs


def _last_row(kept: Any, lengths: Any) -> Any:
    """The row of each sequence's last step. Products, so that any device can do it."""
    sizes = shape.shape(kept)
    steps = _steps(sizes[1], sizes[0])
    ends = pad.tile(reshape.reshape(lengths, [-1, 1]), [1, sizes[0]])
    is_last = cast.cast(comparison.equal(steps, ends - 1), kept.dtype)
    is_last = reshape.expand_dims(permute.transpose(is_last), -1)
    return reductions.reduce_sum(binary.multiply(is_last, kept), 0)


@export("contrib.recurrent.bidirectional_functional_rnn")
def bidirectional_functional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    time_major: bool = False,
    use_tpu: bool = False,
    fast_reverse: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """Two cells over time, one from each end, as `tf.nn.bidirectional_dynamic_rnn`.

    Args:
      cell_fw, cell_bw: RNNCells.
      inputs: [batch, time, depth]; [time, batch, depth] if `time_major`.
      initial_state_fw, initial_state_bw: by default zeros of `dtype`.
      dtype: of the states, where none are given.
      sequence_length: [batch], as of `functional_rnn`.
      time_major: whether time comes first.
      use_tpu: as of `Recurrent`; it needs `sequence_length`.
      fast_reverse: turn all steps round, not those of each sequence: right where all
        sequences are of one length, or padding leaves the state as it is.
      scope: of the variables; "bidirectional_rnn" by default.

    Returns:
      Pairs, forwards and backwards, of outputs and of last states.
    """
    axis, batch_axis = (0, 1) if time_major else (1, 0)

    def turned(tensor: Any) -> Any:
        if sequence_length is not None:
            return permute.reverse_sequence(
                input=tensor,
                seq_lengths=sequence_length,
                seq_dim=axis,
                batch_dim=batch_axis,
            )
        assert not use_tpu, (
            "Bidirectional with variable sequence lengths unsupported on TPU"
        )
        return permute.reverse(tensor, axis=[axis])

    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forward_scope:
            outputs_fw, state_fw = functional_rnn(
                cell=cell_fw,
                inputs=inputs,
                sequence_length=sequence_length,
                initial_state=initial_state_fw,
                dtype=dtype,
                time_major=time_major,
                scope=forward_scope,
                use_tpu=use_tpu,
            )
        with variable_scope("bw") as backward_scope:
            outputs_bw, state_bw = functional_rnn(
                cell=cell_bw,
                inputs=inputs if fast_reverse else turned(inputs),
                sequence_length=sequence_length,
                initial_state=initial_state_bw,
                dtype=dtype,
                time_major=time_major,
                scope=backward_scope,
                use_tpu=use_tpu,
                reverse=fast_reverse,
            )
    if not fast_reverse:
        outputs_bw = turned(outputs_bw)
    return (outputs_fw, outputs_bw), (state_fw, state_bw)
