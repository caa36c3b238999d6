"""LSTM cells with layer normalization, coupled gates, or groups."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.variable_scope import (
    get_variable,
    get_variable_scope,
    variable_scope,
)
from tensorloom.contrib.rnn.linear import (
    Linear,
    known_width,
    normalized,
    sharded_variable,
)
from tensorloom.framework.export import export
from tensorloom.nn.rnn_cell import RNNCell
from tensorloom.nn.rnn_cells import LSTMStateTuple
from tensorloom.ops.array import array_ops
from tensorloom.ops.indexing.slice import slice as slice_
from tensorloom.ops.math import clip as clip_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.state import initializers as init_ops


@export("contrib.rnn.LayerNormBasicLSTMCell")
class LayerNormBasicLSTMCell(RNNCell):
    """LSTM with layer normalization and recurrent dropout.

    See arXiv:1607.06450 and arXiv:1603.05118.

    Args:
      num_units: size of memory and output.
      forget_bias: added to the forget gate's input.
      input_size: not used.
      activation: tanh by default.
      layer_norm: whether gates and memory are normalized.
      norm_gain, norm_shift: starts of `gamma` and `beta`.
      dropout_keep_prob: number or tensor; the share of candidates that is kept.
      dropout_prob_seed: of the dropout.
      reuse: whether existing variables are reused.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        input_size: Any = None,
        activation: Any = math_ops.tanh,
        layer_norm: bool = True,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        dropout_keep_prob: Any = 1.0,
        dropout_prob_seed: int | None = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._activation = activation
        self._forget_bias = forget_bias
        self._keep_prob = dropout_keep_prob
        self._seed = dropout_prob_seed
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift

    @property
    def state_size(self) -> Any:
        """(units, units)."""
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> Any:
        """Number of units."""
        return self._num_units

    def _norm(self, value: Any, scope: str) -> Any:
        if not self._layer_norm:
            return value
        start = self._norm_gain, self._norm_shift
        return normalized(value, scope, *start, dtype=value.dtype)

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step: (output [batch, units], LSTMStateTuple)."""
        c, h = state
        joined = array_ops.concat([inputs, h], 1)
        units, dtype = 4 * self._num_units, joined.dtype
        depth = joined.shape.as_list()[-1]
        weights = get_variable("kernel", [depth, units], dtype=dtype)
        gates = math_ops.matmul(joined, weights)
        if not self._layer_norm:
            bias = get_variable("bias", [units], dtype=dtype)
            gates = nn_ops.bias_add(gates, bias)
        parts = array_ops.split(value=gates, num_or_size_splits=4, axis=1)
        scopes = ("input", "transform", "forget", "output")
        i, j, f, o = (self._norm(p, s) for p, s in zip(parts, scopes, strict=True))
        g = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            g = nn_ops.dropout(g, self._keep_prob, seed=self._seed)
        kept = c * math_ops.sigmoid(f + self._forget_bias)
        new_c = self._norm(kept + math_ops.sigmoid(i) * g, "state")
        new_h = self._activation(new_c) * math_ops.sigmoid(o)
        return new_h, LSTMStateTuple(new_c, new_h)


@export("contrib.rnn.CoupledInputForgetGateLSTMCell")
class CoupledInputForgetGateLSTMCell(RNNCell):
    """LSTM whose input gate is 1 - the forget gate (arXiv:1503.04069).

    Args:
      num_units: size of the memory.
      use_peepholes: gates see the memory through diagonal weights.
      initializer: not used; variables have the scope's.
      num_proj: size of the output after a projection.
      proj_clip: bound of the projection's absolute values.
      num_unit_shards, num_proj_shards: into how many variables matrices are cut.
      forget_bias: added to the forget gate's input.
      state_is_tuple: the state is an LSTMStateTuple, else one matrix.
      activation: tanh by default.
      reuse: whether existing variables are reused.
      layer_norm: whether gates and memory are normalized.
      norm_gain, norm_shift: starts of `gamma` and `beta`.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int = 1,
        num_proj_shards: int = 1,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = math_ops.tanh,
        reuse: Any = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._initializer = initializer
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._num_unit_shards = num_unit_shards
        self._num_proj_shards = num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift

    @property
    def state_size(self) -> Any:
        """(units, output size), or their sum."""
        if self._state_is_tuple:
            return LSTMStateTuple(self._num_units, self.output_size)
        return self._num_units + self.output_size

    @property
    def output_size(self) -> Any:
        """Size of the projection, or number of units."""
        return self._num_proj or self._num_units

    def _norm(self, value: Any, scope: str) -> Any:
        if not self._layer_norm:
            return value
        return normalized(value, scope, self._norm_gain, self._norm_shift)

    def _peephole(self, name: str, dtype: Any) -> Any:
        if not self._use_peepholes:
            return None
        return get_variable(name, shape=[self._num_units], dtype=dtype)

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step: (output [batch, output size], new state).

        Raises:
          ValueError: the depth of the inputs is not known.
        """
        units, dtype, act = self._num_units, inputs.dtype, self._activation
        outputs = units if self._num_proj is None else self._num_proj
        if self._state_is_tuple:
            c_prev, m_prev = state
        else:
            c_prev = slice_(state, [0, 0], [-1, units])
            m_prev = slice_(state, [0, units], [-1, outputs])
        shape = [known_width(inputs) + outputs, 3 * units]
        weights = sharded_variable("W", shape, dtype, self._num_unit_shards)
        zeros = init_ops.Zeros()
        bias = get_variable("B", shape=[3 * units], initializer=zeros, dtype=dtype)
        gates = math_ops.matmul(array_ops.concat([inputs, m_prev], 1), weights)
        if not self._layer_norm:
            gates = nn_ops.bias_add(gates, bias)
        j, f, o = array_ops.split(value=gates, num_or_size_splits=3, axis=1)
        j, f = self._norm(j, "transform"), self._norm(f, "forget")
        o = self._norm(o, "output")
        w_f, w_o = self._peephole("W_F_diag", dtype), self._peephole("W_O_diag", dtype)
        f = f + self._forget_bias
        f_act = math_ops.sigmoid(f if w_f is None else f + w_f * c_prev)
        c = self._norm(f_act * c_prev + (1 - f_act) * act(j), "state")
        m = math_ops.sigmoid(o if w_o is None else o + w_o * c) * act(c)
        if self._num_proj is not None:
            shape = [units, self._num_proj]
            projection = sharded_variable("W_P", shape, dtype, self._num_proj_shards)
            m = math_ops.matmul(m, projection)
            if self._proj_clip is not None:
                m = clip_ops.clip_by_value(m, -self._proj_clip, self._proj_clip)
        if self._state_is_tuple:
            return m, LSTMStateTuple(c, m)
        return m, array_ops.concat([c, m], 1)


@export("contrib.rnn.GLSTMCell")
class GLSTMCell(RNNCell):
    """LSTM of groups, each on its own part of inputs and state (arXiv:1703.10722).

    Args:
      num_units: size of the memory, of all groups together.
      initializer: of the kernels, by default the scope's.
      num_proj: size of the output after a projection.
      number_of_groups: into how many parts inputs, state and output are cut.
      forget_bias: added to the forget gate's input.
      activation: of the memory, tanh by default.
      reuse: whether existing variables are reused.

    Raises:
      ValueError: a size is not a multiple of the number of groups.
    """

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        num_proj: int | None = None,
        number_of_groups: int = 1,
        forget_bias: float = 1.0,
        activation: Any = math_ops.tanh,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._initializer = initializer
        self._num_proj = num_proj
        self._forget_bias = forget_bias
        self._activation = activation
        self._number_of_groups = number_of_groups
        if num_units % number_of_groups:
            raise ValueError("num_units must be divisible by number_of_groups")
        if num_proj and num_proj % number_of_groups:
            raise ValueError("num_proj must be divisible by number_of_groups")
        self._group_maps: list[Any] = [None] * number_of_groups
        self._projection: Any = None

    @property
    def state_size(self) -> Any:
        """(units, output size)."""
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> Any:
        """Size of the projection, or number of units."""
        return self._num_proj or self._num_units

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step: (output [batch, output size], LSTMStateTuple).

        Raises:
          ValueError: the depth of the inputs is unknown, or not a multiple of the
            number of groups.
        """
        c_prev, m_prev = state
        rows, depth = inputs.shape.as_list()
        rows = rows or array_ops.shape(inputs)[0]
        groups = self._number_of_groups
        if depth is None:
            raise ValueError("input size must be statically known")
        if depth % groups:
            raise ValueError(
                f"input size ({depth}) must be divisible by number_of_groups ({groups})"
            )
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            parts = [self._gates(g, inputs, m_prev, rows) for g in range(groups)]
            zero = init_ops.Constant(0.0, dtype=inputs.dtype)
            biases = [
                get_variable(
                    name=f"bias_{gate}",
                    shape=[self._num_units],
                    dtype=inputs.dtype,
                    initializer=zero,
                )
                for gate in "ijfo"
            ]
            i, j, f, o = (
                nn_ops.bias_add(array_ops.concat(list(part), axis=1), bias)
                for part, bias in zip(zip(*parts, strict=True), biases, strict=True)
            )
        sigmoid = math_ops.sigmoid
        kept = sigmoid(f + self._forget_bias) * c_prev
        c = kept + sigmoid(i) * math_ops.tanh(j)
        m = sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            with variable_scope("projection"):
                if self._projection is None:
                    self._projection = Linear(m, self._num_proj, False)
                m = self._projection(m)
        return m, LSTMStateTuple(c, m)

    def _gates(self, group: int, inputs: Any, m_prev: Any, rows: Any) -> Any:
        """Inputs of the four gates of a group, each [batch, units / groups]."""
        groups = self._number_of_groups

        def part(value: Any, size: int) -> Any:
            name = f"GLSTM_group{group}_input_generation"
            return slice_(value, [0, group * size], [rows, size], name=name)

        with variable_scope(f"group{group}"):
            x = part(inputs, inputs.shape.as_list()[1] // groups)
            m = part(m_prev, self.output_size // groups)
            joined = array_ops.concat([x, m], axis=1)
            if self._group_maps[group] is None:
                units = 4 * (self._num_units // groups)
                self._group_maps[group] = Linear(joined, units, False)
            return array_ops.split(self._group_maps[group](joined), 4, 1)
