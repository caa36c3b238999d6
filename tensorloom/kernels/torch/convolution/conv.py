"""Convolution kernels over torch tensors, forward and backward.

Padding is torch's own where both sides of an axis are padded alike; otherwise the
image is padded first, and a gradient with respect to it is cut afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
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
from tensorloom.kernels.host.array.allocation import (
    check_dimensions,
    check_memory,
    shape_text,
)
from tensorloom.kernels.torch.convolution import conv_products as products
from tensorloom.kernels.torch.convolution import depthwise_taps as taps
from tensorloom.kernels.torch.convolution.conv_plan import (
    Geometry,
    Plan,
    check_backward,
    check_forward,
    check_rank,
    decode_geometry,
    shape_vector,
)
from tensorloom.kernels.torch.convolution.window import (
    CHANNELS_LAST,
    empty_nchw,
    from_nchw,
    nchw_shape,
    to_nchw,
)

# Bound once: looking an operator up costs as much as a small kernel.
_constant_pad_nd = torch.constant_pad_nd
_convolution = torch.convolution
_convolution_backward = torch.ops.aten.convolution_backward.default
_Shape = tuple[int, ...]
_HostArray = np.ndarray[Any, np.dtype[Any]]


# --- filters -----------------------------------------------------------------


def _to_oihw(filters: torch.Tensor, depthwise: bool) -> torch.Tensor:
    """Filters HWIO (or HW, in, multiplier) in torch's order."""
    if not depthwise:
        return filters.permute(3, 2, 0, 1)
    height, width, depth, multiplier = filters.shape
    return filters.permute(2, 3, 0, 1).reshape(depth * multiplier, 1, height, width)


def _from_oihw(
    filters: torch.Tensor, shape: Sequence[int], depthwise: bool
) -> torch.Tensor:
    """The reverse of `_to_oihw`, contiguous: optimizers go through it element by
    element together with the variable and its slots."""
    if not depthwise:
        return filters.permute(2, 3, 1, 0).contiguous()
    height, width, depth, multiplier = shape
    return (
        filters.reshape(depth, multiplier, height, width)
        .permute(2, 3, 0, 1)
        .contiguous()
    )


def _oihw_shape(shape: Sequence[int], depthwise: bool) -> _Shape:
    height, width, depth, outputs = shape
    if depthwise:
        return depth * outputs, 1, height, width
    return outputs, depth, height, width


# --- which way ---------------------------------------------------------------


def _in_float(c: OpKernelConstruction) -> torch.dtype | None:
    """The dtype to compute in where torch has no convolution of its own."""
    if c["T"] == dtypes.int32:
        return torch.float64
    if c.device_type == "CPU" and c["T"] in (dtypes.float16, dtypes.bfloat16):
        return torch.float32
    return None


def _faster_than_torch(
    batch: int,
    filters: Sequence[int],
    values: torch.Tensor,
    plan: Plan,
    geometry: Geometry,
    result: str = products.FORWARD,
) -> Any:
    """The module, `taps` or `products`, that outruns torch's convolution; else None.

    Args:
      values: what the dtype and device are taken from.
    """
    if geometry.by_channel and taps.is_by_taps(batch, filters, values, plan):
        return taps
    if geometry.channels_last and products.is_by_product(
        batch, filters, values, plan, result
    ):
        return products
    return None


# --- forward -----------------------------------------------------------------


@kernel(["Conv2D", "DepthwiseConv2dNative"])
def convolution(c: OpKernelConstruction) -> Compute:
    """Images with filters."""
    geometry, wide = decode_geometry(c), _in_float(c)
    data_format = geometry.data_format

    @lru_cache(maxsize=64)
    def plan_for(image: _Shape, filters: _Shape) -> Plan:
        if len(image) != 4:
            raise invalid_argument(f"input must be 4-dimensional{shape_text(image)}")
        check_rank(filters, "filter")
        ordered = nchw_shape(image, data_format)
        return geometry.plan(
            ordered, filters, check_forward(geometry, ordered, filters)
        )

    def compute(
        image: torch.Tensor, filters: torch.Tensor, bias: torch.Tensor | None = None
    ) -> torch.Tensor:
        plan = plan_for(image.shape, filters.shape)
        if not image.numel() or not filters.numel() or 0 in plan.outputs:
            return _no_elements(image, filters, bias, plan, geometry)
        if wide is not None:
            narrow = image.dtype
            wide_bias = None if bias is None else bias.to(wide)
            result = _forward(
                image.to(wide), filters.to(wide), wide_bias, plan, geometry
            )
            return result.to(narrow)
        return _forward(image, filters, bias, plan, geometry)

    return compute


