"""A cell that is a grid of recurrences (arXiv:1507.01526)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from tensorloom.client.variables.variable_scope import (
    get_variable,
    get_variable_scope,
    variable_scope,
)
from tensorloom.contrib.grid_rnn.grid_dimensions import GridDimensions
from tensorloom.contrib.layers.dense import XAVIER, fully_connected
from tensorloom.framework.export import export
from tensorloom.framework.types.dimension import dimension_value
from tensorloom.nn.rnn_cell import RNNCell
from tensorloom.nn.rnn_lstm_cell import LSTMCell
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops

_LOG = logging.getLogger("tensorflow")


@export("contrib.grid_rnn.GridRNNCell")
class GridRNNCell(RNNCell):
    """A grid of recurrences: each dimension has a cell, which sees all of them.

    Args:
      num_units: size of memory and output of each dimension.
      num_dims: how many dimensions the grid has.
      input_dims: number or list; dimensions that the input goes into.
      output_dims: number or list; dimensions whose outputs are the cell's.
      priority_dims: number or list; dimensions that run after the others and see
        their new outputs.
      non_recurrent_dims: number or list; dimensions without a state.
      tied: whether dimensions share their weights.
      cell_fn: makes a dimension's cell of `num_units`; None is an `LSTMCell`.
      non_recurrent_fn: what dimensions without a state apply; None is `relu`.
      state_is_tuple: states are tuples, else one matrix.
      output_is_tuple: outputs are a tuple, else one matrix.

    Raises:
      ValueError: `num_dims` is below 1, or a dimension is not of the grid.
      TypeError: `cell_fn` does not make an RNNCell.
    """

    def __init__(
        self,
        num_units: int,
        num_dims: int = 1,
        input_dims: Any = None,
        output_dims: Any = None,
        priority_dims: Any = None,
        non_recurrent_dims: Any = None,
        tied: bool = False,
        cell_fn: Callable[[int], Any] | None = None,
        non_recurrent_fn: Callable[..., Any] | None = None,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        # As in TensorFlow, the layer's own __init__ is not run: the cell has no
        # variables of its own.
        for what, is_tuple in (("state", state_is_tuple), ("output", output_is_tuple)):
            if not is_tuple:
                _LOG.warning(
                    "%s: Using a concatenated %s is slower and will soon be "
                    "deprecated.  Use %s_is_tuple=True.",
                    self,
                    what,
                    what,
                )
        if num_dims < 1:
            raise ValueError(f"dims must be >= 1: {num_dims}")
        self._grid = GridDimensions(
            num_dims, input_dims, output_dims, priority_dims, non_recurrent_dims
        )
        self._num_units = num_units
        self._tied = tied
        self._non_recurrent_fn = non_recurrent_fn or nn_ops.relu
        self._state_is_tuple = state_is_tuple
        self._output_is_tuple = output_is_tuple

        def made() -> Any:
            if cell_fn is not None:
                return cell_fn(num_units)
            return LSTMCell(num_units=num_units, state_is_tuple=state_is_tuple)

        self._cells = [made()] * num_dims if tied else [made() for _ in range(num_dims)]
        if not isinstance(self._cells[0], RNNCell):
            raise TypeError(
                f"cell_fn must return an RNNCell instance, saw: {type(self._cells[0])}"
            )

    @property
    def output_size(self) -> Any:
        """The size of each output, or of all together."""
        sizes = (self._cells[0].output_size,) * len(self._grid.outputs)
        return sizes if self._output_is_tuple else sum(sizes)

    @property
    def state_size(self) -> Any:
        """The size of each recurrent dimension's state, or of all together."""
        count = len(self._grid.recurrents)
        if self._state_is_tuple:
            return (self._cells[0].state_size,) * count
        return self._cell_state_size() * count

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """One step.

        Args:
          inputs: `[batch, size]`, which is cut into as many parts as there are
            input dimensions.
          state: of each recurrent dimension.
          scope: names the variables; by default after the class.

        Returns:
          Outputs and new states.

        Raises:
          ValueError: the state has another length.
        """
        memories, outputs = self._split_state(state)
        has_memory = self._cell_state_size() > self._num_units
        new_outputs: list[Any] = [None] * self._grid.count
        new_states: list[Any] = [None] * self._grid.count
        with variable_scope(scope or type(self).__name__):
            self._project_input(inputs, memories, outputs, has_memory)
            first = True
            for dimensions in (self._grid.others, self._grid.priority):
                self._propagate(
                    dimensions, memories, outputs, new_outputs, new_states, first
                )
                first = False
            given = [new_outputs[i] for i in self._grid.outputs]
            states = [new_states[i] for i in self._grid.recurrents]
            output: Any = tuple(given)
            if not self._output_is_tuple:
                output = _joined(given, inputs.dtype)
            if self._state_is_tuple:
                return output, tuple(states)
            parts = [part for one in states for part in one]
            return output, _joined(parts, inputs.dtype)

    def _cell_state_size(self) -> int:
        size = self._cells[0].state_size
        return sum(size) if isinstance(size, tuple) else size

    def _split_state(self, state: Any) -> tuple[list[Any], list[Any]]:
        """Memories and outputs of each dimension, None where there is none."""
        grid, units = self._grid, self._num_units
        memories: list[Any] = [None] * grid.count
        outputs: list[Any] = [None] * grid.count
        width = self._cell_state_size()
        has_memory = width > units
        if self._state_is_tuple:
            if len(grid.recurrents) != len(state):
                raise ValueError(
                    f"Expected state as a tuple of {len(grid.recurrents)} element"
                )
            for i, one in zip(grid.recurrents, state, strict=True):
                if has_memory:
                    memories[i], outputs[i] = one
                else:
                    outputs[i] = one
            return memories, outputs
        for position, i in enumerate(grid.recurrents):
            start = position * width
            if has_memory:
                memories[i] = array_ops.slice(state, [0, start], [-1, units])
                rest = width - units
                outputs[i] = array_ops.slice(state, [0, start + units], [-1, rest])
            else:
                outputs[i] = array_ops.slice(state, [0, start], [-1, units])
        return memories, outputs

    def _project_input(
        self, inputs: Any, memories: list[Any], outputs: list[Any], has_memory: bool
    ) -> None:
        """Puts projections of the input in place of input dimensions' states."""
        dimensions = self._grid.inputs
        if inputs is None or not dimensions:
            return
        if not dimension_value(inputs.shape.with_rank(2)[1]) > 0:
            return
        parts = array_ops.split(
            value=inputs, num_or_size_splits=len(dimensions), axis=1
        )
        width = dimension_value(parts[0].shape.with_rank(2)[1])
        shape = [width, self._num_units]
        for part, i in zip(parts, dimensions, strict=True):
            kernel = get_variable(f"project_m_{i}", shape, dtype=inputs.dtype)
            outputs[i] = math_ops.matmul(part, kernel)
            if has_memory:
                kernel = get_variable(f"project_c_{i}", shape, dtype=inputs.dtype)
                memories[i] = math_ops.matmul(part, kernel)

    def _propagate(
        self,
        dimensions: list[int],
        memories: list[Any],
        outputs: list[Any],
        new_outputs: list[Any],
        new_states: list[Any],
        first: bool,
    ) -> None:
        """Runs the cells of `dimensions`, each of which sees the same outputs."""
        if not dimensions:
            return
        seen = [
            old if new is None else new
            for old, new in zip(outputs, new_outputs, strict=True)
        ]
        # A cell takes the last dimension's output as its state, and the others' as
        # its input.
        last = seen[-1]
        if len(seen) > 1:
            cell_inputs = array_ops.concat(seen[:-1], 1)
        else:
            batch = outputs[0].get_shape().as_list()[0]
            cell_inputs = array_ops.zeros([batch, 0], outputs[0].dtype)
        for i in dimensions:
            reused = self._tied and not (first and i == dimensions[0])
            without_state = i in self._grid.non_recurrents
            kind = "non_recurrent" if without_state else "recurrent"
            with variable_scope(kind if self._tied else f"{kind}/cell_{i}"):
                if reused:
                    get_variable_scope().reuse_variables()
                if without_state:
                    new_outputs[i] = self._without_state(cell_inputs, last)
                else:
                    state = last if memories[i] is None else (memories[i], last)
                    new_outputs[i], new_states[i] = self._cells[i](cell_inputs, state)

    def _without_state(self, cell_inputs: Any, last: Any) -> Any:
        inputs = last
        if self._grid.count > 1:
            inputs = array_ops.concat([cell_inputs, last], 1)
        scope = get_variable_scope()
        return fully_connected(
            inputs,
            num_outputs=self._num_units,
            activation_fn=self._non_recurrent_fn,
            weights_initializer=scope.initializer or XAVIER,
            weights_regularizer=scope.regularizer,
        )


def _joined(parts: list[Any], dtype: Any) -> Any:
    return array_ops.concat(parts, 1) if parts else array_ops.zeros([0, 0], dtype)
