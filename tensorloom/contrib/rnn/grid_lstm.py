"""Two LSTMs, over the frequencies of a step and over time."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from tensorloom.client.variables.variable_scope import get_variable, variable_scope
from tensorloom.contrib.rnn.linear import sharded_variable
from tensorloom.contrib.rnn.time_freq_lstm import (
    FrequencyCell,
    columns_of,
    gated,
    windows,
)
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.pad import pad
from tensorloom.ops.indexing.slice import slice as slice_
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.state import initializers as init_ops


@export("contrib.rnn.GridLSTMCell")
class GridLSTMCell(FrequencyCell):
    """Two LSTMs, over frequency and over time (arXiv:1507.01526).

    Args:
      num_units: size of memory and output of a window.
      use_peepholes: gates see the memories through diagonal weights.
      share_time_frequency_weights: whether both have the same weights.
      cell_clip: bound of the memories' absolute values.
      initializer: not used; variables have the scope's.
      num_unit_shards: into how many variables a kernel is cut.
      forget_bias: added to the forget gates' inputs.
      feature_size: width of a window.
      frequency_skip: columns from one window to the next.
      num_frequency_blocks: list; how many windows each block has.
      start_freqindex_list, end_freqindex_list: columns where blocks begin and end.
      couple_input_forget_gates: the forget gate is 1 - the input gate.
      state_is_tuple: the state is a named tuple, else one matrix.
      reuse: whether existing variables are reused.

    Raises:
      ValueError: `num_frequency_blocks` is not given.
    """

    _DIRECTIONS: tuple[str, ...] = ("",)
    _TUPLE_NAME = "GridLSTMStateTuple"

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: Any = None,
        frequency_skip: Any = None,
        num_frequency_blocks: Any = None,
        start_freqindex_list: Any = None,
        end_freqindex_list: Any = None,
        couple_input_forget_gates: bool = False,
        state_is_tuple: bool = True,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        if num_frequency_blocks is None:
            raise ValueError("Must specify num_frequency_blocks")
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._share_weights = share_time_frequency_weights
        self._couple = couple_input_forget_gates
        self._state_is_tuple = state_is_tuple
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_unit_shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size = feature_size
        self._frequency_skip = frequency_skip
        self._starts = start_freqindex_list
        self._ends = end_freqindex_list
        self._counts = [int(count) for count in num_frequency_blocks]
        self._state_tuple_type: Any = None
        if state_is_tuple:
            fields = [
                f"{direction}state_f{place:02d}_b{block:02d}_{part}"
                for direction in self._DIRECTIONS
                for block, count in enumerate(self._counts)
                for place in range(count)
                for part in "cm"
            ]
            self._state_tuple_type = namedtuple(self._TUPLE_NAME, fields)  # type: ignore[misc]

    @property
    def output_size(self) -> Any:
        """Two outputs of each window."""
        return 2 * self._num_units * sum(self._counts) * len(self._DIRECTIONS)

    @property
    def state_size(self) -> Any:
        """Memory and output of each window."""
        count = sum(self._counts) * len(self._DIRECTIONS)
        if not self._state_is_tuple:
            return 2 * self._num_units * count
        return self._state_tuple_type(*[self._num_units] * (2 * count))

    @property
    def state_tuple_type(self) -> Any:
        """The class of states, or None."""
        return self._state_tuple_type

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step over inputs [batch, features].

        Returns:
          (both outputs of all windows joined, new state).

        Raises:
          ValueError: the inputs' width is unknown, or blocks do not fit it.
        """
        rows = inputs.shape.as_list()[0] or array_ops.shape(inputs)[0]
        outputs, states = self._blocks(self._windows_of(inputs), state, rows, "state")
        if self._state_is_tuple:
            new_state = self._state_tuple_type(*states)
        else:
            new_state = array_ops.concat(states, 1)
        return array_ops.concat(outputs, 1), new_state

    def _blocks(
        self, members: Any, state: Any, rows: Any, prefix: str
    ) -> tuple[list[Any], list[Any]]:
        outputs: list[Any] = []
        states: list[Any] = []
        for block, parts in enumerate(members):
            block_outputs, block_states = self._block(parts, block, state, rows, prefix)
            outputs += block_outputs
            states += block_states
        return outputs, states

    def _weights(self, kind: str, block: int, width: int, dtype: Any) -> Any:
        columns = (3 if self._couple else 4) * self._num_units
        shape = [width + 2 * self._num_units, columns]
        kernel = sharded_variable(
            f"W_{kind}_{block}", shape, dtype, self._num_unit_shards
        )
        zeros = init_ops.Zeros()
        bias = get_variable(
            f"B_{kind}_{block}", shape=[columns], initializer=zeros, dtype=dtype
        )
        return kernel, bias

    def _diagonals(self, kind: str, block: int, dtype: Any) -> Any:
        """For each gate the weights of the memory in frequency and in time."""
        if not self._use_peepholes:
            return {}
        return {
            gate: [
                get_variable(
                    f"W_{gate}_diag_{kind}{of}_{block}",
                    shape=[self._num_units],
                    dtype=dtype,
                )
                for of in "ft"
            ]
            for gate in ("IO" if self._couple else "FIO")
        }

    def _block(
        self, members: list[Any], block: int, state: Any, rows: Any, prefix: str
    ) -> tuple[list[Any], list[Any]]:
        units, dtype = self._num_units, members[0].dtype
        width = members[0].shape.as_list()[1]
        freq = time = self._weights("f", block, width, dtype)
        if not self._share_weights:
            time = self._weights("t", block, width, dtype)
        freq_seen = time_seen = self._diagonals("freq", block, dtype)
        if not self._share_weights:
            time_seen = self._diagonals("time", block, dtype)
        m_freq = array_ops.zeros([rows, units], dtype)
        c_freq = array_ops.zeros([rows, units], dtype)
        outputs: list[Any] = []
        states: list[Any] = []
        for place, window in enumerate(members):
            name = f"{prefix}_f{place:02d}_b{block:02d}"
            c_time, m_time = self._state_of(state, name, place)
            joined = array_ops.concat([window, m_time, m_freq], 1)
            freq_gates = time_gates = self._gates(joined, *freq)
            if not self._share_weights:
                time_gates = self._gates(joined, *time)
            before = c_freq, c_time
            c_freq = self._memory(freq_gates, freq_seen, before, c_freq)
            c_time = self._memory(time_gates, time_seen, before, c_time)
            m_freq = _output(freq_gates, freq_seen, (c_freq, c_time), c_freq)
            m_time = _output(time_gates, time_seen, (c_freq, c_time), c_time)
            outputs += [m_time, m_freq]
            states += [c_time, m_time]
        return outputs, states

    def _state_of(self, state: Any, name: str, place: int) -> Any:
        if self._state_is_tuple:
            parts = (f"{name}_{part}" for part in "cm")
            return tuple(getattr(state, part) for part in parts)
        units = self._num_units
        return tuple(
            slice_(state, [0, (2 * place + part) * units], [-1, units])
            for part in (0, 1)
        )

    def _gates(self, joined: Any, kernel: Any, bias: Any) -> dict[str, Any]:
        product = nn_ops.bias_add(math_ops.matmul(joined, kernel), bias)
        names = "ijo" if self._couple else "ijfo"
        parts = array_ops.split(value=product, num_or_size_splits=len(names), axis=1)
        return dict(zip(names, parts, strict=True))

    def _memory(self, gates: Any, diagonals: Any, memories: Any, own: Any) -> Any:
        def seen(gate: str) -> Any:
            return list(zip(diagonals.get(gate, ()), memories, strict=False))

        i = gated(gates["i"], seen("I"))
        if self._couple:
            f = 1.0 - i
        else:
            f = gated(gates["f"] + self._forget_bias, seen("F"))
        return self.clipped(f * own + i * math_ops.tanh(gates["j"]))

    def _count(self, columns: int, block: int) -> int:
        """Windows of a block. Raises ValueError unless they are as many as said."""
        size, skip = self._feature_size, self._frequency_skip
        count = int((columns - size) / skip) + 1
        if count != self._counts[block]:
            raise ValueError(
                f"Invalid num_frequency_blocks, requires {self._counts[block]} but "
                f"gets {count}, please check the input size and filter config are "
                "correct."
            )
        return count

    def _windows_of(self, inputs: Any, offset: int = 0) -> list[list[Any]]:
        """For each block its windows, moved by `offset` columns over zeros."""
        columns = columns_of(inputs)
        if offset:
            edges = [0, 0, 0, offset] if offset > 0 else [0, 0, -offset, 0]
            paddings = array_ops.constant(edges, shape=[2, 2], dtype=dtypes.int32)
            inputs = pad(inputs, paddings, "CONSTANT")
            offset = max(offset, 0)
        own = self._feature_size, self._frequency_skip
        if not self._starts:
            if len(self._counts) != 1:
                raise ValueError(
                    "Length of num_frequency_blocks is not 1, but instead is "
                    f"{len(self._counts)}"
                )
            return [windows(inputs, offset, self._count(columns, 0), *own)]
        if len(self._starts) != len(self._ends):
            raise ValueError(
                "Length of start and end freqindex_list does not match "
                f"{len(self._starts)} {len(self._ends)}"
            )
        if len(self._counts) != len(self._starts):
            raise ValueError(
                "Length of num_frequency_blocks is not equal to start_freqindex_list "
                f"{len(self._counts)} {len(self._starts)}"
            )
        return [
            windows(inputs, start + offset, self._count(end - start, block), *own)
            for block, (start, end) in enumerate(
                zip(self._starts, self._ends, strict=True)
            )
        ]


