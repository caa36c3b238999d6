"""Adding a bias to channels, and the dense layers made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Operation, Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn.activation import relu

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

# --- shape functions ---------------------------------------------------------


def _channel_axis(c: InferenceContext) -> int:
    return 1 if c.attrs.get("data_format") == b"NCHW" else -1


def _bias_add_shape(c: InferenceContext) -> TensorShape:
    axis = _channel_axis(c)
    value = c.with_rank_at_least(0, 3 if axis == 1 else 2)
    bias = c.with_rank(1, 1).dims_tuple
    dims = value.dims_tuple
    if dims is None:
        return UNKNOWN
    assert bias is not None
    merged = list(dims)
    merged[axis] = c.merge_dim(dims[axis], bias[0])
    return TensorShape.of(tuple(merged))


def _bias_add_grad_shape(c: InferenceContext) -> TensorShape:
    axis = _channel_axis(c)
    dims = c.with_rank_at_least(0, 3 if axis == 1 else 2).dims_tuple
    if dims is None:
        return TensorShape.of((None,))
    return TensorShape.of((dims[axis],))


# --- gradients ---------------------------------------------------------------


def _bias_add_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    return [
        grad,
        apply_op(
            "BiasAddGrad",
            out_backprop=grad,
            data_format=op.get_attr("data_format"),
        ),
    ]


def _bias_add_grad_grad(op: Operation, grad: Tensor) -> Tensor:
    """Repeats a gradient of the bias over all other dimensions."""
    shape = array_ops.shape(op.inputs[0])
    bias_shape = array_ops.shape(grad)
    if op.get_attr("data_format") == b"NCHW":
        expanded = array_ops.concat(
            [
                array_ops.ones_like(shape[:1]),
                bias_shape,
                array_ops.ones_like(shape[2:]),
            ],
            0,
        )
        multiples = array_ops.concat([shape[:1], [1], shape[2:]], 0)
    else:
        expanded = array_ops.concat([array_ops.ones_like(shape[:-1]), bias_shape], 0)
        multiples = array_ops.concat([shape[:-1], [1]], 0)
    return array_ops.tile(array_ops.reshape(grad, expanded), multiples)


def _bias_add_v1_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    axes = math_ops.range(array_ops.rank(grad) - 1)
    return [grad, math_ops.reduce_sum(grad, axes)]


# --- ops ---------------------------------------------------------------------

_TYPES = (
    "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, "
    "qint32, bfloat16, uint16, complex128, half, uint32, uint64, qint16, quint16}"
)
_LAYOUT = "data_format: {'NHWC', 'NCHW'} = 'NHWC'"

register_op(
    "BiasAdd",
    inputs=["value: T", "bias: T"],
    outputs=["output: T"],
    attrs=[_TYPES, _LAYOUT],
    shape_fn=_bias_add_shape,
    gradient=_bias_add_grad,
    doc="The value plus a bias [channels].",
)

register_op(
    "BiasAddGrad",
    inputs=["out_backprop: T"],
    outputs=["output: T"],
    attrs=[_TYPES, _LAYOUT],
    shape_fn=_bias_add_grad_shape,
    gradient=_bias_add_grad_grad,
    doc="The sum over everything but the channels.",
)

register_op(
    "BiasAddV1",
    inputs=["value: T", "bias: T"],
    outputs=["output: T"],
    attrs=[_TYPES],
    shape_fn=_bias_add_shape,
    gradient=_bias_add_v1_grad,
    doc="The value plus a bias [channels]; BiasAdd of old graphs.",
)

# --- builders ----------------------------------------------------------------


@export("nn.bias_add")
def bias_add(
    value: Any, bias: Any, data_format: str | None = None, name: str | None = None
) -> Tensor:
    """The value [batch, ..., channels] (or "NC...") plus a bias [channels].

    Raises:
      ValueError: an unknown data format.
    """
    with name_scope(name, "BiasAdd", [value, bias]) as name:
        if data_format is not None:
            data_format = _two_dimensional(data_format)
        value = convert_to_tensor(value, name="input")
        bias = convert_to_tensor(bias, dtype=value.dtype, name="bias")
        return apply_op(  # type: ignore[no-any-return]
            "BiasAdd", value=value, bias=bias, data_format=data_format, name=name
        )


def _two_dimensional(data_format: str) -> str:
    if data_format.startswith("NC"):
        return "NCHW"
    if data_format.startswith("N") and data_format.endswith("C"):
        return "NHWC"
    raise ValueError("data_format must be of the form `N...C` or `NC...`")


@export("nn.xw_plus_b")
def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """matmul(x, weights) + biases."""
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as name:
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(weights, name="weights")
        biases = convert_to_tensor(biases, name="biases")
        return bias_add(math_ops.matmul(x, weights), biases, name=name)


@export("nn.relu_layer")
def relu_layer(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """relu(matmul(x, weights) + biases)."""
    with name_scope(name, "relu_layer", [x, weights, biases]) as name:
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(weights, name="weights")
        biases = convert_to_tensor(biases, name="biases")
        return relu(bias_add(math_ops.matmul(x, weights), biases), name=name)
