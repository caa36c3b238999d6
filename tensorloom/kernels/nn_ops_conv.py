"""Convolution kernels over torch tensors, forward and backward.

Padding is torch's own where both sides of an axis are padded alike; otherwise the
image is padded first, and a gradient with respect to it is cut afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from tensorloom.framework import dtypes, errors
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, kernel
from tensorloom.kernels.host.allocation import (
    check_dimensions,
    check_memory,
    shape_text,
)
from tensorloom.kernels.nn_ops_window import (
    CHANNELS_LAST,
    AxisWindows,
    axis_windows,
    check_spatial_only,
    empty_nchw,
    from_nchw,
    nchw_shape,
    spatial,
    to_nchw,
)

# Bound once: looking an operator up costs as much as a small kernel.
_constant_pad_nd = torch.constant_pad_nd
_convolution = torch.convolution
_convolution_backward = torch.ops.aten.convolution_backward.default
_Shape = tuple[int, ...]
_HostArray = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Plan:
    """One convolution of known sizes, in torch's terms."""

    stride: tuple[int, int]
    padding: tuple[int, int]  # on both sides of height and width
    dilation: tuple[int, int]
    groups: int
    # What `torch.nn.functional.pad` adds first (left, right, top, bottom), or None.
    extra: tuple[int, int, int, int] | None
    outputs: tuple[int, int]  # height and width of the result


@dataclass(frozen=True, slots=True)
class Geometry:
    """The attrs of a convolution node, decoded."""

    op: str
    data_format: bytes
    stride: tuple[int, int]
    dilation: tuple[int, int]
    padding: bytes
    explicit: tuple[tuple[int, int], tuple[int, int]]
    depthwise: bool

    def plan(self, image: _Shape, filters: _Shape, groups: int) -> Plan:
        """For an image shape NCHW and a filter shape HWIO."""
        rows, columns = (
            axis_windows(
                image[2 + axis],
                filters[axis],
                self.stride[axis],
                self.dilation[axis],
                self.padding,
                self.explicit[axis],
            )
            for axis in (0, 1)
        )
        outputs = (rows.outputs, columns.outputs)
        if rows.is_symmetric and columns.is_symmetric:
            padding, extra = (rows.before, columns.before), None
        else:
            padding, extra = (0, 0), _extra(rows, columns)
        return Plan(self.stride, padding, self.dilation, groups, extra, outputs)


def _extra(rows: AxisWindows, columns: AxisWindows) -> tuple[int, int, int, int]:
    return columns.before, columns.after, rows.before, rows.after


def _geometry(c: OpKernelConstruction) -> Geometry:
    data_format = c["data_format"]
    check_spatial_only(c["strides"], data_format, "strides")
    check_spatial_only(c["dilations"], data_format, "dilations")
    paddings = c.get("explicit_paddings") or [0] * 8
    rows, columns = (2, 3) if data_format == b"NCHW" else (1, 2)
    return Geometry(
        c.op,
        data_format,
        spatial(c["strides"], data_format),
        spatial(c["dilations"], data_format),
        c["padding"],
        (
            (paddings[2 * rows], paddings[2 * rows + 1]),
            (paddings[2 * columns], paddings[2 * columns + 1]),
        ),
        c.op.startswith("Depthwise"),
    )


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


# --- checks ------------------------------------------------------------------


def _invalid(message: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, message)


def _check_forward(geometry: Geometry, image: _Shape, filters: _Shape) -> int:
    """Checks shapes (image NCHW, filters HWIO) and returns the number of groups."""
    depth, filter_depth = image[1], filters[2]
    if geometry.depthwise:
        if depth != filter_depth:
            raise _invalid(
                f"input and filter must have the same depth: {depth} vs {filter_depth}"
            )
        return depth
    if filter_depth == 0 or depth % filter_depth:
        raise _invalid(
            "input depth must be evenly divisible by filter depth: "
            f"{depth} vs {filter_depth}"
        )
    groups = depth // filter_depth
    if groups > 1 and filters[3] % groups:
        raise _invalid(
            f"output depth must be evenly divisible by number of groups: {filters[3]} "
            f"vs {groups}"
        )
    return groups


def _check_rank(shape: Sequence[int], what: str) -> None:
    if len(shape) != 4:
        raise _invalid(f"{what} must be 4-dimensional: {shape_text(tuple(shape))}")


def _check_backward(
    geometry: Geometry, image: _Shape, filters: _Shape, grad: _Shape, label: str
) -> Plan:
    """Checks three 4-D shapes (NCHW, HWIO, NCHW) against each other."""
    if image[0] != grad[0]:
        raise _invalid(
            f"{label}: input and out_backprop must have the same batch size"
            f"input batch: {image[0]}outbackprop batch: {grad[0]} batch_dim: 0"
        )
    if geometry.depthwise:
        if image[1] != filters[2]:
            raise _invalid(f"{label}: input and filter must have the same in_depth")
        if filters[3] * image[1] != grad[1]:
            raise _invalid(
                f"{label}: depth_multiplier * in_depth not equal to out_depth"
            )
        groups = image[1]
    else:
        if filters[2] == 0 or image[1] % filters[2]:
            raise _invalid(
                f"{label}: input depth must be evenly divisible by filter depth"
            )
        if filters[3] != grad[1]:
            raise _invalid(
                f"{label}: filter and out_backprop must have the same out_depth"
            )
        groups = image[1] // filters[2]
    plan = geometry.plan(image, filters, groups)
    for axis in (0, 1):
        if plan.outputs[axis] != grad[2 + axis]:
            raise _invalid(
                f"{label}: Size of out_backprop doesn't match computed: actual = "
                f"{grad[2 + axis]}, computed = {plan.outputs[axis]} spatial_dim: "
                f"{axis + 1} input: {image[2 + axis]} filter: {filters[axis]} output: "
                f"{grad[2 + axis]} stride: {geometry.stride[axis]} dilation: "
                f"{geometry.dilation[axis]}"
            )
    return plan


