"""3-D pooling over torch tensors, forward and backward.

As in TensorFlow, NaN never is a maximum here, and the gradient of max pooling goes to
every element that equals its window's maximum.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
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
from tensorloom.kernels.host.array.allocation import check_dimensions, check_shape
from tensorloom.kernels.torch.convolution.window3d import (
    WIDER,
    PoolGeometry,
    Shape,
    Windows3,
    decode_pool,
    from_ncdhw,
    ncdhw_shape,
    to_ncdhw,
)

_FLOATS = {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}
_INFINITE = float("inf")


def _windows(geometry: PoolGeometry, volume: torch.Tensor) -> Windows3:
    if volume.dim() != 5:
        raise invalid_argument("tensor_in must be 5-dimensional")
    return geometry.windows(ncdhw_shape(volume.shape, geometry.data_format))


def _wide(value: torch.Tensor, geometry: PoolGeometry) -> torch.Tensor:
    return to_ncdhw(value, geometry.data_format).to(WIDER.get(value.dtype, value.dtype))


def _nothing(
    volume: torch.Tensor, windows: Windows3, geometry: PoolGeometry
) -> torch.Tensor:
    shape = ncdhw_shape(volume.shape, geometry.data_format)
    result = volume.new_zeros((*shape[:2], *windows.outputs))
    return from_ncdhw(result, geometry.data_format).contiguous()


@kernel("MaxPool3D", types={"T": _FLOATS})
def max_pool3d(c: OpKernelConstruction) -> Compute:
    """The maximum of each window."""
    geometry = decode_pool(c)

    def compute(volume: torch.Tensor) -> torch.Tensor:
        windows = _windows(geometry, volume)
        if not volume.numel() or 0 in windows.outputs:
            return _nothing(volume, windows, geometry)
        wide = _wide(volume, geometry)
        wide = wide.nan_to_num(-_INFINITE, _INFINITE, -_INFINITE)
        # What pads is finite: it wins where a window holds nothing but -inf.
        lowest = torch.finfo(volume.dtype).min
        padded = torch.constant_pad_nd(wide, windows.pads, lowest)
        result = torch.max_pool3d(padded, geometry.window, geometry.stride)
        return from_ncdhw(result, geometry.data_format).contiguous().to(volume.dtype)

    return compute


def _offsets(
    padded: torch.Tensor, windows: Windows3, geometry: PoolGeometry
) -> Iterator[torch.Tensor]:
    """For each place in a window, the view of that place in all windows."""
    for place in product(*(range(n) for n in geometry.window)):
        part = padded
        for i, (start, stride, count) in enumerate(
            zip(place, geometry.stride, windows.outputs, strict=True)
        ):
            end = start + (count - 1) * stride + 1
            index = [slice(None)] * 5
            index[2 + i] = slice(start, end, stride)
            part = part[tuple(index)]
        yield part


@kernel("MaxPool3DGrad")
def max_pool3d_grad(c: OpKernelConstruction) -> Compute:
    """The gradient, added to every element that is its window's maximum."""
    geometry = decode_pool(c)

    def compute(
        volume: torch.Tensor, output: torch.Tensor, grad: torch.Tensor
    ) -> torch.Tensor:
        windows = _windows(geometry, volume)
        _check_grad(volume, output, windows, geometry, "tensor_out")
        _check_grad(volume, grad, windows, geometry, "out_backprop")
        if not volume.numel() or not grad.numel():
            return torch.zeros_like(volume, dtype=grad.dtype)
        pads = windows.pads
        padded = torch.constant_pad_nd(_wide(volume, geometry), pads, -_INFINITE)
        maxima, wide = _wide(output, geometry), _wide(grad, geometry)
        result = torch.zeros_like(padded, dtype=wide.dtype)
        views = _offsets(result, windows, geometry)
        for part, target in zip(
            _offsets(padded, windows, geometry), views, strict=True
        ):
            target.add_(torch.where(part == maxima, wide, 0))
        result = windows.cut(result, ncdhw_shape(volume.shape, geometry.data_format))
        return from_ncdhw(result, geometry.data_format).contiguous().to(grad.dtype)

    return compute


def _check_grad(
    volume: torch.Tensor,
    grad: torch.Tensor,
    windows: Windows3,
    geometry: PoolGeometry,
    what: str,
) -> None:
    if grad.dim() != 5:
        raise invalid_argument(f"{what} must be 5-dimensional")
    shape = ncdhw_shape(volume.shape, geometry.data_format)
    expected = (*shape[:2], *windows.outputs)
    if ncdhw_shape(grad.shape, geometry.data_format) != expected:
        raise invalid_argument(
            f"Expected {what} shape to be {list(expected)} (batch, channels, depth, "
            f"height, width), but got {list(grad.shape)}"
        )


