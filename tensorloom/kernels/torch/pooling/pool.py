"""Pooling kernels over torch tensors, forward and backward.

torch pads both sides of an axis alike; one more element behind it is what its ceil
mode gives. What neither can express is padded first.

MaxPoolGrad gets the pool's input and output, torch's backward wants the indices of the
maxima. torch computes them in the forward pass anyway, so they ride along on the
output tensor; where that is not the output of the very input, they are computed again.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.torch.convolution.conv_plan import explicit_paddings
from tensorloom.kernels.torch.convolution.window import (
    AxisWindows,
    axis_windows,
    empty_nchw,
    from_nchw,
    nchw_shape,
    spatial,
    to_nchw,
)

# Bound once: looking an operator up costs as much as a small kernel.
_constant_pad_nd = torch.constant_pad_nd
_max_pool2d_with_indices = torch._C._nn.max_pool2d_with_indices
_max_pool2d_with_indices_backward = (
    torch.ops.aten.max_pool2d_with_indices_backward.default
)
_Shape = tuple[int, ...]
_INFINITE = float("inf")
_FLOATS = {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}
TORCH_NUMBERS = _FLOATS | {
    dtypes.int8,
    dtypes.int16,
    dtypes.int32,
    dtypes.int64,
    dtypes.uint8,
}


@dataclass(frozen=True, slots=True)
class Geometry:
    """The attrs of a pooling node, decoded."""

    data_format: bytes
    window: tuple[int, int]
    stride: tuple[int, int]
    padding: bytes
    # (before, after) for height and width, where the padding is EXPLICIT.
    explicit: tuple[tuple[int, int], tuple[int, int]] = ((0, 0), (0, 0))

    def plan(self, shape: _Shape) -> Plan:
        """For an NCHW shape."""
        rows, columns = (
            axis_windows(
                shape[2 + axis],
                self.window[axis],
                self.stride[axis],
                1,
                self.padding,
                self.explicit[axis],
            )
            for axis in (0, 1)
        )
        for ceil_mode in (False, True):
            if all(
                _torch_outputs(shape[2 + axis], self, axis, axis_plan, ceil_mode)
                == axis_plan.outputs
                for axis, axis_plan in ((0, rows), (1, columns))
            ):
                padding = (rows.before, columns.before)
                return Plan(padding, ceil_mode, None, rows, columns)
        extra = (columns.before, columns.after, rows.before, rows.after)
        return Plan((0, 0), False, extra, rows, columns)


@dataclass(frozen=True, slots=True)
class Plan:
    """One pooling of known sizes, in torch's terms."""

    padding: tuple[int, int]
    ceil_mode: bool
    # What is padded first (left, right, top, bottom), or None.
    extra: tuple[int, int, int, int] | None
    rows: AxisWindows
    columns: AxisWindows

    @property
    def outputs(self) -> tuple[int, int]:
        """Height and width of the result."""
        return self.rows.outputs, self.columns.outputs

    @property
    def has_no_padding(self) -> bool:
        """Whether all windows lie within the input."""
        return self.padding == (0, 0) and self.extra is None and not self.ceil_mode


