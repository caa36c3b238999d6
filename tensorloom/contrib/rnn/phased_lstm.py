"""The phased LSTM: units that are open only at their own times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.variables.variable_scope import get_variable, variable_scope
from tensorloom.contrib.rnn.linear import Linear
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.nn.rnn_cell import RNNCell
from tensorloom.nn.rnn_cells import LSTMStateTuple
from tensorloom.ops.array import array_ops
from tensorloom.ops.indexing.selection import where
from tensorloom.ops.math import math_ops
from tensorloom.ops.random import random_ops
from tensorloom.ops.state import initializers as init_ops


def _exponential_of_uniform(low: float, high: float) -> Callable[..., Any]:
    """Initializer of numbers between `low` and `high` with uniform logarithms."""

    def initializer(
        shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None
    ) -> Any:
        bounds = math_ops.log(low), math_ops.log(high)
        return math_ops.exp(random_ops.random_uniform(shape, *bounds, dtype))

    return initializer


def _mod(x: Any, y: Any) -> Any:
    """x modulo y, with the gradient of x."""
    return array_ops.stop_gradient(math_ops.mod(x, y) - x) + x


@export("contrib.rnn.PhasedLSTMCell")
class PhasedLSTMCell(RNNCell):
    """LSTM whose units open in periods of their own (arXiv:1610.09513).

    Inputs are a pair: times [batch, 1], and values [batch, depth].

    Args:
      num_units: size of memory and output.
      use_peepholes: gates see the memory.
      leak: share of an update that passes a closed unit.
      ratio_on: start of the share of its period that a unit is open.
      trainable_ratio_on: whether that share is trained.
      period_init_min, period_init_max: bounds of the periods' starts.
      reuse: whether existing variables are reused.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        leak: float = 0.001,
        ratio_on: float = 0.1,
        trainable_ratio_on: bool = True,
        period_init_min: float = 1.0,
        period_init_max: float = 1000.0,
        reuse: Any = None,
    ) -> None:
        # Times may have another dtype than values.
        super().__init__(_reuse=reuse, autocast=False)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._leak = leak
        self._ratio_on = ratio_on
        self._trainable_ratio_on = trainable_ratio_on
        self._period_init_min = period_init_min
        self._period_init_max = period_init_max
        self._maps: dict[str, Linear] = {}

    @property
    def state_size(self) -> Any:
        """(units, units)."""
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> Any:
        """Number of units."""
        return self._num_units

    def _linear(self, name: str, args: list[Any], size: int) -> Any:
        if name not in self._maps:
            self._maps[name] = Linear(args, size, True)
        return self._maps[name](args)

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step: (output [batch, units], LSTMStateTuple)."""
        sigmoid, tanh, units = math_ops.sigmoid, math_ops.tanh, self._num_units
        c_prev, h_prev = state
        time, x = inputs
        seen = [x, h_prev]
        with variable_scope("mask_gates"):
            wide = [*seen, c_prev] if self._use_peepholes else seen
            gates = sigmoid(self._linear("mask_gates", wide, 2 * units))
            input_gate, forget_gate = array_ops.split(
                axis=1, num_or_size_splits=2, value=gates
            )
        with variable_scope("new_input"):
            new_input = tanh(self._linear("new_input", seen, units))
        new_c = c_prev * forget_gate + input_gate * new_input
        with variable_scope("output_gate"):
            wide = [*seen, new_c] if self._use_peepholes else seen
            output_gate = sigmoid(self._linear("output_gate", wide, units))
        new_h = tanh(new_c) * output_gate
        k = self._openness(time)
        new_c = k * new_c + (1 - k) * c_prev
        new_h = k * new_h + (1 - k) * h_prev
        return new_h, LSTMStateTuple(new_c, new_h)

    def _openness(self, time: Any) -> Any:
        """How far each unit is open at each time: [batch, units]."""
        bounds = self._period_init_min, self._period_init_max
        period = get_variable(
            "period", [self._num_units], initializer=_exponential_of_uniform(*bounds)
        )
        phase = get_variable(
            "phase",
            [self._num_units],
            initializer=init_ops.RandomUniform(0.0, period.initial_value),
        )
        ratio_on = get_variable(
            "ratio_on",
            [self._num_units],
            initializer=init_ops.Constant(self._ratio_on),
            trainable=self._trainable_ratio_on,
        )
        start = math_ops.cast(phase, dtype=time.dtype)
        length = math_ops.cast(period, dtype=time.dtype)
        cycle = _mod(time - start, length) / length
        cycle = math_ops.cast(cycle, dtype=dtypes.float32)
        k_up = 2 * cycle / ratio_on
        k_down = 2 - k_up
        k_closed = self._leak * cycle
        k = where(cycle < ratio_on, k_down, k_closed)
        return where(cycle < 0.5 * ratio_on, k_up, k)
