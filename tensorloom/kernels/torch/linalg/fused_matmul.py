"""Products with bias and activation over torch tensors.

The library adds the bias inside of the product, and the activation works in place on a
result that nobody else has seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.linalg.matmul import check_matrices
from tensorloom.kernels.host.nn.checks import check_bias
from tensorloom.kernels.torch.control_flow.composition import composed, fused, part
from tensorloom.kernels.torch.convolution.conv import convolution
from tensorloom.kernels.torch.linalg.matrix_product import matrix_product
from tensorloom.kernels.torch.math.dtypes import TORCH_DTYPES
from tensorloom.kernels.torch.math.quick_tanh import tanh_in_place

Activation = Callable[[torch.Tensor], torch.Tensor]


def _relu6(x: torch.Tensor) -> torch.Tensor:
    return x.clamp_(0, 6)


# In place, by the op type that `fused_ops` names.
_ACTIVATIONS: dict[bytes, Activation] = {
    b"Relu": torch.relu_,
    b"Relu6": _relu6,
    b"Elu": torch.nn.functional.elu_,
    b"Tanh": tanh_in_place,
    b"Sigmoid": torch.sigmoid_,
}


def _activation(c: OpKernelConstruction) -> Activation | None:
    """The activation behind the bias."""
    names = c["fused_ops"]
    return _ACTIVATIONS[names[1]] if len(names) > 1 else None


def _is_simple(c: OpKernelConstruction) -> bool:
    """Whether a bias and one of `_ACTIVATIONS` follow; else Grappler made the node."""
    names = c["fused_ops"]
    return (
        names[:1] == [b"BiasAdd"]
        and c["num_args"] == 1
        and (len(names) == 1 or (len(names) == 2 and names[1] in _ACTIVATIONS))
    )


@kernel("_FusedMatMul")
def fused_mat_mul(c: OpKernelConstruction) -> Compute:
    """act(a @ b + bias)"""
    if _adds_matrix(c):
        return _sum_with_product(c)
    if not _is_simple(c):
        return fused(c, "MatMul")
    transpose_a, transpose_b = c["transpose_a"], c["transpose_b"]
    activation = _activation(c)
    known = all(s.is_fully_defined() for s in c.input_shapes)

    def compute(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        if not known:
            check_matrices(tuple(a.shape), tuple(b.shape), transpose_a, transpose_b)
            columns = b.shape[0 if transpose_b else 1]
            rows = a.shape[1 if transpose_a else 0]
            if bias.dim() != 1 or bias.shape[0] != columns:
                check_bias((rows, columns), tuple(bias.shape), -1)
        result = matrix_product(
            a.t() if transpose_a else a, b.t() if transpose_b else b, bias
        )
        return result if activation is None else activation(result)

    return compute


def _adds_matrix(c: OpKernelConstruction) -> bool:
    """Whether a matrix of the product's shape and one of `_ACTIVATIONS` follow."""
    names = c["fused_ops"]
    if names[:1] != [b"Add"] or c["num_args"] != 1 or not c.node.output_shapes:
        return False
    if len(names) > 2 or not set(names[1:]) <= set(_ACTIVATIONS):
        return False
    shape = c.node.output_shapes[0]
    known = all(s.is_fully_defined() for s in c.input_shapes)
    return known and c.input_shapes[2].dims_tuple == shape.dims_tuple