def _forward(
    image: torch.Tensor,
    filters: torch.Tensor,
    bias: torch.Tensor | None,
    plan: Plan,
    geometry: Geometry,
) -> torch.Tensor:
    way = _faster_than_torch(image.shape[0], filters.shape, filters, plan, geometry)
    if way is not None:
        return way.forward(image, filters, bias, plan)  # type: ignore[no-any-return]
    result = _convolution(
        _padded(to_nchw(image, geometry.data_format), plan),
        _to_oihw(filters, geometry.depthwise),
        bias,
        plan.stride,
        plan.padding,
        plan.dilation,
        False,
        (0, 0),
        plan.groups,
    )
    return from_nchw(result, geometry.data_format)


def _padded(image: torch.Tensor, plan: Plan) -> torch.Tensor:
    if plan.extra is None:
        return image
    return _constant_pad_nd(image, plan.extra)


def _no_elements(
    image: torch.Tensor,
    filters: torch.Tensor,
    bias: torch.Tensor | None,
    plan: Plan,
    geometry: Geometry,
) -> torch.Tensor:
    """Zeros, or the bias: a sum over nothing, or no windows at all."""
    batch = image.shape[0]
    channels = filters.shape[3]
    if geometry.depthwise:
        channels *= filters.shape[2]
    result = image.new_zeros((batch, channels, *plan.outputs))
    if bias is not None:
        result += bias.view(-1, 1, 1)
    return from_nchw(result, geometry.data_format)


# --- backward ----------------------------------------------------------------


