"""Bias and L2 loss in host memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.array.buffer_forwarding import makes_array
from tensorloom.kernels.host.array.checks import in_advance
from tensorloom.kernels.host.nn.checks import check_bias, check_bias_grad

_Array = NDArray[Any]


@host_kernel(["BiasAdd", "BiasAddV1"])
def bias_add(c: OpKernelConstruction) -> Compute:
    """The value plus a bias for each channel."""
    channels_first = c.get("data_format") == b"NCHW"

    def compute(value: _Array, bias: _Array) -> _Array:
        check_bias(value.shape, bias.shape, 1 if channels_first else -1)
        if channels_first:
            bias = bias.reshape(-1, *(1,) * (value.ndim - 2))
        return value + bias

    return compute


@host_kernel("BiasAddGrad")
def bias_add_grad(c: OpKernelConstruction) -> Compute:
    """The sum over everything but the channels."""
    channels_first = c["data_format"] == b"NCHW"

    def axes_of(shape: Sequence[int]) -> tuple[int, ...]:
        check_bias_grad(shape)
        rank = len(shape)
        return (0, *range(2, rank)) if channels_first else tuple(range(rank - 1))

    fixed = in_advance(axes_of, c.input_shapes[0])

    @makes_array
    def compute(grad: _Array) -> Any:
        axes = fixed or axes_of(grad.shape)
        # Half of what `sum` takes for a small array.
        return np.add.reduce(grad, axes, grad.dtype)

    return compute


@host_kernel("L2Loss")
def l2_loss(c: OpKernelConstruction) -> Compute:
    """Half the sum of squares."""
    kind = np.dtype(c["T"].as_numpy_dtype).type

    def compute(t: _Array) -> Any:
        wide = t if t.dtype.itemsize >= 4 else t.astype(np.float32)
        return kind(np.square(wide).sum() / 2)

    return compute
