"""Whole recurrent cells and sequences as single ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import GradientFn, register_op
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import concat as concat_ops
from tensorloom.ops.indexing import slice as slice_ops
from tensorloom.ops.linalg import matmul as math_ops_matmul

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

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


def _known_columns(op: Operation, index: int) -> int:
    columns = op.inputs[index].shape.with_rank(2).as_list()[1]
    if columns is None:
        names = {0: ("input_size", "x"), 1: ("cell_size", "cs_prev")}
        what, name = names[index]
        raise ValueError(f"{what} from `{name}` should not be None.")
    return int(columns)


def _cell_grad(op: Operation, *grads: Tensor) -> list[Tensor]:
    x, cs_prev, h_prev, w, wci, wcf, wco, b = op.inputs
    units, columns = _known_columns(op, 1), _known_columns(op, 0)
    rows = x.shape.as_list()[0]
    rows = -1 if rows is None else rows
    gates: dict[str, Any] = dict(
        zip(("i", "cs", "f", "o", "ci", "co"), op.outputs, strict=False)
    )
    cs_prev_grad, dgates, *peepholes = apply_op(
        "LSTMBlockCellGrad",
        x=x,
        cs_prev=cs_prev,
        h_prev=h_prev,
        w=w,
        wci=wci,
        wcf=wcf,
        wco=wco,
        b=b,
        **gates,
        cs_grad=grads[1],
        h_grad=grads[6],
        use_peephole=op.get_attr("use_peephole"),
    )
    joined = math_ops_matmul.matmul(dgates, w, transpose_b=True)
    x_grad = slice_ops.slice(joined, (0, 0), (rows, columns))
    h_prev_grad = slice_ops.slice(joined, (0, columns), (rows, units))
    inputs = concat_ops.concat([x, h_prev], 1)
    w_grad = math_ops_matmul.matmul(inputs, dgates, transpose_a=True)
    b_grad = apply_op("BiasAddGrad", out_backprop=dgates)
    return [x_grad, cs_prev_grad, h_prev_grad, w_grad, *peepholes, b_grad]


def _gru_grad(op: Operation, *grads: Tensor) -> list[Tensor]:
    x, h_prev = op.inputs[:2]
    r, u, c, _ = op.outputs
    names = ("x", "h_prev", "w_ru", "w_c", "b_ru", "b_c")
    inputs: dict[str, Any] = dict(zip(names, op.inputs, strict=True))
    d_x, d_h_prev, d_c, d_ru = apply_op(
        "GRUBlockCellGrad",
        **inputs,
        r=r,
        u=u,
        c=c,
        d_h=grads[3],
    )

    def of_weights(state: Tensor, grad: Tensor) -> tuple[Tensor, Tensor]:
        joined = concat_ops.concat([x, state], 1)
        weights = math_ops_matmul.matmul(joined, grad, transpose_a=True)
        return weights, apply_op("BiasAddGrad", out_backprop=grad)

    d_w_ru, d_b_ru = of_weights(h_prev, d_ru)
    d_w_c, d_b_c = of_weights(h_prev * r, d_c)
    return [d_x, d_h_prev, d_w_ru, d_w_c, d_b_ru, d_b_c]


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
    gradient=_cell_grad,
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
        doc=f"The gradient of BlockLSTM{_version}.",
    )

_GRU = ["x: T", "h_prev: T", "w_ru: T", "w_c: T", "b_ru: T", "b_c: T"]

register_op(
    "GRUBlockCell",
    inputs=_GRU,
    outputs=["r: T", "u: T", "c: T", "h: T"],
    attrs=["T: {float}"],
    shape_fn=_gru_shape,
    gradient=_gru_grad,
    doc="One step of a gated recurrent unit.",
)

register_op(
    "GRUBlockCellGrad",
    inputs=[*_GRU, "r: T", "u: T", "c: T", "d_h: T"],
    outputs=["d_x: T", "d_h_prev: T", "d_c_bar: T", "d_r_bar_u_bar: T"],
    attrs=["T: {float}"],
    shape_fn=_gru_grad_shape,
    doc="The gradient of GRUBlockCell.",
)