def _shape_vector(value: _HostArray, what: str, label: str) -> _Shape:
    """The 4-D shape that a host vector holds."""
    array = np.asarray(value)
    if array.ndim != 1:
        raise _invalid(f"{label}: {what}_sizes input must be 1-dim, not {array.ndim}")
    if len(array) != 4:
        raise _invalid(f"{label}: {what} must be 4-dimensional")
    return tuple(array.tolist())


# --- forward -----------------------------------------------------------------


def _in_float(c: OpKernelConstruction) -> torch.dtype | None:
    """The dtype to compute in where torch has no convolution of its own."""
    if c["T"] == dtypes.int32:
        return torch.float64
    if c.device_type == "CPU" and c["T"] in (dtypes.float16, dtypes.bfloat16):
        return torch.float32
    return None


@kernel(["Conv2D", "DepthwiseConv2dNative"])
def convolution(c: OpKernelConstruction) -> Compute:
    """Images with filters."""
    geometry, wide = _geometry(c), _in_float(c)
    data_format = geometry.data_format

    @lru_cache(maxsize=64)
    def plan_for(image: _Shape, filters: _Shape) -> Plan:
        if len(image) != 4:
            raise _invalid(f"input must be 4-dimensional{shape_text(image)}")
        _check_rank(filters, "filter")
        ordered = nchw_shape(image, data_format)
        return geometry.plan(
            ordered, filters, _check_forward(geometry, ordered, filters)
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
    geometry, wide = _geometry(c), _in_float(c)
    data_format, device, dtype = geometry.data_format, c.device, c["T"]
    label = _label(geometry, "Input")

    @lru_cache(maxsize=64)
    def plan_for(sizes: _Shape, filters: _Shape, grad: _Shape) -> tuple[Plan, _Shape]:
        for shape, what in ((filters, "filter"), (grad, "out_backprop")):
            if len(shape) != 4:
                raise _invalid(f"{label}: {what} must be 4-dimensional")
        check_dimensions(sizes)
        image = nchw_shape(sizes, data_format)
        plan = _check_backward(
            geometry, image, filters, nchw_shape(grad, data_format), label
        )
        check_memory(sizes, dtype, device)
        return plan, image

    def run(
        filters: torch.Tensor, grad: torch.Tensor, plan: Plan, image: _Shape
    ) -> Any:
        shape = _padded_shape(image, plan)
        result = _backward(
            to_nchw(grad, data_format),
            empty_nchw(shape, grad, data_format),
            _to_oihw(filters, geometry.depthwise),
            plan,
            (True, False, False),
        )[0]
        if plan.extra is not None:
            left, _, top, _ = plan.extra
            result = result[:, :, top : top + image[2], left : left + image[3]]
        return from_nchw(result, data_format).contiguous()

    def compute(
        input_sizes: _HostArray, filters: torch.Tensor, grad: torch.Tensor
    ) -> torch.Tensor:
        sizes = _shape_vector(input_sizes, "input", label)
        plan, image = plan_for(sizes, filters.shape, grad.shape)
        if not filters.numel() or not grad.numel() or 0 in image:
            return grad.new_zeros(sizes)
        if wide is not None:
            result = run(filters.to(wide), grad.to(wide), plan, image)
            return result.to(grad.dtype)  # type: ignore[no-any-return]
        return run(filters, grad, plan, image)  # type: ignore[no-any-return]

    return compute


@kernel(
    ["Conv2DBackpropFilter", "DepthwiseConv2dNativeBackpropFilter"],
    host_inputs=("filter_sizes",),
)
def backprop_filter(c: OpKernelConstruction) -> Compute:
    """The gradient with respect to the filters."""
    geometry, wide = _geometry(c), _in_float(c)
    data_format, device, dtype = geometry.data_format, c.device, c["T"]
    label = _label(geometry, "Filter")

    @lru_cache(maxsize=64)
    def plan_for(image: _Shape, sizes: _Shape, grad: _Shape) -> Plan:
        for shape, what in ((image, "input"), (grad, "out_backprop")):
            if len(shape) != 4:
                raise _invalid(f"{label}: {what} must be 4-dimensional")
        check_dimensions(sizes)
        plan = _check_backward(
            geometry,
            nchw_shape(image, data_format),
            sizes,
            nchw_shape(grad, data_format),
            label,
        )
        check_memory(sizes, dtype, device)
        return plan

    def run(image: torch.Tensor, grad: torch.Tensor, plan: Plan, sizes: _Shape) -> Any:
        filters = torch.empty(
            _oihw_shape(sizes, geometry.depthwise),
            dtype=image.dtype,
            device=image.device,
            memory_format=CHANNELS_LAST,
        )
        result = _backward(
            to_nchw(grad, data_format),
            _padded(to_nchw(image, data_format), plan),
            filters,
            plan,
            (False, True, False),
        )[1]
        return _from_oihw(result, sizes, geometry.depthwise)

    def compute(
        image: torch.Tensor, filter_sizes: _HostArray, grad: torch.Tensor
    ) -> torch.Tensor:
        sizes = _shape_vector(filter_sizes, "filter", label)
        if 0 in sizes:
            return image.new_zeros(sizes)
        plan = plan_for(image.shape, sizes, grad.shape)
        if not image.numel() or not grad.numel():
            return image.new_zeros(sizes)
        if wide is not None:
            return run(image.to(wide), grad.to(wide), plan, sizes).to(image.dtype)  # type: ignore[no-any-return]
        return run(image, grad, plan, sizes)  # type: ignore[no-any-return]

    return compute
