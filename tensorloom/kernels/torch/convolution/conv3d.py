"""3-D convolution over torch tensors, forward and backward."""

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
from tensorloom.kernels.host.array.allocation import check_dimensions, check_memory
from tensorloom.kernels.torch.convolution.window3d import (
    WIDER,
    Shape,
    Windows3,
    check_spatial_only,
    from_ncdhw,
    ncdhw_shape,
    spatial3,
    to_ncdhw,
    windows3,
)

_convolution = torch.convolution
_convolution_backward = torch.ops.aten.convolution_backward.default
_NONE = (0, 0, 0)
_HAS_MKLDNN = torch._C._has_mkldnn


class _Convolution:
    """The attrs of a node, decoded, and what they are in torch's terms."""

    def __init__(self, c: OpKernelConstruction) -> None:
        self.op, self.data_format = c.op, c.get("data_format", b"NDHWC")
        self.padding, self.device, self.dtype = c["padding"], c.device, c["T"]
        for attr in ("strides", "dilations"):
            if len(c[attr]) != 5:
                raise invalid_argument(
                    f"Sliding window {attr} must specify 5 dimensions"
                )
            check_spatial_only(c[attr], self.data_format, attr)
        self.stride = spatial3(c["strides"], self.data_format)
        self.dilation = spatial3(c["dilations"], self.data_format)
        self.on_cpu = c.device_type == "CPU"
        self.windows = lru_cache(maxsize=64)(self._windows)

    def _windows(self, volume: Shape, filters: Shape) -> Windows3:
        return windows3(volume, filters[:3], self.stride, self.dilation, self.padding)

    def groups(self, volume: Shape, filters: Shape) -> int:
        """How many groups of channels; checks the depths."""
        depth, filter_depth = volume[1], filters[3]
        if filter_depth == 0 or depth % filter_depth:
            raise invalid_argument(
                "Input depth must be evenly divisible by filter depth: "
                f"{depth} vs {filter_depth}"
            )
        groups = depth // filter_depth
        if groups > 1 and filters[4] % groups:
            raise errors.UnimplementedError(
                None,
                None,
                "A grouped convolution needs an output depth that is divisible by the "
                f"number of groups: {filters[4]} vs {groups}",
            )
        return max(groups, 1)

    def wide(self, dtype: torch.dtype) -> torch.dtype:
        """The dtype to compute in."""
        return WIDER.get(dtype, dtype) if self.on_cpu else dtype

    def volume(self, value: torch.Tensor) -> torch.Tensor:
        """A volume or gradient as NCDHW in the dtype to compute in."""
        return to_ncdhw(value.to(self.wide(value.dtype)), self.data_format)

    def filters(self, value: torch.Tensor) -> torch.Tensor:
        """Filters DHWIO in torch's order."""
        return value.to(self.wide(value.dtype)).permute(4, 3, 0, 1, 2)

    def check_backward(self, volume: Shape, filters: Shape, grad: Shape) -> None:
        """Checks an NCDHW shape, DHWIO filters, and an NCDHW gradient."""
        label = "Conv3DBackprop" + ("Input" if "Input" in self.op else "Filter") + "Op"
        if volume[0] != grad[0]:
            raise invalid_argument(
                f"{label}: input and out_backprop must have the same batch size"
                f"input batch: {volume[0]}outbackprop batch: {grad[0]} batch_dim: 0"
            )
        self.groups(volume, filters)
        if filters[4] != grad[1]:
            raise invalid_argument(
                f"{label}: filter and out_backprop must have the same out_depth"
            )
        outputs = self.windows(volume, filters).outputs
        for axis, (computed, actual) in enumerate(zip(outputs, grad[2:], strict=True)):
            if computed != actual:
                raise invalid_argument(
                    f"{label}: Size of out_backprop doesn't match computed: actual = "
                    f"{actual}, computed = {computed} spatial_dim: {axis + 1} input: "
                    f"{volume[2 + axis]} filter: {filters[axis]} output: {actual} "
                    f"stride: {self.stride[axis]} dilation: {self.dilation[axis]}"
                )


def _check_ranks(label: str, **shapes: Shape) -> None:
    for name, shape in shapes.items():
        if len(shape) != 5:
            raise invalid_argument(f"{label}{name} must be 5-dimensional")


def _forward(
    conv: _Convolution,
    volume: torch.Tensor,
    filters: torch.Tensor,
    padding: Shape,
    groups: int,
) -> torch.Tensor:
    """An NCDHW volume with OIDHW filters."""
    is_plain = conv.on_cpu and volume.dtype is torch.float32
    if is_plain and len(volume) == 1 and _HAS_MKLDNN:
        # Of a single volume of modest size torch itself would make columns, which
        # takes up to four times as long.
        return torch.mkldnn_convolution(
            volume, filters, None, padding, conv.stride, conv.dilation, groups
        )
    return _convolution(
        volume,
        filters,
        None,
        conv.stride,
        padding,
        conv.dilation,
        False,
        _NONE,
        groups,
    )


@kernel("Conv3D")
def conv3d(c: OpKernelConstruction) -> Compute:
    """Volumes with filters."""
    conv = _Convolution(c)

    def compute(volume: torch.Tensor, filters: torch.Tensor) -> torch.Tensor:
        _check_ranks("", input=volume.shape, filter=filters.shape)
        shape = ncdhw_shape(volume.shape, conv.data_format)
        groups = conv.groups(shape, filters.shape)
        windows = conv.windows(shape, tuple(filters.shape))
        if not volume.numel() or not filters.numel() or 0 in windows.outputs:
            size = (shape[0], filters.shape[4], *windows.outputs)
            return from_ncdhw(volume.new_zeros(size), conv.data_format).contiguous()
        padded = conv.volume(volume)
        padding: Shape = windows.before
        if not windows.is_symmetric:
            padded, padding = torch.constant_pad_nd(padded, windows.pads), _NONE
        result = _forward(conv, padded, conv.filters(filters), padding, groups)
        return from_ncdhw(result, conv.data_format).contiguous().to(volume.dtype)

    return compute


