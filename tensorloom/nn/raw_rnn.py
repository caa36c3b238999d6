"""A recurrent network whose inputs and states a program's function decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.control_flow.while_loop import while_loop
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.nn.rnn_cell import check_is_cell, concat_shapes
from tensorloom.nn.rnn_step import cache_variables, keep_where, static_shape
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.constant import constant
from tensorloom.ops.lists.tensor_array import TensorArray
from tensorloom.ops.math import math_ops


@export("nn.raw_rnn")
def raw_rnn(
    cell: Any,
    loop_fn: Callable[..., Any],
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    scope: Any = None,
) -> Any:
    """Runs a cell as long as `loop_fn` gives it inputs.

    Args:
      cell: an RNNCell.
      loop_fn: (time, cell output, cell state, loop state) -> (elements finished
        [batch], next input, next cell state, output to emit, next loop state). At
        first it is called with time 0 and None for the others.
      parallel_iterations, swap_memory: hints for the loop.
      scope: variable scope, "rnn" by default.

    Returns:
      (TensorArrays of what was emitted, final state, final loop state).

    Raises:
      TypeError: not a cell, or not a function.
      ValueError: structures do not fit.
    """
    check_is_cell("cell", cell)
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    with variable_scope(scope or "rnn") as entered:
        cache_variables(entered)
        time = constant(0, dtype=dtypes.int32)
        finished, value, state, emitted, first_loop_state = loop_fn(
            time, None, None, None
        )
        loop_state = first_loop_state
        if loop_state is None:
            loop_state = constant(0, dtype=dtypes.int32)
        loop = _RawLoop(cell, loop_fn, value, state, emitted)
        returned = while_loop(
            lambda time, finished, *_: math_ops.logical_not(
                math_ops.reduce_all(finished)
            ),
            loop.body,
            loop_vars=[time, finished, value, loop.arrays, loop.state, loop_state],
            parallel_iterations=parallel_iterations or 32,
            swap_memory=swap_memory,
        )
        arrays, final_state, final_loop_state = returned[-3:]
        if first_loop_state is None:
            final_loop_state = None
        return arrays, final_state, final_loop_state


class _RawLoop:
    """What is known after the first call of the program's function."""

    def __init__(
        self,
        cell: Any,
        loop_fn: Callable[..., Any],
        value: Any,
        state: Any,
        emitted: Any,
    ) -> None:
        self.cell, self.loop_fn = cell, loop_fn
        flat = nest.flatten(value)
        static_batch, batch_size = _batch_size(flat)
        nest.assert_same_structure(state, cell.state_size)
        states = [convert_to_tensor(s) for s in nest.flatten(state)]
        self.state = nest.pack_sequence_as(state, states)
        if emitted is None:
            emitted = cell.output_size
            sizes = nest.flatten(emitted)
            kinds = [states[0].dtype] * len(sizes)
        else:
            parts = nest.flatten(emitted)
            sizes = [
                p.shape if p.shape.is_fully_defined() else array_ops.shape(p)
                for p in parts
            ]
            kinds = [p.dtype for p in parts]
        arrays = [
            TensorArray(
                dtype=kind,
                dynamic_size=True,
                element_shape=TensorShape([static_batch]).concatenate(
                    static_shape(size)
                ),
                size=0,
                name=f"rnn_output_{i}",
            )
            for i, (kind, size) in enumerate(zip(kinds, sizes, strict=True))
        ]
        self.arrays = nest.pack_sequence_as(emitted, arrays)
        zeros = [
            array_ops.zeros(concat_shapes(batch_size, size), kind)
            for size, kind in zip(sizes, kinds, strict=True)
        ]
        self.zero_emit = nest.pack_sequence_as(emitted, zeros)

    def body(
        self,
        time: Any,
        finished: Any,
        value: Any,
        arrays: Any,
        state: Any,
        loop_state: Any,
    ) -> Any:
        """One step of the loop."""
        output, cell_state = self.cell(value, state)
        nest.assert_same_structure(state, cell_state)
        nest.assert_same_structure(self.cell.output_size, output)
        next_time = time + 1
        next_finished, next_value, next_state, emit, next_loop_state = self.loop_fn(
            next_time, output, cell_state, loop_state
        )
        nest.assert_same_structure(state, next_state)
        nest.assert_same_structure(value, next_value)
        nest.assert_same_structure(arrays, emit)
        if next_loop_state is None:
            next_loop_state = loop_state

        def keep(old: Any, new: Any) -> Any:
            return keep_where(finished, old, new)

        emit = nest.map_structure(keep, self.zero_emit, emit)
        next_state = nest.map_structure(keep, state, next_state)
        arrays = nest.map_structure(
            lambda array, part: array.write(time, part), arrays, emit
        )
        all_finished = math_ops.logical_or(finished, next_finished)
        return next_time, all_finished, next_value, arrays, next_state, next_loop_state


def _batch_size(inputs: list[Any]) -> tuple[int | None, Any]:
    """(static, as a number or tensor) first dimension. Raises ValueError."""
    static = inputs[0].shape[:1]
    for value in inputs:
        static = static.merge_with(value.shape[:1])
    size = static.as_list()[0]
    if size is None:
        return None, array_ops.shape(inputs[0])[0]
    return size, size
