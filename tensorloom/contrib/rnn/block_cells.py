"""Cells whose step is one operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.keras.engine.input_spec import InputSpec
from tensorloom.nn.rnn_cell import LayerRNNCell
from tensorloom.nn.rnn_cells import LSTMStateTuple
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.stack import stack, unstack
from tensorloom.ops.state import initializers as init_ops

PEEPHOLES = ("w_i_diag", "w_f_diag", "w_o_diag")


def add_lstm_weights(layer: Any, depth: int, units: int, peepholes: bool) -> None:
    """Makes kernel, bias and peepholes of an LSTM in one operation."""
    layer._kernel = layer.add_variable("kernel", [depth + units, units * 4])
    layer._bias = layer.add_variable(
        "bias", [units * 4], initializer=init_ops.Constant(0.0)
    )
    if peepholes:
        layer._peepholes = [layer.add_variable(name, [units]) for name in PEEPHOLES]


def block_lstm(
    seq_len_max: Any,
    x: Sequence[Any],
    w: Any,
    b: Any,
    cs_prev: Any = None,
    h_prev: Any = None,
    wci: Any = None,
    wcf: Any = None,
    wco: Any = None,
    forget_bias: float | None = None,
    cell_clip: float | None = None,
    use_peephole: bool | None = None,
    name: str | None = None,
) -> tuple[list[Any], ...]:
    """An LSTM over all steps in one operation.

    Args:
      seq_len_max: steps that count, int64.
      x: the inputs of each step, [batch, depth].
      w: [depth + units, 4 units].
      b: [4 units].
      cs_prev, h_prev: memory and output before the first step; zeros by default.
      wci, wcf, wco: peepholes, [units]; zeros by default.
      forget_bias: 1 by default.
      cell_clip: bound of the memory's absolute values, none by default.
      use_peephole: whether the peepholes count.

    Returns:
      Input gates, memories, forget gates, output gates, candidates, memories after the
      activation, outputs: each a list of one tensor a step.

    Raises:
      ValueError: the size of `b` is not known.
    """
    batch = x[0].shape.with_rank(2).dims[0].value
    size = b.shape.with_rank(1).dims[0].value
    if size is None:
        raise ValueError("`b` shape must not be None.")
    units, dtype = size // 4, x[0].dtype
    if cs_prev is None or h_prev is None:
        zeros = constant(0, dtype=dtype, shape=[batch, units])
        cs_prev = zeros if cs_prev is None else cs_prev
        h_prev = zeros if h_prev is None else h_prev
    if wci is None:
        wci = wcf = wco = constant(0, dtype=dtype, shape=[units])
    outputs = apply_op(
        "BlockLSTM",
        seq_len_max=seq_len_max,
        x=stack(x),
        cs_prev=cs_prev,
        h_prev=h_prev,
        w=w,
        wci=wci,
        wcf=wcf,
        wco=wco,
        b=b,
        forget_bias=1.0 if forget_bias is None else forget_bias,
        cell_clip=-1.0 if cell_clip is None else cell_clip,
        use_peephole=bool(use_peephole),
        name=name,
    )
    return tuple(unstack(output) for output in outputs)


@export("contrib.rnn.LSTMBlockCell")
class LSTMBlockCell(LayerRNNCell):
    """The LSTM cell in one operation, with the variables of `LSTMCell`.

    Args:
      num_units: size of memory and output.
      forget_bias: added to the forget gate's input.
      cell_clip: bound of the memory's absolute values, none by default.
      use_peephole: gates see the memory through diagonal weights.
      reuse: whether existing variables are reused.
      name, dtype: see `Layer`.
    """

    _kernel: Any
    _bias: Any
    _peepholes: Any

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        dtype: Any = None,
        reuse: Any = None,
        name: str | None = "lstm_cell",
    ) -> None:
        super().__init__(_reuse=reuse, dtype=dtype, name=name)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._use_peephole = use_peephole
        self._cell_clip = -1 if cell_clip is None else cell_clip
        self.input_spec = InputSpec(ndim=2)

    @property
    def state_size(self) -> Any:
        """(units, units)."""
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> Any:
        """Number of units."""
        return self._num_units

    def build(self, inputs_shape: Any) -> None:
        """Makes kernel [depth + units, 4 * units], bias and peepholes."""
        depth = inputs_shape.as_list()[1]
        if not depth:
            raise ValueError(f"Expecting inputs_shape[1] to be set: {inputs_shape}")
        add_lstm_weights(self, depth, self._num_units, self._use_peephole)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step: (output [batch, units], LSTMStateTuple).

        Raises:
          ValueError: the state is not a pair.
        """
        if len(state) != 2:
            raise ValueError("Expecting state to be a tuple with length 2.")
        if self._use_peephole:
            wci, wcf, wco = self._peepholes
        else:
            wci = wcf = wco = array_ops.zeros([self._num_units], dtype=self.dtype)
        cs_prev, h_prev = state
        outputs = apply_op(
            "LSTMBlockCell",
            x=inputs,
            cs_prev=cs_prev,
            h_prev=h_prev,
            w=self._kernel,
            wci=wci,
            wcf=wcf,
            wco=wco,
            b=self._bias,
            forget_bias=self._forget_bias,
            cell_clip=self._cell_clip,
            use_peephole=self._use_peephole,
        )
        cs, h = outputs[1], outputs[6]
        return h, LSTMStateTuple(cs, h)