def _sum_with_product(c: OpKernelConstruction) -> Compute:
    """act(a @ b + matrix)"""
    transpose_a, transpose_b = c["transpose_a"], c["transpose_b"]
    activation = _activation(c)

    def compute(a: torch.Tensor, b: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
        result = matrix_product(
            a.t() if transpose_a else a, b.t() if transpose_b else b, matrix
        )
        return result if activation is None else activation(result)

    return compute


@kernel("_SumOfMatMuls")
def sum_of_mat_muls(c: OpKernelConstruction) -> Compute:
    """a[0].T @ b[0] + a[1].T @ b[1] + ..."""
    count = c["N"]

    def compute(*inputs: torch.Tensor) -> torch.Tensor:
        a, b = inputs[:count], inputs[count:]
        for x, y in zip(a, b, strict=True):
            check_matrices(tuple(x.shape), tuple(y.shape), True, False)
        return matrix_product(torch.cat(a).t(), torch.cat(b))

    return compute


@kernel("_FusedConv2D")
def fused_convolution(c: OpKernelConstruction) -> Compute:
    """act(conv(input, filter) + bias)"""
    if not _is_simple(c):
        return fused(c, "Conv2D")
    convolve = convolution(c)
    activation = _activation(c)
    channels_first = c["data_format"] == b"NCHW"

    def compute(
        image: torch.Tensor, filters: torch.Tensor, bias: torch.Tensor
    ) -> torch.Tensor:
        if bias.dim() != 1 or bias.shape[0] != filters.shape[-1]:
            shape = (*image.shape[:-1], filters.shape[-1])
            check_bias(shape, tuple(bias.shape), 1 if channels_first else -1)
        result: torch.Tensor = convolve(image, filters, bias)
        return result if activation is None else activation(result)

    return compute


@kernel("_FusedConv3D")
def fused_volume_convolution(c: OpKernelConstruction) -> Compute:
    """A 3-D convolution and what follows it."""
    return fused(c, "Conv3D")


@kernel("_FusedDepthwiseConv2dNative")
def fused_depthwise_convolution(c: OpKernelConstruction) -> Compute:
    """A depthwise convolution and what follows it."""
    return fused(c, "DepthwiseConv2dNative")


@kernel("_FusedBatchNormEx")
def fused_batch_norm_ex(c: OpKernelConstruction) -> Compute:
    """Batch normalization, a sum and an activation."""
    normalize = part(c, "FusedBatchNormV3")
    mode = c["activation_mode"].decode()
    activation = None if mode == "Identity" else part(c, mode)

    def compute(*inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y, *rest = normalize(*inputs[:5])
        for side in inputs[5:]:
            y = y + side
        return (y if activation is None else activation(y), *rest)

    return compute


@kernel("_UnaryOpsComposition")
def unary_ops_composition(c: OpKernelConstruction) -> Compute:
    """Functions of single elements, one after the other."""
    return composed(c, [name.decode() for name in c["op_names"]])


@kernel("_MklSwish")
def swish(c: OpKernelConstruction) -> Compute:
    """x * sigmoid(x)"""
    return torch.nn.functional.silu


@kernel("_SigmoidCrossEntropy")
def sigmoid_cross_entropy(c: OpKernelConstruction) -> Compute:
    """max(x, 0) - x * z + log(1 + exp(-abs(x)))"""

    def compute(x: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
        linear = torch.sub(torch.clamp_min(x, 0), torch.mul(x, z))
        return linear.add_(torch.abs(x).neg_().exp_().log1p_())

    return compute


@kernel("_SigmoidCrossEntropyGrad")
def sigmoid_cross_entropy_grad(c: OpKernelConstruction) -> Compute:
    """g * sigmoid(x) + rest"""

    def compute(g: torch.Tensor, x: torch.Tensor, rest: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(x).mul_(g).add_(rest)

    return compute


@kernel("_MeanGrad", any_inputs=("grad", "x"))
def mean_grad(c: OpKernelConstruction) -> Compute:
    """grad / (size of x // outputs), in the shape of x."""
    outputs, dtype, device = c["outputs"], TORCH_DTYPES[c["T"]], c.torch_device
    to = c["T"].np_dtype.type

    def compute(grad: Any, x: Any) -> torch.Tensor:
        shape = tuple(x.shape)
        count = math.prod(shape) // outputs
        if not isinstance(grad, torch.Tensor):
            # In doubles; of two float32 they round to the quotient of float32.
            number = grad.item() / to(count).item() if count else 0.0
            return torch.full(shape, number, dtype=dtype, device=device)
        return torch.div(grad.reshape(()), count).expand(shape).contiguous()

    return compute
