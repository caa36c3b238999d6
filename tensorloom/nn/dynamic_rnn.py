"""Recurrent networks in a while loop."""

from __future__ import annotations

from typing import Any

from tensorloom.client.control_flow.while_loop import while_loop
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Operation, control_dependencies, name_scope
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.nn.rnn_cell import check_is_cell, concat_shapes
from tensorloom.nn.rnn_step import (
    batch_size_of,
    bounded_step,
    cache_variables,
    initial_state,
    state_dtype,
    static_shape,
    transpose_batch_time,
)
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.constant import constant
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.lists.tensor_array import TensorArray
from tensorloom.ops.math import math_ops


@export("nn.dynamic_rnn")
def dynamic_rnn(
    cell: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> Any:
    """Runs a cell over inputs [batch, time, depth] ([time, batch, depth] if major).

    Args:
      cell: an RNNCell.
      inputs: a tensor, or a structure of them.
      sequence_length: int [batch]; outputs past it are zeros, the state stays.
      initial_state: of the cell's `state_size`; zeros of `dtype` by default.
      parallel_iterations, swap_memory: hints for the loop.
      time_major: the layout of inputs and outputs.
      scope: variable scope, "rnn" by default.

    Returns:
      (outputs [batch, time, output size], final state).

    Raises:
      TypeError: not a cell.
      ValueError: shapes do not fit, or neither state nor dtype is given.
    """
    check_is_cell("cell", cell)
    with variable_scope(scope or "rnn") as entered:
        cache_variables(entered)
        flat = nest.flatten(inputs)
        if not time_major:
            flat = [convert_to_tensor(value) for value in flat]
            flat = [transpose_batch_time(value) for value in flat]
        if sequence_length is not None:
            sequence_length = _lengths(sequence_length)
        batch_size = batch_size_of(flat)
        state = _state(cell, initial_state, batch_size, dtype)
        if sequence_length is not None:
            with control_dependencies([_check_lengths(sequence_length, batch_size)]):
                sequence_length = array_ops.identity(
                    sequence_length, name="CheckSeqLen"
                )
        loop = _Loop(cell, nest.pack_sequence_as(inputs, flat), state, dtype)
        outputs, final = loop.run(
            sequence_length, parallel_iterations or 32, swap_memory
        )
        if not time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
        return outputs, final


def _state(cell: Any, state: Any, batch_size: Any, dtype: Any) -> Any:
    hint = "If there is no initial_state, you must give a dtype."
    return initial_state(cell, state, batch_size, dtype, hint)


def _lengths(sequence_length: Any) -> Any:
    lengths = math_ops.cast(sequence_length, dtypes.int32)
    if lengths.shape.rank not in (None, 1):
        raise ValueError(
            "sequence_length must be a vector of length batch_size, but saw shape: "
            f"{lengths.shape}"
        )
    return array_ops.identity(lengths, name="sequence_length")


def _check_lengths(lengths: Any, batch_size: Any) -> Operation:
    shape, expected = array_ops.shape(lengths), array_ops.stack([batch_size])
    return control_flow_ops.Assert(
        math_ops.reduce_all(math_ops.equal(shape, expected)),
        [
            f"Expected shape for Tensor {lengths.name} is ",
            expected,
            " but saw shape: ",
            shape,
        ],
    )


class _Loop:
    """The while loop over time of one network."""

    def __init__(self, cell: Any, inputs: Any, state: Any, dtype: Any) -> None:
        self.cell, self.inputs, self.state = cell, inputs, state
        self.flat = nest.flatten(inputs)
        self.sizes = nest.flatten(cell.output_size)
        self.steps = array_ops.shape(self.flat[0])[0]
        self.batch_size = batch_size_of(self.flat)
        self.shapes = [value.shape.with_rank_at_least(3) for value in self.flat]
        self.static_steps, self.static_batch = self.shapes[0].as_list()[:2]
        self.dtype = dtype
        self._check_shapes()

    def _check_shapes(self) -> None:
        for shape in self.shapes:
            if not shape[2:].is_fully_defined():
                raise ValueError(
                    "Input size (depth of inputs) must be accessible via shape "
                    "inference, but saw value None."
                )
            steps, batch = shape.as_list()[:2]
            if steps != self.static_steps:
                raise ValueError(
                    "Time steps is not the same for all the elements in the input in a "
                    "batch."
                )
            if batch != self.static_batch:
                raise ValueError(
                    "Batch_size is not the same for all the elements in the input."
                )

    def run(self, lengths: Any, parallel_iterations: int, swap_memory: bool) -> Any:
        """(outputs, final state), the outputs time-major."""
        zeros = [self._zero_output(size) for size in self.sizes]
        zero_output = nest.pack_sequence_as(self.cell.output_size, zeros)
        longest = self.steps
        bounds = None
        if lengths is not None:
            shortest = math_ops.reduce_min(lengths)
            longest = math_ops.reduce_max(lengths)
            bounds = (lengths, shortest, longest, zero_output)
        time = constant(0, dtype=dtypes.int32, name="time")
        output_arrays, input_arrays = self._arrays()
        bound = math_ops.minimum(self.steps, math_ops.maximum(1, longest))

        def step(time: Any, arrays: Any, state: Any) -> Any:
            return self._step(time, arrays, state, input_arrays, bounds)

        _, arrays, final = while_loop(
            cond=lambda time, *_: time < bound,
            body=step,
            loop_vars=(time, output_arrays, self.state),
            parallel_iterations=parallel_iterations,
            maximum_iterations=self.steps,
            swap_memory=swap_memory,
        )
        return self._outputs(arrays), final

    def _zero_output(self, size: Any) -> Any:
        shape = concat_shapes(self.batch_size, size)
        return array_ops.zeros(
            array_ops.stack(shape), state_dtype(self.dtype, self.state)
        )

    def _arrays(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        with name_scope("dynamic_rnn") as base:
            pass
        dtype = state_dtype(self.dtype, self.state)
        batch = TensorShape([self.static_batch])
        outputs = [
            self._array(
                f"{base}output_{i}", batch.concatenate(static_shape(size)), dtype
            )
            for i, size in enumerate(self.sizes)
        ]
        inputs = [
            self._array(f"{base}input_{i}", value.shape[1:], value.dtype)
            for i, value in enumerate(self.flat)
        ]
        filled = [
            array.unstack(value) for array, value in zip(inputs, self.flat, strict=True)
        ]
        return tuple(outputs), tuple(filled)

    def _array(self, name: str, shape: Any, dtype: Any) -> Any:
        return TensorArray(
            dtype=dtype, size=self.steps, element_shape=shape, tensor_array_name=name
        )

    def _step(
        self, time: Any, arrays: Any, state: Any, input_arrays: Any, bounds: Any
    ) -> Any:
        values = [array.read(time) for array in input_arrays]
        for value, shape in zip(values, self.shapes, strict=True):
            value.set_shape(shape[1:])
        inputs = nest.pack_sequence_as(self.inputs, values)

        def call_cell() -> Any:
            return self.cell(inputs, state)

        if bounds is None:
            output, new_state = call_cell()
        else:
            lengths, shortest, longest, zero_output = bounds
            output, new_state = bounded_step(
                time,
                lengths,
                shortest,
                longest,
                zero_output,
                state,
                call_cell,
                skip_conditionals=True,
            )
        outputs = nest.flatten(output)
        written = tuple(
            array.write(time, value)
            for array, value in zip(arrays, outputs, strict=True)
        )
        return time + 1, written, new_state

    def _outputs(self, arrays: Any) -> Any:
        outputs = [array.stack() for array in arrays]
        for output, size in zip(outputs, self.sizes, strict=True):
            static = [self.static_steps, self.static_batch]
            output.set_shape(concat_shapes(static, size, static=True))
        return nest.pack_sequence_as(self.cell.output_size, outputs)


@export("nn.bidirectional_dynamic_rnn")
def bidirectional_dynamic_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> Any:
    """`dynamic_rnn` with two cells, one of them from the end to the start.

    Returns:
      ((outputs forwards, outputs backwards), (final states likewise)).
    """
    check_is_cell("cell_fw", cell_fw)
    check_is_cell("cell_bw", cell_bw)
    time_axis, batch_axis = (0, 1) if time_major else (1, 0)
    options = {
        "sequence_length": sequence_length,
        "dtype": dtype,
        "parallel_iterations": parallel_iterations,
        "swap_memory": swap_memory,
        "time_major": time_major,
    }

    def reverse(value: Any) -> Any:
        if sequence_length is None:
            return array_ops.reverse(value, axis=[time_axis])
        return array_ops.reverse_sequence(
            input=value,
            seq_lengths=sequence_length,
            seq_axis=time_axis,
            batch_axis=batch_axis,
        )

    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as fw_scope:
            output_fw, state_fw = dynamic_rnn(
                cell_fw,
                inputs,
                initial_state=initial_state_fw,
                scope=fw_scope,
                **options,
            )
        with variable_scope("bw") as bw_scope:
            reversed_inputs = nest.map_structure(reverse, inputs)
            output, state_bw = dynamic_rnn(
                cell_bw,
                reversed_inputs,
                initial_state=initial_state_bw,
                scope=bw_scope,
                **options,
            )
    return (output_fw, nest.map_structure(reverse, output)), (state_fw, state_bw)
