"""Activation functions in host memory, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.nn.checks import same_shape_error

# Klambauer et al., "Self-Normalizing Neural Networks": alpha and scale.
_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


def _relu(x: Any) -> Any:
    return np.maximum(x, x.dtype.type(0))


def _relu6(x: Any) -> Any:
    # Not clip, which makes float32 of bfloat16.
    return np.minimum(np.maximum(x, x.dtype.type(0)), x.dtype.type(6))


def _elu(x: Any) -> Any:
    return np.where(x < 0, np.expm1(x), x).astype(x.dtype, copy=False)


def _selu(x: Any) -> Any:
    scaled = np.where(x < 0, _SELU_ALPHA * np.expm1(x), x) * _SELU_SCALE
    return scaled.astype(x.dtype, copy=False)


def _softplus(x: Any) -> Any:
    return np.logaddexp(x, x.dtype.type(0)).astype(x.dtype, copy=False)


def _softsign(x: Any) -> Any:
    return x / (np.abs(x) + x.dtype.type(1))


for _op, _function in (
    ("Relu", _relu),
    ("Relu6", _relu6),
    ("Elu", _elu),
    ("Selu", _selu),
    ("Softplus", _softplus),
    ("Softsign", _softsign),
):
    host_kernel(_op)(lambda c, function=_function: function)  # type: ignore[misc]


@host_kernel("LeakyRelu")
def leaky_relu(c: OpKernelConstruction) -> Compute:
    """Features where positive, alpha * features elsewhere."""
    alpha = np.dtype(c["T"].as_numpy_dtype).type(c["alpha"])

    def compute(features: Any) -> Any:
        return np.where(features > 0, features, features * alpha)

    return compute


# --- gradients ---------------------------------------------------------------


def _relu_grad(gradients: Any, features: Any) -> Any:
    return gradients * (features > 0)


def _relu6_grad(gradients: Any, features: Any) -> Any:
    return gradients * ((features > 0) & (features < 6))


def _elu_grad(gradients: Any, outputs: Any) -> Any:
    one = outputs.dtype.type(1)
    return np.where(outputs < 0, (outputs + one) * gradients, gradients)


def _selu_grad(gradients: Any, outputs: Any) -> Any:
    kind = outputs.dtype.type
    scale, shift = kind(_SELU_SCALE), kind(_SELU_SCALE * _SELU_ALPHA)
    slope = np.where(outputs < 0, outputs + shift, scale)
    return gradients * slope


def _softplus_grad(gradients: Any, features: Any) -> Any:
    return gradients / (np.exp(-features) + features.dtype.type(1))


def _softsign_grad(gradients: Any, features: Any) -> Any:
    return gradients / np.square(np.abs(features) + features.dtype.type(1))


def _gradient(op: str, function: Compute) -> None:
    def factory(c: OpKernelConstruction) -> Compute:
        return _same_shapes(c, function)

    host_kernel(op)(factory)


def _same_shapes(c: OpKernelConstruction, function: Compute) -> Compute:
    name, op = c.node_name, c.op

    def compute(gradients: Any, features: Any) -> Any:
        if gradients.shape != features.shape:
            raise same_shape_error(name, op, gradients.shape, features.shape)
        return function(gradients, features)

    return compute


_gradient("ReluGrad", _relu_grad)
_gradient("Relu6Grad", _relu6_grad)
_gradient("EluGrad", _elu_grad)
_gradient("SeluGrad", _selu_grad)
_gradient("SoftplusGrad", _softplus_grad)
_gradient("SoftsignGrad", _softsign_grad)


@host_kernel("LeakyReluGrad")
def leaky_relu_grad(c: OpKernelConstruction) -> Compute:
    """Gradients where features are positive, alpha * gradients elsewhere."""
    alpha = np.dtype(c["T"].as_numpy_dtype).type(c["alpha"])

    def compute(gradients: Any, features: Any) -> Any:
        return np.where(features > 0, gradients, gradients * alpha)

    return _same_shapes(c, compute)