@kernel("MaxPool3DGradGrad", types={"T": _FLOATS})
def max_pool3d_grad_grad(c: OpKernelConstruction) -> Compute:
    """What `grad` holds at the first maximum of each window."""
    geometry = decode_pool(c)

    def compute(
        volume: torch.Tensor, output: torch.Tensor, grad: torch.Tensor
    ) -> torch.Tensor:
        windows = _windows(geometry, volume)
        _check_grad(volume, output, windows, geometry, "tensor_out")
        if grad.shape != volume.shape:
            raise invalid_argument(
                "tensor_in and out_grad_backprop must have the same shape"
            )
        if not volume.numel() or 0 in windows.outputs:
            return _nothing(volume, windows, geometry)
        padded = torch.constant_pad_nd(
            _wide(volume, geometry), windows.pads, -_INFINITE
        )
        inner = torch.constant_pad_nd(_wide(grad, geometry), windows.pads)
        maxima = _wide(output, geometry)
        result = torch.zeros_like(maxima)
        found = torch.zeros_like(maxima, dtype=torch.bool)
        for part, value in zip(
            _offsets(padded, windows, geometry),
            _offsets(inner, windows, geometry),
            strict=True,
        ):
            first = (part == maxima) & ~found
            result = torch.where(first, value, result)
            found |= first
        return from_ncdhw(result, geometry.data_format).contiguous().to(grad.dtype)

    return compute


# --- averages ----------------------------------------------------------------


def _counts(
    shape: Shape, windows: Windows3, geometry: PoolGeometry, like: torch.Tensor
) -> torch.Tensor:
    """How many elements of each window are not padding, [depth, height, width]."""
    counts = []
    for i, axis in enumerate(windows.axes):
        starts = np.arange(axis.outputs) * geometry.stride[i] - axis.before
        ends = np.minimum(starts + geometry.window[i], shape[2 + i])
        inside = ends - np.maximum(starts, 0)
        counts.append(torch.from_numpy(inside).to(like.device, like.dtype))
    return counts[0][:, None, None] * counts[1][:, None] * counts[2]


@kernel("AvgPool3D", types={"T": _FLOATS})
def avg_pool3d(c: OpKernelConstruction) -> Compute:
    """The mean of each window, of what is not padding."""
    geometry = decode_pool(c)

    def compute(volume: torch.Tensor) -> torch.Tensor:
        windows = _windows(geometry, volume)
        if not volume.numel() or 0 in windows.outputs:
            return _nothing(volume, windows, geometry)
        wide = _wide(volume, geometry)
        padded = torch.constant_pad_nd(wide, windows.pads)
        sums = torch._C._nn.avg_pool3d(
            padded, geometry.window, geometry.stride, 0, False, True, 1
        )
        shape = ncdhw_shape(volume.shape, geometry.data_format)
        result = sums / _counts(shape, windows, geometry, wide)
        return from_ncdhw(result, geometry.data_format).contiguous().to(volume.dtype)

    return compute


@kernel("AvgPool3DGrad", types={"T": _FLOATS}, host_inputs=("orig_input_shape",))
def avg_pool3d_grad(c: OpKernelConstruction) -> Compute:
    """The gradient, spread evenly over each window."""
    geometry, device, dtype = decode_pool(c), c.device, c["T"]

    def compute(orig_input_shape: Any, grad: torch.Tensor) -> torch.Tensor:
        array = np.asarray(orig_input_shape)
        if array.shape != (5,):
            raise invalid_argument(
                "orig_input_shape must be 1-dimensional and 5 elements"
            )
        sizes = tuple(array.tolist())
        check_dimensions(sizes)
        check_shape(sizes, dtype, device)
        shape = ncdhw_shape(sizes, geometry.data_format)
        windows = geometry.windows(shape)
        _check_avg_grad(grad, shape, windows, geometry)
        if not grad.numel() or 0 in sizes:
            return grad.new_zeros(sizes)
        wide = _wide(grad, geometry)
        shares = wide / _counts(shape, windows, geometry, wide)
        result = wide.new_zeros(windows.padded_shape(shape))
        for target in _offsets(result, windows, geometry):
            target.add_(shares)
        result = windows.cut(result, shape)
        return from_ncdhw(result, geometry.data_format).contiguous().to(grad.dtype)

    return compute


def _check_avg_grad(
    grad: torch.Tensor, shape: Shape, windows: Windows3, geometry: PoolGeometry
) -> None:
    if grad.dim() != 5:
        raise invalid_argument("out_backprop must be 5-dimensional")
    expected = (*shape[:2], *windows.outputs)
    if ncdhw_shape(grad.shape, geometry.data_format) != expected:
        raise invalid_argument(
            "index * stride must be less than or equal to input size: the gradient "
            f"should be {list(expected)} (batch, channels, depth, height, width), not "
            f"{list(grad.shape)}"
        )