def _torch_outputs(
    size: int, geometry: Geometry, axis: int, windows: AxisWindows, ceil_mode: bool
) -> int:
    """How many windows torch would see with padding `before` on both sides.

    -1 where it takes no such padding: beyond half of a window.
    """
    window, stride, pad = geometry.window[axis], geometry.stride[axis], windows.before
    if 2 * pad > window:
        return -1
    room = size + 2 * pad - window
    if not ceil_mode:
        return room // stride + 1
    outputs = -(-room // stride) + 1
    # A window that starts behind the input and its padding does not count.
    return outputs - 1 if (outputs - 1) * stride >= size + pad else outputs


def decode_geometry(c: OpKernelConstruction) -> Geometry:
    """The windows of a pooling node.

    Raises:
      errors.InvalidArgumentError: sizes or strides that are not positive.
      errors.UnimplementedError: windows over the batch.
    """
    data_format = c.get("data_format", b"NHWC")
    for attr in ("ksize", "strides"):
        if len(c[attr]) != 4:
            raise invalid_argument(
                f"Sliding window {attr} field must specify 4 dimensions"
            )
    window = spatial(c["ksize"], data_format)
    stride = spatial(c["strides"], data_format)
    # TensorFlow's MaxPool looks at the sizes first, its other kernels at the batch.
    checks = (_check_sizes, _check_batch)
    for check in checks if c.op == "MaxPool" else reversed(checks):
        check(c)
    paddings = explicit_paddings(c)
    rows, columns = (
        (paddings[2 * axis], paddings[2 * axis + 1])
        for axis in spatial(range(4), data_format)
    )
    return Geometry(data_format, window, stride, c["padding"], (rows, columns))


def _check_sizes(c: OpKernelConstruction) -> None:
    for attr in ("ksize", "strides"):
        if min(c[attr]) <= 0:
            what = f"Sliding window {attr.removesuffix('s')}"
            raise invalid_argument(f"{what} must be positive, got {c[attr]}")


def _check_batch(c: OpKernelConstruction) -> None:
    if c["ksize"][0] != 1 or c["strides"][0] != 1:
        raise errors.UnimplementedError(
            None, None, "Pooling is not yet supported on the batch dimension."
        )


def refuse_depth(c: OpKernelConstruction, *attrs: str) -> None:
    """Refuses windows, or strides, over channels.

    Raises:
      errors.UnimplementedError: one of the attrs has another number than 1 there.
    """
    axis = 1 if c.get("data_format", b"NHWC") == b"NCHW" else 3
    if any(c[attr][axis] != 1 for attr in attrs):
        raise errors.UnimplementedError(
            None, None, "MaxPoolingGrad is not yet supported on the depth dimension."
        )


def depth_window(c: OpKernelConstruction) -> int:
    """The window over channels; with one, there is none over height and width."""
    axis = 1 if c["data_format"] == b"NCHW" else 3
    window, stride = c["ksize"][axis], c["strides"][axis]
    if window == 1:
        return 1
    if spatial(c["ksize"], c["data_format"]) != (1, 1):
        raise errors.UnimplementedError(
            None,
            None,
            "MaxPooling supports exactly one of pooling across depth or pooling across "
            "width/height.",
        )
    if window != stride:
        raise errors.UnimplementedError(
            None,
            None,
            "Depthwise max pooling requires the depth window to equal the depth stride",
        )
    return int(window)


def check_rank(shape: Sequence[int]) -> None:
    """Images are 4-D."""
    if len(shape) != 4:
        raise invalid_argument(
            f"tensor_in_shape must have 2 spatial dimensions. {len(shape)} 0"
        )


# --- max pooling -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Maxima:
    """Where the maxima of a pool's output are; set on that tensor."""

    image: weakref.ReferenceType[torch.Tensor]
    geometry: Geometry
    indices: torch.Tensor


def cached_plans(geometry: Geometry) -> Callable[[_Shape], Plan]:
    """The plan of an image's shape, made once for each."""

    @lru_cache(maxsize=64)
    def plan_for(shape: _Shape) -> Plan:
        check_rank(shape)
        return geometry.plan(nchw_shape(shape, geometry.data_format))

    return plan_for


@kernel("MaxPool", types={"T": TORCH_NUMBERS})
def max_pool(c: OpKernelConstruction) -> Compute:
    """The maximum of each window."""
    geometry, depth = decode_geometry(c), depth_window(c)
    if depth > 1:
        return _depth_max_pool(depth, geometry.data_format)
    data_format = geometry.data_format
    # No gradient will ask where the maxima are (a pass says so).
    values_only = (
        c.get("_values_only", False)
        and c.device_type == "CPU"
        and data_format == b"NHWC"
        and geometry.window == geometry.stride != (1, 1)
    )

    plan_for = cached_plans(geometry)

    def compute(image: torch.Tensor) -> torch.Tensor:
        plan = plan_for(image.shape)
        if not image.numel() or 0 in plan.outputs:
            return no_windows(image, plan, data_format)
        if values_only and plan.has_no_padding:
            values = _values(image, geometry.window, plan.outputs)
            if not _may_have_nan(values) or bool(values.sum().isfinite()):
                return values
        values, indices = with_indices(image, plan, geometry)
        output = from_nchw(values, data_format)
        output.__dict__["maxima"] = _Maxima(weakref.ref(image), geometry, indices)
        return output

    return compute


def _values(
    image: torch.Tensor, window: tuple[int, int], outputs: tuple[int, int]
) -> torch.Tensor:
    """The maxima of NHWC windows side by side: of rows first, which are contiguous."""
    (height, width), (rows, columns) = window, outputs
    image = image[:, : rows * height, : columns * width]
    for axis, size in ((1, height), (2, width)):
        parts = [
            image[:, i::size] if axis == 1 else image[:, :, i::size]
            for i in range(size)
        ]
        image = functools.reduce(torch.maximum, parts)
    return image


def with_indices(
    image: torch.Tensor, plan: Plan, geometry: Geometry
) -> tuple[torch.Tensor, torch.Tensor]:
    """The maxima and their places in the (padded) plane, both NCHW."""
    nchw = to_nchw(image, geometry.data_format)
    if plan.extra is not None:
        nchw = _constant_pad_nd(nchw, plan.extra, _lowest(image.dtype))
    values, indices = _pool(nchw, plan, geometry)
    # A sum is the cheapest test for NaN, or for windows of -inf alone.
    if _may_have_nan(values) and not bool(values.sum().isfinite()):
        return _without_nan(nchw, plan, geometry)
    return values, indices


def _may_have_nan(values: torch.Tensor) -> bool:
    return values.is_floating_point() and values.is_cpu


def _pool(
    nchw: torch.Tensor, plan: Plan, geometry: Geometry
) -> tuple[torch.Tensor, torch.Tensor]:
    return _max_pool2d_with_indices(
        nchw, geometry.window, geometry.stride, plan.padding, (1, 1), plan.ceil_mode
    )


def _without_nan(
    nchw: torch.Tensor, plan: Plan, geometry: Geometry
) -> tuple[torch.Tensor, torch.Tensor]:
    """TensorFlow's answer to NaN: it is no maximum, and the smallest is finite.

    Its gradient takes the first element of a window until a larger one comes, so it
    goes to a NaN that is first.
    """
    numbers = nchw.nan_to_num(-_INFINITE, _INFINITE, -_INFINITE)
    values, indices = _pool(numbers, plan, geometry)
    first = _first_indices(nchw, plan, geometry)
    leads = nchw.isnan().flatten(2)[:, :, first.flatten()].view(indices.shape)
    indices = torch.where(leads, first, indices)
    return values.clamp_min(torch.finfo(values.dtype).min), indices


def _first_indices(nchw: torch.Tensor, plan: Plan, geometry: Geometry) -> torch.Tensor:
    """The place in the plane of the first element of each window, [height, width]."""
    width = nchw.shape[3]
    left, _, top, _ = plan.extra or (0, 0, 0, 0)
    starts = [
        (torch.arange(n, device=nchw.device) * stride - pad).clamp_min(low)
        for n, stride, pad, low in zip(
            plan.outputs, geometry.stride, plan.padding, (top, left), strict=True
        )
    ]
    return starts[0][:, None] * width + starts[1]


def _lowest(dtype: torch.dtype) -> float:
    if dtype.is_floating_point:
        return -float("inf")
    return torch.iinfo(dtype).min


def no_windows(image: torch.Tensor, plan: Plan, data_format: bytes) -> torch.Tensor:
    """The result when there is nothing to pool."""
    batch, channels = nchw_shape(image.shape, data_format)[:2]
    result = image.new_zeros((batch, channels, *plan.outputs))
    return from_nchw(result, data_format)


def _depth_max_pool(window: int, data_format: bytes) -> Compute:
    axis = 1 if data_format == b"NCHW" else 3

    def compute(image: torch.Tensor) -> torch.Tensor:
        check_rank(image.shape)
        windows = _depth_windows(image, window, axis)
        result = windows.amax(axis + 1)
        if _may_have_nan(result) and not bool(result.sum().isfinite()):
            first = windows.select(axis + 1, 0)
            numbers = windows.nan_to_num(-_INFINITE, _INFINITE, -_INFINITE)
            return torch.where(first.isnan(), first, numbers.amax(axis + 1))
        return result

    return compute


def _depth_windows(image: torch.Tensor, window: int, axis: int) -> torch.Tensor:
    """The channels as [windows, window]."""
    if image.shape[axis] % window:
        raise errors.UnimplementedError(
            None,
            None,
            "Depthwise max pooling requires the depth window to evenly divide the "
            "input depth",
        )
    return image.unflatten(axis, (image.shape[axis] // window, window))  # type: ignore[no-any-return, no-untyped-call]


@kernel("MaxPoolGrad", types={"T": _FLOATS})
def max_pool_grad(c: OpKernelConstruction) -> Compute:
    """The gradient goes to the first maximum of each window."""
    geometry, depth = decode_geometry(c), depth_window(c)
    if depth > 1:
        return _depth_max_pool_grad(depth, geometry.data_format)
    refuse_depth(c, "strides")

    @lru_cache(maxsize=64)
    def plan_for(image: _Shape, grad: _Shape) -> Plan:
        return gradient_plan(geometry, image, grad)

    def compute(
        image: torch.Tensor, output: torch.Tensor, grad: torch.Tensor
    ) -> torch.Tensor:
        plan = plan_for(image.shape, grad.shape)
        if output.dim() != 4:
            raise invalid_argument("tensor_out must be 4-dimensional")
        if not image.numel() or not grad.numel():
            return torch.zeros_like(image)
        indices = _indices(image, output, plan, geometry)
        return _scatter_max(image, grad, indices, plan, geometry)

    return compute


def gradient_plan(geometry: Geometry, image: _Shape, grad: _Shape) -> Plan:
    """Checks the shapes of the pool's input and of the gradient of its output."""
    if len(image) != 4:
        raise invalid_argument("tensor_in must be 4-dimensional")
    if len(grad) != 4:
        raise invalid_argument("out_backprop must be 4-dimensional")
    shape = nchw_shape(image, geometry.data_format)
    plan = geometry.plan(shape)
    expected = (*shape[:2], *plan.outputs)
    if nchw_shape(grad, geometry.data_format) != expected:
        raise invalid_argument(
            f"Expected grad shape to be {list(expected)}, but got {list(grad)} "
            "(batch, channels, height, width)"
        )
    return plan


def _indices(
    image: torch.Tensor, output: torch.Tensor, plan: Plan, geometry: Geometry
) -> torch.Tensor:
    maxima: _Maxima | None = output.__dict__.get("maxima")
    if maxima is not None and maxima.image() is image and maxima.geometry == geometry:
        return maxima.indices
    return with_indices(image, plan, geometry)[1]


def _scatter_max(
    image: torch.Tensor,
    grad: torch.Tensor,
    indices: torch.Tensor,
    plan: Plan,
    geometry: Geometry,
) -> torch.Tensor:
    data_format = geometry.data_format
    nchw = to_nchw(image, data_format)
    height, width = nchw.shape[2:]
    if plan.extra is not None:
        left, right, top, bottom = plan.extra
        shape = (*nchw.shape[:2], height + top + bottom, width + left + right)
        nchw = empty_nchw(shape, image, data_format)
    result = _max_pool2d_with_indices_backward(
        to_nchw(grad, data_format),
        nchw,
        geometry.window,
        geometry.stride,
        plan.padding,
        (1, 1),
        plan.ceil_mode,
        indices,
    )
    if plan.extra is not None:
        result = result[:, :, top : top + height, left : left + width]
    return from_nchw(result, data_format)


def _depth_max_pool_grad(window: int, data_format: bytes) -> Compute:
    axis = 1 if data_format == b"NCHW" else 3

    def compute(
        image: torch.Tensor, output: torch.Tensor, grad: torch.Tensor
    ) -> torch.Tensor:
        windows = _depth_windows(image, window, axis)
        index = windows.argmax(axis + 1, keepdim=True)
        result = torch.zeros_like(windows)
        result.scatter_(axis + 1, index, grad.unsqueeze(axis + 1))
        return result.flatten(axis, axis + 1)

    return compute


@kernel("MaxPoolGradGrad", types={"T": _FLOATS})
def max_pool_grad_grad(c: OpKernelConstruction) -> Compute:
    """What `grad` holds at the first maximum of each window."""
    geometry = decode_geometry(c)
    refuse_depth(c, "ksize", "strides")
    data_format = geometry.data_format

    def compute(
        image: torch.Tensor, output: torch.Tensor, grad: torch.Tensor
    ) -> torch.Tensor:
        check_rank(image.shape)
        if image.shape != grad.shape:
            raise invalid_argument(
                "tensor_in and out_grad_backprop must have the same shape"
            )
        if output.dim() != 4:
            raise invalid_argument("tensor_out must be 4-dimensional")
        plan = geometry.plan(nchw_shape(image.shape, data_format))
        if not image.numel() or 0 in plan.outputs:
            return no_windows(image, plan, data_format)
        indices = _indices(image, output, plan, geometry)
        nchw = to_nchw(grad, data_format)
        if plan.extra is not None:
            nchw = _constant_pad_nd(nchw, plan.extra)
        picked = nchw.flatten(2).gather(2, indices.flatten(2)).view(indices.shape)
        return from_nchw(picked, data_format)

    return compute
