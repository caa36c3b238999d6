"""FusedConv2DBiasActivation over torch tensors of floating point."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.nn.checks import text
from tensorloom.kernels.torch.convolution.conv import convolution

_FLOATS = {dtypes.float32, dtypes.float16}


def _scale(value: Any, name: str) -> float:
    if np.ndim(value):
        raise invalid_argument(
            f"{name} should be a scalar, but has shape {text(value.shape)}"
        )
    return float(value)


@kernel(
    "FusedConv2DBiasActivation",
    types={"T": _FLOATS, "Tbias": _FLOATS},
    host_inputs=("conv_input_scale", "side_input_scale"),
)
def fused_conv_bias_activation(c: OpKernelConstruction) -> Compute:
    """activation(scale * convolution + side_scale * side_input + bias).

    Without a scale the side input is not looked at; TensorFlow's programs then give
    one without elements.
    """
    data_format = c["data_format"]
    if b"VECT" in data_format + c["filter_format"]:
        raise invalid_argument(
            f"{data_format.decode()} and {c['filter_format'].decode()} are formats of "
            "qint8 only"
        )
    run = convolution(c.as_op("Conv2D", explicit_paddings=[]))
    is_transposed = c["filter_format"] == b"OIHW"
    is_relu = c["activation_mode"] == b"Relu"
    bias_shape = (1, -1, 1, 1) if data_format == b"NCHW" else (1, 1, 1, -1)

    def compute(
        image: torch.Tensor,
        filters: torch.Tensor,
        bias: torch.Tensor,
        side: torch.Tensor,
        scale: Any,
        side_scale: Any,
    ) -> torch.Tensor:
        by, side_by = (
            _scale(scale, "conv_input_scale"),
            _scale(side_scale, "side_input_scale"),
        )
        if filters.dim() != 4:
            raise invalid_argument(
                f"filter must be 4-dimensional: {text(filters.shape)}"
            )
        if is_transposed:
            filters = filters.permute(2, 3, 1, 0)
        if bias.dim() != 1 or len(bias) != filters.shape[3]:
            raise invalid_argument(
                f"bias must have {filters.shape[3]} elements, but has shape "
                f"{text(bias.shape)}"
            )
        made: torch.Tensor = run(image, filters)
        result = made.float() * by
        if side_by:
            if side.shape != made.shape:
                raise invalid_argument(
                    f"side_input must have the output's shape {text(made.shape)}, but "
                    f"has {text(side.shape)}"
                )
            result = result + side.float() * side_by
        result = result + bias.float().view(bias_shape)
        if is_relu:
            result = torch.relu(result)
        return result.to(image.dtype)

    return compute