@export("contrib.rnn.GRUBlockCell")
class GRUBlockCell(LayerRNNCell):
    """The gated recurrent unit in one operation.

    Args:
      num_units: size of state and output.
      cell_size: the old name of `num_units`.
      reuse: whether existing variables are reused.
      name: see `Layer`.

    Raises:
      ValueError: not exactly one of `num_units` and `cell_size` is given.
    """

    _WEIGHTS = ("w_ru", "b_ru", "w_c", "b_c")

    def __init__(
        self,
        num_units: int | None = None,
        cell_size: int | None = None,
        reuse: Any = None,
        name: str | None = "gru_cell",
    ) -> None:
        super().__init__(_reuse=reuse, name=name)
        if (cell_size is None) == (num_units is None):
            raise ValueError("Exactly one of num_units or cell_size must be provided.")
        self._cell_size: Any = cell_size if num_units is None else num_units
        self.input_spec = InputSpec(ndim=2)

    @property
    def state_size(self) -> Any:
        """Number of units."""
        return self._cell_size

    @property
    def output_size(self) -> Any:
        """Number of units."""
        return self._cell_size

    def build(self, input_shape: Any) -> None:
        """Makes kernels and biases of the gates and of the candidate."""
        depth, units = input_shape.as_list()[1], self._cell_size
        if depth is None:
            raise ValueError("Expecting input_size to be set.")
        gates, gates_bias, candidate, candidate_bias = self._WEIGHTS
        one, zero = init_ops.Constant(1.0), init_ops.Constant(0.0)
        self._gate_kernel = self.add_variable(gates, [depth + units, units * 2])
        self._gate_bias = self.add_variable(gates_bias, [units * 2], initializer=one)
        self._candidate_kernel = self.add_variable(candidate, [depth + units, units])
        self._candidate_bias = self.add_variable(
            candidate_bias, [units], initializer=zero
        )
        self.built = True

    def call(self, inputs: Any, h_prev: Any) -> Any:  # type: ignore[override]
        """One step: (output, new state), both [batch, units].

        Raises:
          ValueError: the state has another width.
        """
        width = h_prev.shape.with_rank(2).as_list()[1]
        if width != self._cell_size:
            raise ValueError(
                f"Shape of h_prev[1] incorrect: cell_size {self._cell_size} vs {width}"
            )
        outputs = apply_op(
            "GRUBlockCell",
            x=inputs,
            h_prev=h_prev,
            w_ru=self._gate_kernel,
            w_c=self._candidate_kernel,
            b_ru=self._gate_bias,
            b_c=self._candidate_bias,
        )
        return outputs[3], outputs[3]


@export("contrib.rnn.GRUBlockCellV2")
class GRUBlockCellV2(GRUBlockCell):
    """`GRUBlockCell` with the variables' names of `GRUCell`."""

    _WEIGHTS = ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")

    def build(self, input_shape: Any) -> None:
        """Makes kernels and biases of the gates and of the candidate."""
        super().build(input_shape)