def _backward(
    grad: torch.Tensor,
    image: torch.Tensor,
    filters: torch.Tensor,
    plan: Plan,
    mask: tuple[bool, bool, bool],
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return _convolution_backward(  # type: ignore[no-any-return]
        grad,
        image,
        filters,
        None,
        plan.stride,
        plan.padding,
        plan.dilation,
        False,
        (0, 0),
        plan.groups,
        mask,
    )


def _padded_shape(shape: _Shape, plan: Plan) -> _Shape:
    if plan.extra is None:
        return shape
    left, right, top, bottom = plan.extra
    return (*shape[:2], shape[2] + top + bottom, shape[3] + left + right)


def _label(geometry: Geometry, side: str) -> str:
    if geometry.depthwise:
        return f"DepthwiseConv2DBackprop{side}"
    return f"Conv2DCustomBackprop{side}"


@kernel(
    ["Conv2DBackpropInput", "DepthwiseConv2dNativeBackpropInput"],
    host_inputs=("input_sizes",),
)
def backprop_input(c: OpKernelConstruction) -> Compute:
    """The gradient with respect to the images."""
    geometry, wide = decode_geometry(c), _in_float(c)
    data_format, device, dtype = geometry.data_format, c.device, c["T"]
    label = _label(geometry, "Input")

    @lru_cache(maxsize=64)
    def plan_for(sizes: _Shape, filters: _Shape, grad: _Shape) -> tuple[Plan, _Shape]:
        for shape, what in ((filters, "filter"), (grad, "out_backprop")):
            if len(shape) != 4:
                raise invalid_argument(f"{label}: {what} must be 4-dimensional")
        check_dimensions(sizes)
        image = nchw_shape(sizes, data_format)
        plan = check_backward(
            geometry, image, filters, nchw_shape(grad, data_format), label
        )
        check_memory(sizes, dtype, device)
        return plan, image

    def compute(
        input_sizes: _HostArray, filters: torch.Tensor, grad: torch.Tensor
    ) -> torch.Tensor:
        sizes = shape_vector(input_sizes, "input", label)
        plan, image = plan_for(sizes, filters.shape, grad.shape)
        if not filters.numel() or not grad.numel() or 0 in image:
            return grad.new_zeros(sizes)
        if wide is not None:
            result = _input_gradient(
                filters.to(wide), grad.to(wide), plan, image, geometry
            )
            return result.to(grad.dtype)
        return _input_gradient(filters, grad, plan, image, geometry)

    return compute


def _input_gradient(
    filters: torch.Tensor,
    grad: torch.Tensor,
    plan: Plan,
    image: _Shape,
    geometry: Geometry,
) -> torch.Tensor:
    """The gradient of images of the shape `image`, NCHW."""
    batch, depth, height, width = image
    way = _faster_than_torch(
        batch, filters.shape, grad, plan, geometry, products.IMAGES
    )
    if way is not None:
        sizes = batch, height, width, depth
        return way.input_gradient(filters, grad, sizes, plan)  # type: ignore[no-any-return]
    data_format = geometry.data_format
    result = _backward(
        to_nchw(grad, data_format),
        empty_nchw(_padded_shape(image, plan), grad, data_format),
        _to_oihw(filters, geometry.depthwise),
        plan,
        (True, False, False),
    )[0]
    if plan.extra is not None:
        left, _, top, _ = plan.extra
        result = result[:, :, top : top + height, left : left + width]
    return from_nchw(result, data_format).contiguous()


@kernel(
    ["Conv2DBackpropFilter", "DepthwiseConv2dNativeBackpropFilter"],
    host_inputs=("filter_sizes",),
)
def backprop_filter(c: OpKernelConstruction) -> Compute:
    """The gradient with respect to the filters."""
    geometry, wide = decode_geometry(c), _in_float(c)
    data_format, device, dtype = geometry.data_format, c.device, c["T"]
    label = _label(geometry, "Filter")

    @lru_cache(maxsize=64)
    def plan_for(image: _Shape, sizes: _Shape, grad: _Shape) -> Plan:
        for shape, what in ((image, "input"), (grad, "out_backprop")):
            if len(shape) != 4:
                raise invalid_argument(f"{label}: {what} must be 4-dimensional")
        check_dimensions(sizes)
        plan = check_backward(
            geometry,
            nchw_shape(image, data_format),
            sizes,
            nchw_shape(grad, data_format),
            label,
        )
        check_memory(sizes, dtype, device)
        return plan

    def compute(
        image: torch.Tensor, filter_sizes: _HostArray, grad: torch.Tensor
    ) -> torch.Tensor:
        sizes = shape_vector(filter_sizes, "filter", label)
        plan = plan_for(image.shape, sizes, grad.shape)
        if not image.numel() or not grad.numel() or 0 in sizes:
            return image.new_zeros(sizes)
        if wide is not None:
            result = _filter_gradient(
                image.to(wide), grad.to(wide), plan, sizes, geometry
            )
            return result.to(image.dtype)
        return _filter_gradient(image, grad, plan, sizes, geometry)

    return compute


def _filter_gradient(
    image: torch.Tensor,
    grad: torch.Tensor,
    plan: Plan,
    sizes: _Shape,
    geometry: Geometry,
) -> torch.Tensor:
    """The gradient of filters of the shape `sizes`, HWIO."""
    way = _faster_than_torch(
        image.shape[0], sizes, grad, plan, geometry, products.FILTERS
    )
    if way is not None:
        return way.filter_gradient(image, grad, sizes, plan)  # type: ignore[no-any-return]
    filters = torch.empty(
        _oihw_shape(sizes, geometry.depthwise),
        dtype=image.dtype,
        device=image.device,
        memory_format=CHANNELS_LAST,
    )
    result = _backward(
        to_nchw(grad, geometry.data_format),
        _padded(to_nchw(image, geometry.data_format), plan),
        filters,
        plan,
        (False, True, False),
    )[1]
    return _from_oihw(result, sizes, geometry.depthwise)