def _backward(
    conv: _Convolution,
    grad: torch.Tensor,
    volume: torch.Tensor,
    filters: torch.Tensor,
    windows: Windows3,
    groups: int,
    mask: list[bool],
) -> Any:
    padding = windows.before if windows.is_symmetric else _NONE
    return _convolution_backward(
        grad,
        volume,
        filters,
        None,
        conv.stride,
        padding,
        conv.dilation,
        False,
        _NONE,
        groups,
        mask,
    )


def _input_gradient(
    conv: _Convolution, sizes: Shape, filters: torch.Tensor, grad: torch.Tensor
) -> torch.Tensor:
    shape = ncdhw_shape(sizes, conv.data_format)
    conv.check_backward(
        shape, tuple(filters.shape), ncdhw_shape(grad.shape, conv.data_format)
    )
    check_memory(sizes, conv.dtype, conv.device)
    if not filters.numel() or not grad.numel() or 0 in sizes:
        return grad.new_zeros(sizes)
    windows = conv.windows(shape, tuple(filters.shape))
    wide = conv.volume(grad)
    padded = shape if windows.is_symmetric else windows.padded_shape(shape)
    volume = wide.new_empty(padded)
    result = _backward(
        conv,
        wide,
        volume,
        conv.filters(filters),
        windows,
        conv.groups(shape, tuple(filters.shape)),
        [True, False, False],
    )[0]
    if not windows.is_symmetric:
        result = windows.cut(result, shape)
    return from_ncdhw(result, conv.data_format).contiguous().to(grad.dtype)


def _filter_gradient(
    conv: _Convolution, volume: torch.Tensor, sizes: Shape, grad: torch.Tensor
) -> torch.Tensor:
    shape = ncdhw_shape(volume.shape, conv.data_format)
    conv.check_backward(shape, sizes, ncdhw_shape(grad.shape, conv.data_format))
    check_memory(sizes, conv.dtype, conv.device)
    if not volume.numel() or not grad.numel() or 0 in sizes:
        return grad.new_zeros(sizes)
    windows = conv.windows(shape, sizes)
    padded = conv.volume(volume)
    if not windows.is_symmetric:
        padded = torch.constant_pad_nd(padded, windows.pads)
    wide = conv.volume(grad)
    filters = wide.new_empty((sizes[4], sizes[3], *sizes[:3]))
    result = _backward(
        conv,
        wide,
        padded,
        filters,
        windows,
        conv.groups(shape, sizes),
        [False, True, False],
    )[1]
    return result.permute(2, 3, 4, 1, 0).contiguous().to(grad.dtype)  # type: ignore[no-any-return]


def _sizes(value: Any, label: str, what: str) -> Shape:
    array = np.asarray(value)
    if array.ndim != 1:
        raise invalid_argument(
            f"{label}: {what}_sizes input must be 1-dim, not {array.ndim}"
        )
    if len(array) != 5:
        raise invalid_argument(f"{label}: {what} must be 5-dimensional")
    check_dimensions(array.tolist())
    return tuple(array.tolist())


@kernel("Conv3DBackpropInputV2", host_inputs=("input_sizes",))
def _backprop_input_v2(c: OpKernelConstruction) -> Compute:
    conv = _Convolution(c)

    def compute(sizes: Any, filters: torch.Tensor, grad: torch.Tensor) -> torch.Tensor:
        label = "Conv3DBackpropInputOp"
        _check_ranks(f"{label}: ", filter=filters.shape, out_backprop=grad.shape)
        return _input_gradient(conv, _sizes(sizes, label, "input"), filters, grad)

    return compute


@kernel("Conv3DBackpropFilterV2", host_inputs=("filter_sizes",))
def _backprop_filter_v2(c: OpKernelConstruction) -> Compute:
    conv = _Convolution(c)

    def compute(volume: torch.Tensor, sizes: Any, grad: torch.Tensor) -> torch.Tensor:
        label = "Conv3DBackpropFilterOp"
        _check_ranks(f"{label}: ", input=volume.shape, out_backprop=grad.shape)
        return _filter_gradient(conv, volume, _sizes(sizes, label, "filter"), grad)

    return compute


@kernel("Conv3DBackpropInput")
def _backprop_input(c: OpKernelConstruction) -> Compute:
    conv = _Convolution(c)

    def compute(
        volume: torch.Tensor, filters: torch.Tensor, grad: torch.Tensor
    ) -> torch.Tensor:
        _check_ranks(
            "Conv3DBackpropInputOp: ",
            input=volume.shape,
            filter=filters.shape,
            out_backprop=grad.shape,
        )
        return _input_gradient(conv, tuple(volume.shape), filters, grad)

    return compute


@kernel("Conv3DBackpropFilter")
def _backprop_filter(c: OpKernelConstruction) -> Compute:
    conv = _Convolution(c)

    def compute(
        volume: torch.Tensor, filters: torch.Tensor, grad: torch.Tensor
    ) -> torch.Tensor:
        _check_ranks(
            "Conv3DBackpropFilterOp: ",
            input=volume.shape,
            filter=filters.shape,
            out_backprop=grad.shape,
        )
        return _filter_gradient(conv, volume, tuple(filters.shape), grad)

    return compute
