"""The LSTM cell with peepholes, clipping and a projection."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.partitioned_variables import fixed_size_partitioner
from tensorloom.framework.export import export
from tensorloom.keras import initializers
from tensorloom.nn.rnn_cell import check_cell_dtype
from tensorloom.nn.rnn_cells import (
    BIAS,
    KERNEL,
    LSTMStateTuple,
    UnitsCell,
    check_inputs,
    dense,
    input_depth,
)
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import clip as clip_ops
from tensorloom.ops.math import math_ops


@export("nn.rnn_cell.LSTMCell", "contrib.rnn.LSTMCell")
class LSTMCell(UnitsCell):
    """Long short-term memory (Sak et al. 2014, arXiv:1402.1128).

    Args:
      num_units: size of the memory.
      use_peepholes: gates see the memory through diagonal weights.
      cell_clip: bound of the memory's absolute values.
      initializer: of kernels and peepholes, by default the scope's.
      num_proj: size of the output after a projection.
      proj_clip: bound of the projection's absolute values.
      num_unit_shards, num_proj_shards: into how many parts kernels are cut.
      forget_bias: added to the forget gate's input.
      state_is_tuple: the state is an LSTMStateTuple, else one matrix.
      activation: tanh by default.
      reuse: whether existing variables are reused.
      name, dtype: see `Layer`.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int | None = None,
        num_proj_shards: int | None = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: Any = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(num_units, activation, reuse, name=name, dtype=dtype, **kwargs)
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializers.get(initializer)
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._num_unit_shards = num_unit_shards
        self._num_proj_shards = num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple

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

    def build(self, input_shape: Any) -> None:
        """Makes kernel, bias, peepholes and projection."""
        depth, units = input_depth(input_shape), self._num_units
        check_cell_dtype(self.dtype)
        outputs = units if self._num_proj is None else self._num_proj
        self._kernel = self._matrix(
            KERNEL, [depth + outputs, 4 * units], self._num_unit_shards
        )
        self._bias = self.add_weight(BIAS, shape=[4 * units], initializer=self._zeros())
        if self._use_peepholes:
            self._w_f_diag, self._w_i_diag, self._w_o_diag = (
                self.add_weight(name, shape=[units], initializer=self._initializer)
                for name in ("w_f_diag", "w_i_diag", "w_o_diag")
            )
        if self._num_proj is not None:
            self._proj_kernel = self._matrix(
                f"projection/{KERNEL}", [units, self._num_proj], self._num_proj_shards
            )
        self.built = True

    def _matrix(self, name: str, shape: list[int], shards: int | None) -> Any:
        return self.add_weight(
            name,
            shape=shape,
            initializer=self._initializer,
            partitioner=None if shards is None else fixed_size_partitioner(shards),
        )

    def _parts(self, state: Any) -> Any:
        if self._state_is_tuple:
            return state
        units = self._num_units
        outputs = units if self._num_proj is None else self._num_proj
        c = array_ops.slice(state, [0, 0], [-1, units])
        return c, array_ops.slice(state, [0, units], [-1, outputs])

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step: (output [batch, output size], new state).

        Raises:
          ValueError: the depth of the inputs is not known, or not a float dtype.
        """
        check_inputs(inputs, state)
        c_prev, m_prev = self._parts(state)
        if inputs.shape.with_rank(2).as_list()[1] is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        gates = dense(inputs, m_prev, self._used_kernel(), self._bias)
        i, j, f, o = array_ops.split(value=gates, num_or_size_splits=4, axis=1)
        c = self._memory(i, j, f, c_prev)
        m = self._output(o, c)
        if self._state_is_tuple:
            return m, LSTMStateTuple(c, m)
        return m, array_ops.concat([c, m], 1)

    def _memory(self, i: Any, j: Any, f: Any, c_prev: Any) -> Any:
        sigmoid, act = math_ops.sigmoid, self._activation
        if self._use_peepholes:
            c = sigmoid(
                f + self._forget_bias + self._w_f_diag * c_prev
            ) * c_prev + sigmoid(i + self._w_i_diag * c_prev) * act(j)
        else:
            c = sigmoid(f + self._forget_bias) * c_prev + sigmoid(i) * act(j)
        if self._cell_clip is not None:
            c = clip_ops.clip_by_value(c, -self._cell_clip, self._cell_clip)
        return c

    def _output(self, o: Any, c: Any) -> Any:
        sigmoid, act = math_ops.sigmoid, self._activation
        if self._use_peepholes:
            m = sigmoid(o + self._w_o_diag * c) * act(c)
        else:
            m = sigmoid(o) * act(c)
        if self._num_proj is not None:
            m = math_ops.matmul(m, self._proj_kernel)
            if self._proj_clip is not None:
                m = clip_ops.clip_by_value(m, -self._proj_clip, self._proj_clip)
        return m

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal cell."""
        names = (
            "use_peepholes",
            "cell_clip",
            "initializer",
            "num_proj",
            "proj_clip",
            "num_unit_shards",
            "num_proj_shards",
            "forget_bias",
            "state_is_tuple",
        )
        return {**super().get_config(), **{n: getattr(self, f"_{n}") for n in names}}
