"""An LSTM that also runs over the frequencies of a step, and what such cells share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorloom.client.variables.variable_scope import get_variable
from tensorloom.contrib.rnn.linear import sharded_variable
from tensorloom.framework.export import export
from tensorloom.nn.rnn_cell import RNNCell
from tensorloom.ops.array import array_ops
from tensorloom.ops.indexing.slice import slice as slice_
from tensorloom.ops.math import clip as clip_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.state import initializers as init_ops


def windows(inputs: Any, first: int, count: int, size: int, skip: int) -> list[Any]:
    """`count` slices of `size` columns, each `skip` after the one before."""
    return [
        slice_(inputs, [0, first + place * skip], [-1, size]) for place in range(count)
    ]


def columns_of(inputs: Any) -> int:
    """The width of the inputs. Raises ValueError where it is not known."""
    columns = inputs.shape.with_rank(2).as_list()[-1]
    if columns is None:
        raise ValueError("Cannot infer input_size from static shape inference.")
    return int(columns)


def gated(value: Any, pairs: Sequence[tuple[Any, Any]]) -> Any:
    """sigmoid(value + weight * memory + ...)."""
    for weight, memory in pairs:
        value = value + weight * memory
    return math_ops.sigmoid(value)


class FrequencyCell(RNNCell):
    """What both kinds of cells have in common."""

    _num_units: int
    _cell_clip: float | None

    def clipped(self, memory: Any) -> Any:
        """The memory within the bound."""
        if self._cell_clip is None:
            return memory
        return clip_ops.clip_by_value(memory, -self._cell_clip, self._cell_clip)


@export("contrib.rnn.TimeFreqLSTMCell")
class TimeFreqLSTMCell(FrequencyCell):
    """One LSTM that also runs over windows of a step's features.

    Args:
      num_units: size of memory and output of a window.
      use_peepholes: gates see the memory through diagonal weights.
      cell_clip: bound of the memory's absolute values.
      initializer: not used; variables have the scope's.
      num_unit_shards: into how many variables the kernel is cut.
      forget_bias: added to the forget gate's input.
      feature_size: width of a window.
      frequency_skip: columns from one window to the next.
      reuse: whether existing variables are reused.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: Any = None,
        frequency_skip: int = 1,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_unit_shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size = feature_size
        self._frequency_skip = frequency_skip

    @property
    def output_size(self) -> Any:
        """Number of units."""
        return self._num_units

    @property
    def state_size(self) -> Any:
        """Twice the number of units: memory and output of a window."""
        return 2 * self._num_units

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step over inputs [batch, features].

        Returns:
          (outputs of all windows joined, memories and outputs of all windows joined).

        Raises:
          ValueError: the width of the inputs is not known.
        """
        units, dtype = self._num_units, inputs.dtype
        size, skip = self._feature_size, self._frequency_skip
        count = int((columns_of(inputs) - size) / skip) + 1
        parts = windows(inputs, 0, count, size, skip)
        width = parts[0].shape.as_list()[1]
        shape = [width + 2 * units, 4 * units]
        weights = sharded_variable("W", shape, dtype, self._num_unit_shards)
        zeros = init_ops.Zeros()
        bias = get_variable("B", shape=[4 * units], initializer=zeros, dtype=dtype)
        diagonals = dict.fromkeys("FIO")
        if self._use_peepholes:
            for gate in "FIO":
                name = f"W_{gate}_diag"
                diagonals[gate] = get_variable(name, shape=[units], dtype=dtype)

        def seen(gate: str, memory: Any) -> list[tuple[Any, Any]]:
            weight = diagonals[gate]
            return [] if weight is None else [(weight, memory)]

        below = array_ops.zeros([inputs.shape[0].value, units], dtype)
        new_state: Any = None
        for place, window in enumerate(parts):
            c_prev = slice_(state, [0, 2 * place * units], [-1, units])
            m_prev = slice_(state, [0, (2 * place + 1) * units], [-1, units])
            joined = array_ops.concat([window, m_prev, below], 1)
            gates = nn_ops.bias_add(math_ops.matmul(joined, weights), bias)
            i, j, f, o = array_ops.split(value=gates, num_or_size_splits=4, axis=1)
            kept = gated(f + self._forget_bias, seen("F", c_prev)) * c_prev
            added = gated(i, seen("I", c_prev)) * math_ops.tanh(j)
            c = self.clipped(kept + added)
            below = gated(o, seen("O", c)) * math_ops.tanh(c)
            if new_state is None:
                new_state, output = array_ops.concat([c, below], 1), below
            else:
                new_state = array_ops.concat([new_state, c, below], 1)
                output = array_ops.concat([output, below], 1)
        return output, new_state
