"""Whole recurrent cells and sequences as single ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.op_def_library import apply_op
from tensorloom.framework.op_registry import NOT_DIFFERENTIABLE, GradientFn, register_op
from tensorloom.framework.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph import Operation, Tensor
    from tensorloom.framework.shape_inference import InferenceContext

# --- shape functions ---------------------------------------------------------


def _cell_shape(c: InferenceContext) -> list[TensorShape]:
    x, state = c.with_rank(0, 2).dims_tuple, c.with_rank(1, 2).dims_tuple
    assert x is not None
    assert state is not None
    return [TensorShape.of((x[0], state[1]))] * 7


def _cell_grad_shape(c: InferenceContext) -> list[TensorShape]:
    x, state = c.with_rank(0, 2).dims_tuple, c.with_rank(1, 2).dims_tuple
    assert x is not None
    assert state is not None
    units = state[1]
    gates = None if units is None else 4 * units
    weights = TensorShape.of((units,))
    shapes = [TensorShape.of((x[0], units)), TensorShape.of((x[0], gates))]
    return [*shapes, weights, weights, weights]


def _sequence_shape(c: InferenceContext) -> list[TensorShape]:
    x, bias = c.with_rank(1, 3).dims_tuple, c.with_rank(c.num_inputs - 1, 1).dims_tuple
    assert x is not None
    assert bias is not None
    if bias[0] is not None and bias[0] % 4:
        c.fail(f"Dimension size must be evenly divisible by 4 but is {bias[0]}")
    units = None if bias[0] is None else bias[0] // 4
    return [TensorShape.of((x[0], x[1], units))] * 7


def _sequence_grad_shape(c: InferenceContext) -> list[TensorShape]:
    """Gradients of x, cs_prev, h_prev, w, wci, wcf, wco and b."""
    ranks = (3, 2, 2, 2, 1, 1, 1, 1)
    return [c.with_rank(i, rank) for i, rank in enumerate(ranks, 1)]


def _gru_shape(c: InferenceContext) -> list[TensorShape]:
    x, state = c.with_rank(0, 2).dims_tuple, c.with_rank(1, 2).dims_tuple
    assert x is not None
    assert state is not None
    return [TensorShape.of((x[0], state[1]))] * 4


def _gru_grad_shape(c: InferenceContext) -> list[TensorShape]:
    x, state = c.with_rank(0, 2).dims_tuple, c.with_rank(1, 2).dims_tuple
    assert x is not None
    assert state is not None
    weights = c.with_rank(2, 2).dims_tuple
    assert weights is not None
    units = TensorShape.of((x[0], state[1]))
    return [c.with_rank(0, 2), units, units, TensorShape.of((x[0], weights[1]))]


# --- gradient ----------------------------------------------------------------


def _sequence_grad(version: str) -> GradientFn:
    def gradient(op: Operation, *grads: Tensor) -> list[Tensor | None]:
        names = ("seq_len_max", "x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b")
        outputs = ("i", "cs", "f", "o", "ci", "co", "h")
        inputs: dict[str, Any] = dict(zip(names, op.inputs, strict=True))
        inputs |= zip(outputs, op.outputs, strict=True)
        results = apply_op(
            f"BlockLSTMGrad{version}",
            **inputs,
            cs_grad=grads[1],
            h_grad=grads[6],
            use_peephole=op.get_attr("use_peephole"),
        )
        return [None, *results]

    return gradient


# --- ops ---------------------------------------------------------------------

_TYPES = "T: {half, float}"
_WEIGHTS = ["w: T", "wci: T", "wcf: T", "wco: T", "b: T"]
_GATES = ["i: T", "cs: T", "f: T", "o: T", "ci: T", "co: T"]

register_op(
    "LSTMBlockCell",
    inputs=["x: T", "cs_prev: T", "h_prev: T", *_WEIGHTS],
    outputs=[*_GATES, "h: T"],
    attrs=[
        "forget_bias: float = 1.0",
        "cell_clip: float = 3.0",
        "use_peephole: bool = false",
        _TYPES,
    ],
    shape_fn=_cell_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="One step of an LSTM.",
)

register_op(
    "LSTMBlockCellGrad",
    inputs=[
        "x: T",
        "cs_prev: T",
        "h_prev: T",
        *_WEIGHTS,
        *_GATES,
        "cs_grad: T",
        "h_grad: T",
    ],
    outputs=[
        "cs_prev_grad: T",
        "dicfo: T",
        "wci_grad: T",
        "wcf_grad: T",
        "wco_grad: T",
    ],
    attrs=["use_peephole: bool", _TYPES],
    shape_fn=_cell_grad_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The gradient of LSTMBlockCell.",
)

_SEQUENCE = ["seq_len_max: int64", "x: T", "cs_prev: T", "h_prev: T", *_WEIGHTS]

for _version, _attrs, _order in (
    (
        "",
        ["forget_bias: float = 1.0", "cell_clip: float = 3.0"],
        "input, memory, forget, output",
    ),
    ("V2", ["cell_clip: float = 0.0"], "input, forget, memory, output"),
):
    register_op(
        f"BlockLSTM{_version}",
        inputs=_SEQUENCE,
        outputs=[*_GATES, "h: T"],
        attrs=[*_attrs, "use_peephole: bool = false", _TYPES],
        shape_fn=_sequence_shape,
        gradient=_sequence_grad(_version),
        doc=f"An LSTM over a sequence; the gates in w are {_order}.",
    )
    register_op(
        f"BlockLSTMGrad{_version}",
        inputs=[*_SEQUENCE, *_GATES, "h: T", "cs_grad: T", "h_grad: T"],
        outputs=[
            f"{name}_grad: T"
            for name in ("x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b")
        ],
        attrs=["use_peephole: bool", _TYPES],
        shape_fn=_sequence_grad_shape,
        gradient=NOT_DIFFERENTIABLE,
        doc=f"The gradient of BlockLSTM{_version}.",
    )

_GRU = ["x: T", "h_prev: T", "w_ru: T", "w_c: T", "b_ru: T", "b_c: T"]

register_op(
    "GRUBlockCell",
    inputs=_GRU,
    outputs=["r: T", "u: T", "c: T", "h: T"],
    attrs=["T: {float}"],
    shape_fn=_gru_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="One step of a gated recurrent unit.",
)

register_op(
    "GRUBlockCellGrad",
    inputs=[*_GRU, "r: T", "u: T", "c: T", "d_h: T"],
    outputs=["d_x: T", "d_h_prev: T", "d_c_bar: T", "d_r_bar_u_bar: T"],
    attrs=["T: {float}"],
    shape_fn=_gru_grad_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The gradient of GRUBlockCell.",
)