def _output(gates: Any, diagonals: Any, memories: Any, own: Any) -> Any:
    pairs = list(zip(diagonals.get("O", ()), memories, strict=False))
    return gated(gates["o"], pairs) * math_ops.tanh(own)


@export("contrib.rnn.BidirectionalGridLSTMCell")
class BidirectionalGridLSTMCell(GridLSTMCell):
    """`GridLSTMCell` over the windows upwards and downwards.

    Args:
      num_units, ..., couple_input_forget_gates, reuse: of `GridLSTMCell`.
      backward_slice_offset: columns that windows are moved for the way down.
    """

    _DIRECTIONS = ("fwd_", "bwd_")
    _TUPLE_NAME = "BidirectionalGridLSTMStateTuple"

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: Any = None,
        frequency_skip: Any = None,
        num_frequency_blocks: Any = None,
        start_freqindex_list: Any = None,
        end_freqindex_list: Any = None,
        couple_input_forget_gates: bool = False,
        backward_slice_offset: int = 0,
        reuse: Any = None,
    ) -> None:
        super().__init__(
            num_units,
            use_peepholes,
            share_time_frequency_weights,
            cell_clip,
            initializer,
            num_unit_shards,
            forget_bias,
            feature_size,
            frequency_skip,
            num_frequency_blocks,
            start_freqindex_list,
            end_freqindex_list,
            couple_input_forget_gates,
            True,
            reuse,
        )
        self._backward_slice_offset = int(backward_slice_offset)

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step over inputs [batch, features]: (outputs joined, new state)."""
        rows = inputs.shape.as_list()[0] or array_ops.shape(inputs)[0]
        up = down = self._windows_of(inputs)
        if self._backward_slice_offset:
            down = self._windows_of(inputs, self._backward_slice_offset)
        with variable_scope("fwd"):
            outputs, states = self._blocks(up, state, rows, "fwd_state")
        with variable_scope("bwd"):
            reversed_ = [block[::-1] for block in down]
            down_outputs, down_states = self._blocks(
                reversed_, state, rows, "bwd_state"
            )
        new_state = self._state_tuple_type(*states, *down_states)
        return array_ops.concat(outputs + down_outputs, 1), new_state
