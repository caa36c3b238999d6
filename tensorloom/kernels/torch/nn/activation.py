"""Kernels of activation functions over torch tensors."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.nn.checks import same_shape_error
from tensorloom.kernels.torch.math.dtypes import REAL_FLOATS, REALS

# Bound once: looking an operator up costs as much as a small kernel.
_elu = torch._C._nn.elu
_elu_backward = torch.ops.aten.elu_backward.default
_leaky_relu = torch._C._nn.leaky_relu
_leaky_relu_backward = torch.ops.aten.leaky_relu_backward.default
_threshold_backward = torch.ops.aten.threshold_backward.default
_Gradient = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
# Klambauer et al., "Self-Normalizing Neural Networks": alpha and scale.
SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


def _relu6(x: torch.Tensor) -> torch.Tensor:
    return torch.clamp(x, 0, 6)


def _softsign(x: torch.Tensor) -> torch.Tensor:
    return x / (x.abs() + 1)


def _softplus(x: torch.Tensor) -> torch.Tensor:
    return torch.logaddexp(x, torch.zeros((), dtype=x.dtype, device=x.device))


for _op, _function, _types in (
    ("Relu", torch.relu, REALS | {dtypes.qint8}),
    ("Relu6", _relu6, REALS),
    ("Elu", _elu, REAL_FLOATS),
    ("Selu", torch.selu, REAL_FLOATS),
    ("Softplus", _softplus, REAL_FLOATS),
    ("Softsign", _softsign, REAL_FLOATS),
):
    kernel(_op, types={"T": _types})(
        lambda c, function=_function: function  # type: ignore[misc]
    )


@kernel("LeakyRelu", types={"T": REAL_FLOATS})
def leaky_relu(c: OpKernelConstruction) -> Compute:
    """Features where positive, alpha * features elsewhere."""
    alpha = c["alpha"]

    def compute(features: torch.Tensor) -> torch.Tensor:
        return _leaky_relu(features, alpha)

    return compute


# --- gradients ---------------------------------------------------------------


def _gradient(op: str, function: _Gradient, types: frozenset[dtypes.DType]) -> None:
    """Registers a gradient of two tensors of one shape."""

    def factory(c: OpKernelConstruction) -> Compute:
        name = c.node_name

        def compute(gradients: torch.Tensor, features: torch.Tensor) -> torch.Tensor:
            if gradients.shape != features.shape:
                raise same_shape_error(name, op, gradients.shape, features.shape)
            return function(gradients, features)

        return compute

    kernel(op, types={"T": types})(factory)


def _relu_grad(gradients: torch.Tensor, features: torch.Tensor) -> torch.Tensor:
    # The gradient times zero where the feature is not positive: threshold_backward
    # would let it pass where the feature is NaN, and hide its own NaN.
    if features.is_floating_point():
        return _leaky_relu_backward(gradients, features, 0, False)  # type: ignore[no-any-return]
    return _threshold_backward(gradients, features, 0)  # type: ignore[no-any-return]


def _relu6_grad(gradients: torch.Tensor, features: torch.Tensor) -> torch.Tensor:
    return gradients * ((features > 0) & (features < 6))


def _elu_grad(gradients: torch.Tensor, outputs: torch.Tensor) -> torch.Tensor:
    # NaN counts as positive; in `elu_backward` that depends on its place.
    outputs = outputs.nan_to_num(1, math.inf, -math.inf)
    return _elu_backward(gradients, 1, 1, 1, True, outputs)  # type: ignore[no-any-return]


def _selu_grad(gradients: torch.Tensor, outputs: torch.Tensor) -> torch.Tensor:
    if outputs.dtype in (torch.float32, torch.float64):
        # Zero and NaN are to count as positive.
        outputs = outputs + torch.finfo(outputs.dtype).smallest_normal
        outputs.nan_to_num_(1, math.inf, -math.inf)
        return _elu_backward(gradients, SELU_ALPHA, SELU_SCALE, 1, True, outputs)  # type: ignore[no-any-return]
    slope = torch.where(outputs < 0, outputs + SELU_SCALE * SELU_ALPHA, SELU_SCALE)
    return gradients * slope


def _softplus_grad(gradients: torch.Tensor, features: torch.Tensor) -> torch.Tensor:
    return gradients * torch.sigmoid(features)


def _softsign_grad(gradients: torch.Tensor, features: torch.Tensor) -> torch.Tensor:
    return gradients / torch.square(features.abs() + 1)


_gradient("ReluGrad", _relu_grad, REALS)
_gradient("Relu6Grad", _relu6_grad, REALS)
_gradient("EluGrad", _elu_grad, REAL_FLOATS)
_gradient("SeluGrad", _selu_grad, REAL_FLOATS)
_gradient("SoftplusGrad", _softplus_grad, REAL_FLOATS)
_gradient("SoftsignGrad", _softsign_grad, REAL_FLOATS)


@kernel("LeakyReluGrad", types={"T": REAL_FLOATS})
def leaky_relu_grad(c: OpKernelConstruction) -> Compute:
    """Gradients where features are positive, alpha * gradients elsewhere."""
    alpha, name = c["alpha"], c.node_name

    def compute(gradients: torch.Tensor, features: torch.Tensor) -> torch.Tensor:
        if gradients.shape != features.shape:
            raise same_shape_error(
                name, "LeakyReluGrad", gradients.shape, features.shape
            )
        return _leaky_relu_backward(gradients, features, alpha, False)  # type: ignore[no-any-return]

    return compute
