"""Average pooling over torch tensors, forward and backward."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import torch

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.torch.convolution.window import (
    AxisWindows,
    empty_nchw,
    from_nchw,
    nchw_shape,
    to_nchw,
)
from tensorloom.kernels.torch.pooling.pool import (
    Geometry,
    Plan,
    cached_plans,
    decode_geometry,
    depth_window,
    gradient_plan,
    no_windows,
)

# Bound once: looking an operator up costs as much as a small kernel.
_avg_pool2d = torch._C._nn.avg_pool2d
_avg_pool2d_backward = torch.ops.aten.avg_pool2d_backward.default
_constant_pad_nd = torch.constant_pad_nd
_Shape = tuple[int, ...]
_HostArray = np.ndarray[Any, np.dtype[Any]]
_FLOATS = {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}


def _check_depth(c: OpKernelConstruction) -> None:
    if depth_window(c) > 1:
        raise errors.UnimplementedError(
            None, None, "Non-spatial pooling is not yet supported. Volunteers? :)"
        )


@kernel("AvgPool", types={"T": _FLOATS})
def avg_pool(c: OpKernelConstruction) -> Compute:
    """The mean of each window, of what is not padding."""
    geometry = decode_geometry(c)
    _check_depth(c)
    data_format = geometry.data_format

    plan_for = cached_plans(geometry)

    def compute(image: torch.Tensor) -> torch.Tensor:
        plan = plan_for(image.shape)
        if not image.numel() or 0 in plan.outputs:
            return no_windows(image, plan, data_format)
        nchw = to_nchw(image, data_format)
        if plan.extra is None:
            result = _avg_pool2d(
                nchw,
                geometry.window,
                geometry.stride,
                plan.padding,
                plan.ceil_mode,
                False,
            )
        else:
            result = _avg_pool2d(
                _constant_pad_nd(nchw, plan.extra),
                geometry.window,
                geometry.stride,
                (0, 0),
                False,
                True,
                1,
            ) / _counts(nchw, plan, geometry)
        return from_nchw(result, data_format)

    return compute


def _counts(nchw: torch.Tensor, plan: Plan, geometry: Geometry) -> torch.Tensor:
    """How many elements of each window are not padding, [height, width]."""
    rows, columns = (
        _axis_counts(nchw.shape[2 + axis], geometry, axis, windows, nchw)
        for axis, windows in ((0, plan.rows), (1, plan.columns))
    )
    return rows[:, None] * columns


def _axis_counts(
    size: int,
    geometry: Geometry,
    axis: int,
    windows: AxisWindows,
    like: torch.Tensor,
) -> torch.Tensor:
    starts = np.arange(windows.outputs) * geometry.stride[axis] - windows.before
    ends = np.minimum(starts + geometry.window[axis], size)
    counts = ends - np.maximum(starts, 0)
    return torch.from_numpy(counts).to(like.device, like.dtype)


@kernel("AvgPoolGrad", types={"T": _FLOATS}, host_inputs=("orig_input_shape",))
def avg_pool_grad(c: OpKernelConstruction) -> Compute:
    """The gradient, spread evenly over each window."""
    geometry = decode_geometry(c)
    _check_depth(c)
    data_format, device, dtype = geometry.data_format, c.device, c["T"]

    @lru_cache(maxsize=64)
    def plan_for(sizes: _Shape, grad: _Shape) -> tuple[Plan, _Shape]:
        check_shape(sizes, dtype, device)
        return gradient_plan(geometry, sizes, grad), nchw_shape(sizes, data_format)

    def compute(orig_input_shape: _HostArray, grad: torch.Tensor) -> torch.Tensor:
        array = np.asarray(orig_input_shape)
        if array.shape != (4,):
            raise invalid_argument("out_backprop must be 1-dimensional and 4 elements")
        sizes = tuple(array.tolist())
        plan, shape = plan_for(sizes, grad.shape)
        if not grad.numel() or 0 in shape:
            return grad.new_zeros(sizes)
        result = _spread(to_nchw(grad, data_format), shape, plan, geometry)
        return from_nchw(result, data_format)

    return compute


def _spread(
    grad: torch.Tensor, shape: _Shape, plan: Plan, geometry: Geometry
) -> torch.Tensor:
    if plan.extra is None:
        return _avg_pool2d_backward(  # type: ignore[no-any-return]
            grad,
            empty_nchw(shape, grad, geometry.data_format),
            geometry.window,
            geometry.stride,
            plan.padding,
            plan.ceil_mode,
            False,
            None,
        )
    left, right, top, bottom = plan.extra
    height, width = shape[2:]
    padded = (*shape[:2], height + top + bottom, width + left + right)
    like = empty_nchw(padded, grad, geometry.data_format)
    counts = _counts(empty_nchw(shape, grad, geometry.data_format), plan, geometry)
    result = _avg_pool2d_backward(
        _formatted(grad / counts, geometry.data_format),
        like,
        geometry.window,
        geometry.stride,
        (0, 0),
        False,
        True,
        1,
    )
    return result[:, :, top : top + height, left : left + width]  # type: ignore[no-any-return]


def _formatted(value: torch.Tensor, data_format: bytes) -> torch.Tensor:
    """The NCHW tensor in the memory format of the data format."""
    if data_format == b"NCHW":
        return value.contiguous()
    return value.contiguous(memory_format=torch.channels_last)
