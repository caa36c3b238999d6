"""Convolutions with resizing and padding before them, and the old batch norm ops."""

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
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.nn.checks import text
from tensorloom.kernels.torch.convolution.conv import convolution
from tensorloom.kernels.torch.image.linear_interpolation import along, taps

_FLOATS = {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}


def _plain(c: OpKernelConstruction) -> OpKernelConstruction:
    """The node as a Conv2D."""
    return c.as_op("Conv2D", data_format=b"NHWC", dilations=[1, 1, 1, 1])


def _mirrored(image: torch.Tensor, paddings: Any, reflect: bool) -> torch.Tensor:
    """Pads height and width by what is inside, without the edge when reflecting."""
    pads = np.asarray(paddings)
    if pads.shape != (4, 2):
        raise invalid_argument(
            f"paddings must be a matrix with 2 columns: {text(pads.shape)}"
        )
    if (pads < 0).any() or pads[[0, 3]].any():
        raise invalid_argument(
            "Paddings must be non-negative, and 0 for batch and channels"
        )
    for axis in (1, 2):
        before, after = pads[axis].tolist()
        size = image.shape[axis]
        most = size - 1 if reflect else size
        if before > most or after > most:
            raise invalid_argument(
                f"paddings must be at most {most} for the dimension size {size}, got "
                f"{before} and {after}"
            )
        places = np.arange(-before, size + after)
        if reflect:
            places = np.abs(places)
            places = np.where(places >= size, 2 * size - 2 - places, places)
        else:
            places = np.where(places < 0, -1 - places, places)
            places = np.where(places >= size, 2 * size - 1 - places, places)
        index = torch.from_numpy(places.astype(np.int64)).to(image.device)
        image = image.index_select(axis, index)
    return image


def _check_image(image: torch.Tensor) -> None:
    if image.dim() != 4:
        raise invalid_argument(f"input must be 4-dimensional{text(image.shape)}")


@kernel("FusedPadConv2D", host_inputs=("paddings",))
def _pad_conv(c: OpKernelConstruction) -> Compute:
    run, reflect = convolution(_plain(c)), c["mode"] == b"REFLECT"

    def compute(
        image: torch.Tensor, paddings: Any, filters: torch.Tensor
    ) -> torch.Tensor:
        _check_image(image)
        return run(_mirrored(image, paddings, reflect), filters)  # type: ignore[no-any-return]

    return compute


@kernel("FusedResizeAndPadConv2D", host_inputs=("size", "paddings"))
def _resize_pad_conv(c: OpKernelConstruction) -> Compute:
    run, reflect = convolution(_plain(c)), c["mode"] == b"REFLECT"
    align = c["resize_align_corners"]

    def compute(
        image: torch.Tensor, size: Any, paddings: Any, filters: torch.Tensor
    ) -> torch.Tensor:
        _check_image(image)
        sizes = np.asarray(size)
        if sizes.shape != (2,) or (sizes <= 0).any() or 0 in image.shape[1:3]:
            raise invalid_argument(
                f"size must be two positive numbers, got {sizes.tolist()}"
            )
        height, width = sizes.tolist()
        check_shape((image.shape[0], height, width, image.shape[3]), c["T"], c.device)
        resized = along(image, 1, taps(image.shape[1], height, align, False))
        resized = along(resized, 2, taps(image.shape[2], width, align, False))
        resized = resized.to(image.dtype)
        return run(_mirrored(resized, paddings, reflect), filters)  # type: ignore[no-any-return]

    return compute


def _check_norm(t: torch.Tensor, **vectors: torch.Tensor) -> None:
    if t.dim() != 4:
        raise invalid_argument(f"input must be 4-dimensional{text(t.shape)}")
    for name, vector in vectors.items():
        if vector.dim() != 1 or len(vector) != t.shape[3]:
            raise invalid_argument(f"{name} must be 1-dimensional{text(vector.shape)}")


@kernel("BatchNormWithGlobalNormalization", types={"T": _FLOATS})
def _batch_norm(c: OpKernelConstruction) -> Compute:
    epsilon, scaled = c["variance_epsilon"], c["scale_after_normalization"]

    def compute(
        t: torch.Tensor,
        m: torch.Tensor,
        v: torch.Tensor,
        beta: torch.Tensor,
        gamma: torch.Tensor,
    ) -> torch.Tensor:
        _check_norm(t, mean=m, var=v, beta=beta, gamma=gamma)
        scale = torch.rsqrt(v + epsilon)
        if scaled:
            scale = scale * gamma
        return (t - m) * scale + beta

    return compute


@kernel("BatchNormWithGlobalNormalizationGrad", types={"T": _FLOATS})
def _batch_norm_grad(c: OpKernelConstruction) -> Compute:
    epsilon, scaled = c["variance_epsilon"], c["scale_after_normalization"]

    def compute(
        t: torch.Tensor,
        m: torch.Tensor,
        v: torch.Tensor,
        gamma: torch.Tensor,
        grad: torch.Tensor,
    ) -> Any:
        _check_norm(t, mean=m, var=v, gamma=gamma)
        if grad.shape != t.shape:
            raise invalid_argument(
                f"out_backprop must have the input's shape: {text(grad.shape)}"
            )
        deviation = torch.rsqrt(v + epsilon)
        to_beta = grad.sum((0, 1, 2))
        product = (grad * (t - m)).sum((0, 1, 2))
        scale = deviation * gamma if scaled else deviation
        to_variance = product * -0.5 * deviation**2 * scale
        to_gamma = product * deviation if scaled else torch.zeros_like(gamma)
        return grad * scale, -to_beta * scale, to_variance, to_beta, to_gamma

    return compute
