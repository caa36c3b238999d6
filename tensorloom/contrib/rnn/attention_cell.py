"""A cell with attention over its own last outputs."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.variable_scope import get_variable, variable_scope
from tensorloom.contrib.rnn.linear import Linear
from tensorloom.framework.export import export
from tensorloom.framework.types import nest
from tensorloom.nn.rnn_cell import RNNCell, check_is_cell
from tensorloom.ops.array import array_ops
from tensorloom.ops.indexing.slice import slice as slice_
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.reductions.reductions import reduce_sum


@export("contrib.rnn.AttentionCellWrapper")
class AttentionCellWrapper(RNNCell):
    """A cell that also sees a mean of its last outputs (arXiv:1601.06733).

    The state is (state of the cell, attention, last outputs).

    Args:
      cell: an RNNCell.
      attn_length: how many outputs are remembered.
      attn_size: width of an output; the cell's by default.
      attn_vec_size: width of the features compared; `attn_size` by default.
      input_size: width of the cell's inputs; that of the inputs by default.
      state_is_tuple: whether the state is a tuple, else one matrix.
      reuse: whether existing variables are reused.

    Raises:
      TypeError: `cell` is not an RNNCell.
      ValueError: the cell's state is a tuple without `state_is_tuple`, or
        `attn_length` is not positive.
    """

    def __init__(
        self,
        cell: Any,
        attn_length: int,
        attn_size: int | None = None,
        attn_vec_size: int | None = None,
        input_size: int | None = None,
        state_is_tuple: bool = True,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        check_is_cell("cell", cell)
        if nest.is_nested(cell.state_size) and not state_is_tuple:
            raise ValueError(
                "Cell returns tuple of states, but the flag state_is_tuple is not set. "
                f"State size is: {cell.state_size}"
            )
        if attn_length <= 0:
            raise ValueError(
                f"attn_length should be greater than zero, got {attn_length}"
            )
        self._cell = cell
        self._attn_length = attn_length
        self._attn_size = cell.output_size if attn_size is None else attn_size
        self._attn_vec_size = attn_vec_size
        if attn_vec_size is None:
            self._attn_vec_size = self._attn_size
        self._input_size = input_size
        self._state_is_tuple = state_is_tuple
        self._maps: dict[str, Linear] = {}

    @property
    def state_size(self) -> Any:
        """(the cell's, attention, all remembered outputs), or their sum."""
        memory = self._attn_size * self._attn_length
        sizes = (self._cell.state_size, self._attn_size, memory)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        """Width of an output."""
        return self._attn_size

    def _linear(self, name: str, args: Any, size: Any) -> Any:
        if name not in self._maps:
            self._maps[name] = Linear(args, size, True)
        return self._maps[name](args)

    def _parts(self, state: Any) -> Any:
        if self._state_is_tuple:
            return state
        inner, size = self._cell.state_size, self._attn_size
        return (
            slice_(state, [0, 0], [-1, inner]),
            slice_(state, [0, inner], [-1, size]),
            slice_(state, [0, inner + size], [-1, size * self._attn_length]),
        )

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step: (output [batch, attn_size], new state)."""
        state, attention, memory = self._parts(state)
        length, size = self._attn_length, self._attn_size
        memory = array_ops.reshape(memory, [-1, length, size])
        input_size = self._input_size
        if input_size is None:
            input_size = inputs.shape.as_list()[1]
        inputs = self._linear("inputs", [inputs, attention], input_size)
        cell_output, new_state = self._cell(inputs, state)
        query = new_state
        if self._state_is_tuple:
            query = array_ops.concat(nest.flatten(new_state), 1)
        attention, kept = self._attention(query, memory)
        with variable_scope("attn_output_projection"):
            output = self._linear("output", [cell_output, attention], size)
        memory = array_ops.concat([kept, array_ops.expand_dims(output, 1)], 1)
        memory = array_ops.reshape(memory, [-1, length * size])
        if self._state_is_tuple:
            return output, (new_state, attention, memory)
        return output, array_ops.concat([new_state, attention, memory], 1)

    def _attention(self, query: Any, memory: Any) -> tuple[Any, Any]:
        """(attention [batch, attn_size], the memory without its oldest output)."""
        length, size, features = self._attn_length, self._attn_size, self._attn_vec_size
        with variable_scope("attention"):
            k = get_variable("attn_w", [1, 1, size, features])
            v = get_variable("attn_v", [features])
            hidden = array_ops.reshape(memory, [-1, length, 1, size])
            hidden_features = nn_ops.conv2d(hidden, k, [1, 1, 1, 1], "SAME")
            y = self._linear("query", query, features)
            y = array_ops.reshape(y, [-1, 1, 1, features])
            s = reduce_sum(v * math_ops.tanh(hidden_features + y), [2, 3])
            a = nn_ops.softmax(s)
            weights = array_ops.reshape(a, [-1, length, 1, 1])
            d = reduce_sum(weights * hidden, [1, 2])
            attention = array_ops.reshape(d, [-1, size])
            return attention, slice_(memory, [0, 1, 0], [-1, -1, -1])
