"""Layers in eight bits, by oneDNN's integer kernels.

Their sums are exact, and come out as float32. Where torch was built without oneDNN the
same numbers are multiplied as floats.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

import torch
from torch.nn import functional

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)

# Without these instructions products of eight bits are added in sixteen, and spill
# over: inputs keep seven bits there.
_HAS_WIDE_SUMS: Final = bool(torch.cpu._is_vnni_supported())
_LARGEST: Final = 255 if _HAS_WIDE_SUMS else 127
_Range = tuple[float, int]
_FLOAT: Final = torch.float32
_CPU_ONLY: Final = ("CPU",)
_KEPT: Final = ("weights", "scales", "bias")


def has_integer_kernels() -> bool:
    """Whether torch has oneDNN here."""
    return bool(torch._C._has_mkldnn)


class _Packed:
    """Weights as oneDNN wants them; packed once, as they are constants."""

    def __init__(self, pack: Callable[[torch.Tensor, torch.Tensor], Any]) -> None:
        self._pack = pack
        self._lock = threading.Lock()
        self._last: tuple[torch.Tensor, torch.Tensor, Any] | None = None

    def __call__(self, weights: torch.Tensor, scales: torch.Tensor) -> Any:
        with self._lock:
            last = self._last
            if last is None or last[0] is not weights or last[1] is not scales:
                last = self._last = weights, scales, self._pack(weights, scales)
            return last[2]


def _input_range(c: OpKernelConstruction) -> _Range:
    scale, zero = c["input_scale"], c["input_zero_point"]
    if not scale > 0.0 or not 0 <= zero <= 255:
        raise invalid_argument(
            f"got input_scale {scale} and input_zero_point {zero}; expected a positive "
            "scale, and a zero point from 0 to 255"
        )
    return (scale, zero) if _HAS_WIDE_SUMS else (scale * 2.0, zero // 2)


def _measured_range(x: torch.Tensor) -> _Range:
    """The range of a tensor, with zero as one of its values."""
    ends = torch.aminmax(x)
    low, high = min(float(ends.min), 0.0), max(float(ends.max), 0.0)
    scale = (high - low) / _LARGEST or 1.0
    return scale, min(round(-low / scale), _LARGEST)


def quantized(x: torch.Tensor, scale: float, zero: int) -> torch.Tensor:
    """The nearest of the steps of a range, as uint8."""
    # Cutting off what is behind the point rounds, half a step further.
    steps = torch.add(torch.tensor(zero + 0.5), x, alpha=1.0 / scale)
    return steps.clamp_(0.5, _LARGEST + 0.5).to(torch.uint8)


def _activated(c: OpKernelConstruction) -> Callable[[torch.Tensor], torch.Tensor]:
    activation = c["activation"]
    if activation == b"Relu":
        return torch.relu_
    if activation == b"Relu6":
        return lambda made: made.clamp_(0.0, 6.0)
    return lambda made: made


def _check_channels(
    count: int, scales: torch.Tensor, bias: torch.Tensor
) -> torch.Tensor:
    """Raises InvalidArgumentError; else the zero points of the weights."""
    if scales.shape != (count,) or bias.shape != (count,):
        raise invalid_argument(
            f"got scales {list(scales.shape)} and bias {list(bias.shape)}; expected "
            f"one of each for {count} output channels"
        )
    return torch.zeros(count, dtype=torch.int32)


@kernel("_Int8MatMul", devices=_CPU_ONLY, retains=_KEPT)
def _mat_mul(c: OpKernelConstruction) -> Compute:
    known = _input_range(c)
    dynamic, activated = c["dynamic"], _activated(c)

    def pack(weights: torch.Tensor, scales: torch.Tensor) -> Any:
        return torch.ops.onednn.qlinear_prepack(weights.t().contiguous(), None)

    packed = _Packed(pack)

    def compute(
        a: torch.Tensor, weights: torch.Tensor, scales: torch.Tensor, bias: torch.Tensor
    ) -> torch.Tensor:
        if a.dim() != 2 or weights.dim() != 2 or a.shape[1] != weights.shape[0]:
            raise invalid_argument(
                f"got a {list(a.shape)} and weights {list(weights.shape)}; expected "
                "matrices that can be multiplied"
            )
        zeros = _check_channels(weights.shape[1], scales, bias)
        if a.numel() == 0:
            return activated(bias.expand(a.shape[0], -1).clone())
        scale, zero = _measured_range(a) if dynamic else known
        small = quantized(a, scale, zero)
        if has_integer_kernels():
            made = torch.ops.onednn.qlinear_pointwise(
                *(small, scale, zero, packed(weights, scales), scales, zeros, bias),
                *(1.0, 0, _FLOAT, "none", [], ""),
            )
        else:
            inside = (small.to(_FLOAT) - zero) * scale
            made = torch.addmm(bias, inside, weights.to(_FLOAT) * scales)
        return activated(made)

    return compute


@kernel("_Int8Conv2D", devices=_CPU_ONLY, retains=_KEPT)
def _conv2d(c: OpKernelConstruction) -> Compute:
    def order(weights: torch.Tensor) -> torch.Tensor:
        return weights.permute(3, 2, 0, 1)

    return _convolution(c, order)


@kernel("_Int8DepthwiseConv2d", devices=_CPU_ONLY, retains=_KEPT)
def _depthwise(c: OpKernelConstruction) -> Compute:
    def order(weights: torch.Tensor) -> torch.Tensor:
        height, width, channels, multiplier = weights.shape
        turned = weights.permute(2, 3, 0, 1)
        return turned.reshape(channels * multiplier, 1, height, width)

    return _convolution(c, order)


def _convolution(
    c: OpKernelConstruction, order: Callable[[torch.Tensor], torch.Tensor]
) -> Compute:
    scale, zero = _input_range(c)
    activated = _activated(c)
    is_last = c["data_format"] == b"NHWC"
    spatial = slice(1, 3) if is_last else slice(2, 4)
    strides, spread = list(c["strides"][spatial]), list(c["dilations"][spatial])
    same = c["padding"] == b"SAME"
    still = [0, 0]

    def pack_for(groups: int) -> _Packed:
        def pack(weights: torch.Tensor, scales: torch.Tensor) -> Any:
            return torch.ops.onednn.qconv_prepack(
                order(weights).contiguous(),
                *(scales, scale, zero, strides, still, spread, groups, None),
            )

        return _Packed(pack)

    packs: dict[int, _Packed] = {}

    def compute(
        x: torch.Tensor, weights: torch.Tensor, scales: torch.Tensor, bias: torch.Tensor
    ) -> torch.Tensor:
        image, groups = _image(x, order(weights), is_last)
        zeros = _check_channels(order(weights).shape[0], scales, bias)
        small = quantized(image, scale, zero)
        if same:
            pads = _same_pads(image, weights, strides, spread)
            small = functional.pad(small, pads, value=zero)
        small = small.contiguous(memory_format=torch.channels_last)
        if has_integer_kernels() and small.numel():
            ready = packs.setdefault(groups, pack_for(groups))(weights, scales)
            made = torch.ops.onednn.qconv2d_pointwise(
                *(small, scale, zero, ready, scales, zeros, bias),
                *(strides, still, spread, groups, 1.0, 0, _FLOAT, "none", [], None),
            )
        else:
            whole = order(weights).to(_FLOAT) * scales[:, None, None, None]
            inside = (small.to(_FLOAT) - zero) * scale
            made = torch.conv2d(inside, whole, bias, strides, still, spread, groups)
        made = activated(made)
        return made.permute(0, 2, 3, 1) if is_last else made.contiguous()

    return compute


def _image(
    x: torch.Tensor, weights: torch.Tensor, is_last: bool
) -> tuple[torch.Tensor, int]:
    """An image with channels first, and in how many groups they are."""
    if x.dim() != 4 or weights.dim() != 4:
        raise invalid_argument(
            f"got input {list(x.shape)} and weights {list(weights.shape)}; expected 4 "
            "axes of each"
        )
    image = x.permute(0, 3, 1, 2) if is_last else x
    inside = weights.shape[1]
    if image.shape[1] % inside:
        raise invalid_argument(
            f"got {image.shape[1]} channels; expected a multiple of {inside}, as the "
            "weights have"
        )
    return image, image.shape[1] // inside


def _same_pads(
    image: torch.Tensor, weights: torch.Tensor, strides: list[int], spread: list[int]
) -> list[int]:
    """What SAME puts around an image: the last axis first."""
    pads: list[int] = []
    for axis in (1, 0):
        size, stride = image.shape[2 + axis], strides[axis]
        reach = (weights.shape[axis] - 1) * spread[axis] + 1
        whole = max((-(-size // stride) - 1) * stride + reach - size, 0)
        pads += [whole // 2, whole - whole // 2]
    return pads
