"""Activation functions: ops, gradients and builders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Operation,
    Tensor,
    control_dependencies,
    name_scope,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import (
    InferenceContext,
    unchanged_shape,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.types.tensor_shape import TensorShape

_NUMBERS = (
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, "
    "uint32, uint64}"
)
_FLOATS = "T: {half, bfloat16, float, double}"


def _merged_shape(c: InferenceContext) -> TensorShape:
    return c.merge(c.input_shape(0), c.input_shape(1))


def _zeros_of(value: Tensor) -> Tensor:
    return array_ops.zeros(shape=array_ops.shape(value), dtype=value.dtype)


# --- gradients ---------------------------------------------------------------


def _relu_grad(op: Operation, grad: Tensor) -> Tensor:
    return apply_op("ReluGrad", gradients=grad, features=op.outputs[0])  # type: ignore[no-any-return]


def _relu_grad_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    features = op.inputs[1]
    return [
        apply_op("ReluGrad", gradients=grad, features=features),
        _zeros_of(features),
    ]


def _relu6_grad(op: Operation, grad: Tensor) -> Tensor:
    return apply_op("Relu6Grad", gradients=grad, features=op.outputs[0])  # type: ignore[no-any-return]


def _relu6_grad_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    features = op.inputs[1]
    return [
        apply_op("Relu6Grad", gradients=grad, features=features),
        _zeros_of(features),
    ]


def _leaky_relu_grad(op: Operation, grad: Tensor) -> Tensor:
    return apply_op(  # type: ignore[no-any-return]
        "LeakyReluGrad",
        gradients=grad,
        features=op.inputs[0],
        alpha=op.get_attr("alpha"),
    )


def _leaky_relu_grad_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    features = op.inputs[1]
    return [
        apply_op(
            "LeakyReluGrad",
            gradients=grad,
            features=features,
            alpha=op.get_attr("alpha"),
        ),
        _zeros_of(features),
    ]


def _elu_grad(op: Operation, grad: Tensor) -> Tensor:
    return apply_op("EluGrad", gradients=grad, outputs=op.outputs[0])  # type: ignore[no-any-return]


def _elu_grad_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    outputs = op.inputs[1]
    return [
        apply_op("EluGrad", gradients=grad, outputs=outputs),
        array_ops.where(
            outputs < 0, grad * op.inputs[0], array_ops.zeros_like(outputs)
        ),
    ]


def _selu_grad(op: Operation, grad: Tensor) -> Tensor:
    return apply_op("SeluGrad", gradients=grad, outputs=op.outputs[0])  # type: ignore[no-any-return]


def _selu_grad_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    outputs = op.inputs[1]
    return [
        apply_op("SeluGrad", gradients=grad, outputs=outputs),
        array_ops.where(
            outputs < 0.0, grad * op.inputs[0], array_ops.zeros_like(outputs)
        ),
    ]


def _softplus_grad(op: Operation, grad: Tensor) -> Tensor:
    return grad * math_ops.sigmoid(op.inputs[0])


def _softplus_grad_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    dy, x = op.inputs
    with control_dependencies([grad]):
        ddy = apply_op("SoftplusGrad", gradients=grad, features=x)
        d2x = grad * dy / (math_ops.exp(-x) + 2.0 + math_ops.exp(x))
        return [ddy, d2x]


def _softsign_grad(op: Operation, grad: Tensor) -> Tensor:
    return apply_op("SoftsignGrad", gradients=grad, features=op.inputs[0])  # type: ignore[no-any-return]


# --- ops ---------------------------------------------------------------------


def _register_activation(
    op: str, types: str, gradient: Any, doc: str, attrs: tuple[str, ...] = ()
) -> None:
    register_op(
        op,
        inputs=["features: T"],
        outputs=["activations: T"],
        attrs=[*attrs, types],
        shape_fn=unchanged_shape,
        gradient=gradient,
        doc=doc,
    )


def _register_gradient(
    op: str,
    second_input: str,
    types: str,
    gradient: Any,
    attrs: tuple[str, ...] = (),
) -> None:
    register_op(
        op,
        inputs=["gradients: T", f"{second_input}: T"],
        outputs=["backprops: T"],
        attrs=[*attrs, types],
        shape_fn=_merged_shape,
        gradient=gradient,
        doc=f"The gradient of {op.removesuffix('Grad')}.",
    )


_ALPHA = ("alpha: float = 0.2",)
_DEFAULT_FLOAT = f"{_FLOATS} = DT_FLOAT"

_register_activation("Relu", _NUMBERS[:-1] + ", qint8}", _relu_grad, "max(features, 0)")
_register_gradient("ReluGrad", "features", _NUMBERS, _relu_grad_grad)
_register_activation("Relu6", _NUMBERS, _relu6_grad, "min(max(features, 0), 6)")
_register_gradient("Relu6Grad", "features", _NUMBERS, _relu6_grad_grad)
_register_activation(
    "LeakyRelu",
    _DEFAULT_FLOAT,
    _leaky_relu_grad,
    "features where positive, alpha * features elsewhere",
    _ALPHA,
)
_register_gradient(
    "LeakyReluGrad", "features", _DEFAULT_FLOAT, _leaky_relu_grad_grad, _ALPHA
)
_register_activation(
    "Elu", _FLOATS, _elu_grad, "features where positive, exp(features) - 1 elsewhere"
)
_register_gradient("EluGrad", "outputs", _FLOATS, _elu_grad_grad)
_register_activation(
    "Selu", _FLOATS, _selu_grad, "Elu, scaled so that activations keep their variance"
)
_register_gradient("SeluGrad", "outputs", _FLOATS, _selu_grad_grad)
_register_activation("Softplus", _FLOATS, _softplus_grad, "log(exp(features) + 1)")
_register_gradient("SoftplusGrad", "features", _FLOATS, _softplus_grad_grad)
_register_activation(
    "Softsign", _FLOATS, _softsign_grad, "features / (abs(features) + 1)"
)
_register_gradient("SoftsignGrad", "features", _FLOATS, None)

# --- builders ----------------------------------------------------------------


@export("nn.relu")
def relu(features: Any, name: str | None = None) -> Tensor:
    """max(features, 0)."""
    return apply_op("Relu", features=features, name=name)  # type: ignore[no-any-return]


@export("nn.relu6")
def relu6(features: Any, name: str | None = None) -> Tensor:
    """min(max(features, 0), 6)."""
    with name_scope(name, "Relu6", [features]) as name:
        features = convert_to_tensor(features, name="features")
        return apply_op("Relu6", features=features, name=name)  # type: ignore[no-any-return]


@export("nn.leaky_relu")
def leaky_relu(features: Any, alpha: Any = 0.2, name: str | None = None) -> Tensor:
    """Features where positive, alpha * features elsewhere; integers become floats."""
    with name_scope(name, "LeakyRelu", [features, alpha]) as name:
        features = convert_to_tensor(features, name="features")
        if features.dtype.is_integer:
            features = math_ops.cast(features, dtypes.float32)
        if isinstance(alpha, np.ndarray):
            alpha = alpha.item()
        return apply_op("LeakyRelu", features=features, alpha=alpha, name=name)  # type: ignore[no-any-return]


@export("nn.crelu")
def crelu(features: Any, name: str | None = None, axis: int = -1) -> Tensor:
    """The positive parts of features and of -features, side by side along an axis."""
    with name_scope(name, "CRelu", [features]) as name:
        features = convert_to_tensor(features, name="features")
        both = array_ops.concat([features, -features], axis, name=name)
        return apply_op("Relu", features=both)  # type: ignore[no-any-return]


@export("nn.elu")
def elu(features: Any, name: str | None = None) -> Tensor:
    """Features where positive, exp(features) - 1 elsewhere."""
    return apply_op("Elu", features=features, name=name)  # type: ignore[no-any-return]


@export("nn.selu")
def selu(features: Any, name: str | None = None) -> Tensor:
    """`elu`, scaled so that activations keep their variance from layer to layer."""
    return apply_op("Selu", features=features, name=name)  # type: ignore[no-any-return]


@export("nn.softplus", "math.softplus")
def softplus(features: Any, name: str | None = None) -> Tensor:
    """log(exp(features) + 1)."""
    return apply_op("Softplus", features=features, name=name)  # type: ignore[no-any-return]


@export("nn.softsign", "math.softsign")
def softsign(features: Any, name: str | None = None) -> Tensor:
    """features / (abs(features) + 1)."""
    return apply_op("Softsign", features=features, name=name)  # type: ignore[no-any-return]
