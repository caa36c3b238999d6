"""Recurrent networks of several layers. TensorFlow computes them by cuDNN alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import SCALAR, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

_RNN = ["rnn_mode", "input_mode", "direction", "dropout", "seed", "seed2"]


def _forward_shape(c: InferenceContext) -> list[TensorShape]:
    """[time, batch, units x directions], the final states, and what is kept."""
    source, states = c.with_rank(0, 3).dims_tuple, c.with_rank(1, 3)
    c.with_rank(3, 1)
    is_lstm = c.attrs["rnn_mode"] == b"lstm"
    # An LSTM's h may be a projection: its c then has another size.
    cells = c.with_rank(2, 3) if is_lstm else None
    if c.op_name == "CudnnRNNV3":
        c.with_rank(4, 1)
    units = None if states.dims_tuple is None else states.dims_tuple[2]
    directions = 2 if c.attrs["direction"] == b"bidirectional" else 1
    width = None if units is None else units * directions
    assert source is not None
    output = TensorShape.of((source[0], source[1], width))
    final_c = (cells or states) if is_lstm else SCALAR
    kept = [TensorShape.of(None)] * (c.num_outputs - 3)
    return [output, states, final_c, *kept]


def _backward_shape(c: InferenceContext) -> list[TensorShape]:
    return [c.input_shape(index) for index in range(4)]


def _one_number(c: InferenceContext) -> TensorShape:
    for index in range(3):
        c.with_rank(index, 0)
    return TensorShape.of((1,))


def _canonical_shape(c: InferenceContext) -> list[TensorShape]:
    for index, rank in enumerate((0, 0, 0, 1)):
        c.with_rank(index, rank)
    if c.op_name == "CudnnRNNParamsToCanonical":
        count = c.attrs["num_params"]
        weights, biases = count, count
    else:
        weights, biases = c.attrs["num_params_weights"], c.attrs["num_params_biases"]
    matrix, vector = TensorShape.of((None, None)), TensorShape.of((None,))
    return [*[matrix] * weights, *[vector] * biases]


def _params_shape(c: InferenceContext) -> TensorShape:
    for index in range(3):
        c.with_rank(index, 0)
    return TensorShape.of((None,))


def _gradient(op: Operation, *grads: Tensor) -> list[Any]:
    """The gradients of input, states and parameters; lengths have none.

    Raises:
      ValueError: the op ran without is_training, so nothing was kept.
    """
    if not op.get_attr("is_training"):
        raise ValueError(
            "To use CudnnRNN in gradients, is_training must be set to True."
        )
    version = op.type.removeprefix("CudnnRNN")
    names = ["input", "input_h", "input_c", "params"]
    given: dict[str, Any] = dict(zip(names, op.inputs, strict=False))
    given |= dict(zip(("output", "output_h", "output_c"), op.outputs, strict=False))
    backward = ("output_backprop", "output_h_backprop", "output_c_backprop")
    given |= dict(zip(backward, grads, strict=False))
    given["reserve_space"] = op.outputs[3]
    attrs = list(_RNN)
    if version:
        given["host_reserved"] = op.outputs[4]
    if version == "V3":
        given["sequence_lengths"] = op.inputs[4]
        attrs += ["num_proj", "time_major"]
    results = apply_op(
        f"CudnnRNNBackprop{version}",
        **given,
        **{name: op.get_attr(name) for name in attrs},
    )
    return [*results, *([None] if version == "V3" else [])]


# --- ops ---------------------------------------------------------------------

_FLOATS = "T: {half, float, double, bfloat16}"
_NETWORK = [
    "rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'",
    "input_mode: {'linear_input', 'skip_input', 'auto_select'} = 'linear_input'",
    "direction: {'unidirectional', 'bidirectional'} = 'unidirectional'",
    "dropout: float = 0.0",
    "seed: int = 0",
    "seed2: int = 0",
]
_INPUTS = ["input: T", "input_h: T", "input_c: T", "params: T"]
_OUTPUTS = ["output: T", "output_h: T", "output_c: T"]
_OUTPUT_BACKPROPS = [
    "output_backprop: T",
    "output_h_backprop: T",
    "output_c_backprop: T",
]
_BACKPROPS = [
    "input_backprop: T",
    "input_h_backprop: T",
    "input_c_backprop: T",
    "params_backprop: T",
]
_SIZES = ["num_layers: int32", "num_units: int32", "input_size: int32"]

register_op(
    "CudnnRNN",
    inputs=_INPUTS,
    outputs=[*_OUTPUTS, "reserve_space: T"],
    attrs=[_FLOATS, *_NETWORK, "is_training: bool = true"],
    shape_fn=_forward_shape,
    gradient=_gradient,
    stateful=True,
    doc="A recurrent network of several layers, by cuDNN.",
)

register_op(
    "CudnnRNNBackprop",
    inputs=[*_INPUTS, *_OUTPUTS, *_OUTPUT_BACKPROPS, "reserve_space: T"],
    outputs=_BACKPROPS,
    attrs=[_FLOATS, *_NETWORK],
    shape_fn=_backward_shape,
    stateful=True,
    doc="The gradients of CudnnRNN.",
)

register_op(
    "CudnnRNNBackpropV2",
    inputs=[
        *_INPUTS,
        *_OUTPUTS,
        *_OUTPUT_BACKPROPS,
        "reserve_space: T",
        "host_reserved: int8",
    ],
    outputs=_BACKPROPS,
    attrs=[_FLOATS, *_NETWORK],
    shape_fn=_backward_shape,
    stateful=True,
    doc="The gradients of CudnnRNNV2.",
)

register_op(
    "CudnnRNNBackpropV3",
    inputs=[
        *_INPUTS,
        "sequence_lengths: int32",
        *_OUTPUTS,
        *_OUTPUT_BACKPROPS,
        "reserve_space: T",
        "host_reserved: int8",
    ],
    outputs=_BACKPROPS,
    attrs=[_FLOATS, *_NETWORK, "num_proj: int = 0", "time_major: bool = true"],
    shape_fn=_backward_shape,
    stateful=True,
    doc="The gradients of CudnnRNNV3.",
)

register_op(
    "CudnnRNNCanonicalToParams",
    inputs=[*_SIZES, "weights: num_params * T", "biases: num_params * T"],
    outputs=["params: T"],
    attrs=[_FLOATS, "num_params: int >= 1", *_NETWORK],
    shape_fn=_params_shape,
    doc="Opaque parameters of weights and biases.",
)

register_op(
    "CudnnRNNCanonicalToParamsV2",
    inputs=[
        *_SIZES,
        "weights: num_params_weights * T",
        "biases: num_params_biases * T",
    ],
    outputs=["params: T"],
    attrs=[
        _FLOATS,
        "num_params_weights: int >= 1",
        "num_params_biases: int >= 1",
        *_NETWORK,
        "num_proj: int = 0",
    ],
    shape_fn=_params_shape,
    doc="Opaque parameters of weights and biases.",
)

register_op(
    "CudnnRNNParamsSize",
    inputs=_SIZES,
    outputs=["params_size: S"],
    attrs=[_FLOATS, "S: {int32, int64}", *_NETWORK, "num_proj: int = 0"],
    shape_fn=_one_number,
    doc="The number of parameters of a recurrent network.",
)

register_op(
    "CudnnRNNParamsToCanonical",
    inputs=[*_SIZES, "params: T"],
    outputs=["weights: num_params * T", "biases: num_params * T"],
    attrs=[_FLOATS, "num_params: int >= 1", *_NETWORK],
    shape_fn=_canonical_shape,
    doc="Weights and biases out of the opaque parameters.",
)

register_op(
    "CudnnRNNParamsToCanonicalV2",
    inputs=[*_SIZES, "params: T"],
    outputs=["weights: num_params_weights * T", "biases: num_params_biases * T"],
    attrs=[
        _FLOATS,
        "num_params_weights: int >= 1",
        "num_params_biases: int >= 1",
        *_NETWORK,
        "num_proj: int = 0",
    ],
    shape_fn=_canonical_shape,
    doc="Weights and biases out of the opaque parameters.",
)

register_op(
    "CudnnRNNV2",
    inputs=_INPUTS,
    outputs=[*_OUTPUTS, "reserve_space: T", "host_reserved: int8"],
    attrs=[_FLOATS, *_NETWORK, "is_training: bool = true"],
    shape_fn=_forward_shape,
    gradient=_gradient,
    stateful=True,
    doc="A recurrent network by cuDNN; also gives what the host keeps.",
)

register_op(
    "CudnnRNNV3",
    inputs=[*_INPUTS, "sequence_lengths: int32"],
    outputs=[*_OUTPUTS, "reserve_space: T", "host_reserved: int8"],
    attrs=[
        _FLOATS,
        *_NETWORK,
        "num_proj: int = 0",
        "is_training: bool = true",
        "time_major: bool = true",
    ],
    shape_fn=_forward_shape,
    gradient=_gradient,
    stateful=True,
    doc="A recurrent network by cuDNN over sequences of their own lengths.",
)
