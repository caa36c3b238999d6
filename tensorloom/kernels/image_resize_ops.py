"""Bilinear resizing over torch tensors, with the host kernel's plan and rounding."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import torch

from tensorloom.framework import dtypes
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, kernel
from tensorloom.kernels.host import image_resize_ops as host
from tensorloom.kernels.host.allocation import check_shape

# Images that are mixed together: so many elements stay in a CPU's cache. Other devices
# take the whole batch, as each call costs more there.
_CPU_ELEMENTS = 1 << 19
_ALL_ELEMENTS = 1 << 62
# Of so many channels a pixel is gathered faster than its elements one by one.
_MANY_CHANNELS = 8
_FLOATS = frozenset([dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64])
_INTEGERS = frozenset(
    [dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.int32, dtypes.int64]
)


class _Plan(NamedTuple):
    """What `bilinear_plan` says, as tensors on the device."""

    rows_first: bool  # whether rows are mixed before columns
    rows: torch.Tensor | None  # those that are needed; None for all
    top: torch.Tensor
    bottom: torch.Tensor
    down: torch.Tensor  # how far from the top, [new height, 1]
    width: int  # elements that are gathered together: a pixel of many channels, or one
    left: torch.Tensor  # places in a row, of that width
    right: torch.Tensor
    across: torch.Tensor  # for each element


@kernel("ResizeBilinear", types={"T": _FLOATS}, host_inputs=("size",))
@kernel(
    "ResizeBilinear", types={"T": _INTEGERS}, host_inputs=("size",), devices=("CPU",)
)
def resize_bilinear(c: OpKernelConstruction) -> Compute:
    """upper left + (upper right - upper left) * x and so on, float32.

    One operation a step: `lerp` and `addcmul` round otherwise than TensorFlow. Integer
    images that lose rows are mixed in two thirds of the time by `_fewer_rows`, equal
    to TensorFlow's to the last bit but one.
    """
    align, centers = c["align_corners"], c["half_pixel_centers"]
    host.check_flags(align, centers)
    integers = c["T"].is_integer
    most = _CPU_ELEMENTS if c.device_type == "CPU" else _ALL_ELEMENTS

    @functools.lru_cache(maxsize=16)
    def plan(shape: tuple[int, ...], height: int, width: int) -> _Plan:
        rows: Any
        taps = host.bilinear_plan(shape, height, width, align, centers)
        rows, top, bottom, down, left, right, across = taps
        together = shape[3] if shape[3] >= _MANY_CHANNELS else 1
        left, right = left[::together] // together, right[::together] // together
        rows_first = integers and height < (shape[1] if rows is None else len(rows))
        if rows_first and rows is not None:
            rows, top, bottom = None, rows[top], rows[bottom]
        top, bottom, down, left, right, across = (
            torch.from_numpy(x).to(c.torch_device)
            for x in (top, bottom, down, left, right, across)
        )
        some = None if rows is None else torch.from_numpy(rows).to(c.torch_device)
        return _Plan(rows_first, some, top, bottom, down, together, left, right, across)

    def compute(images: torch.Tensor, size: object) -> torch.Tensor:
        height, width = host.check_sizes(images, size)
        batch, old_height, old_width, channels = images.shape
        result_shape = (batch, height, width, channels)
        check_shape(result_shape, dtypes.float32, c.device)
        if (height, width) == (old_height, old_width):
            return images.to(torch.float32, copy=True)
        taps = plan((1, old_height, old_width, channels), height, width)
        flat = images.reshape(batch, old_height, old_width * channels)
        larger = max(height, old_height) * max(width, old_width) * channels
        together = max(1, most // larger)
        if batch <= together:
            return _mix(flat, taps).view(result_shape)
        result = flat.new_empty(result_shape, dtype=torch.float32)
        for i in range(0, batch, together):
            part = slice(i, i + together)
            result[part] = _mix(flat[part], taps).view(-1, *result_shape[1:])
        return result

    return compute


def _mix(images: torch.Tensor, plan: _Plan) -> torch.Tensor:
    """[batch, height, width * channels] of images of that layout."""
    if plan.rows_first:
        return _fewer_rows(images, plan)
    if plan.rows is not None:
        images = images.index_select(1, plan.rows)
    images = images.to(torch.float32)
    # Of a matrix: a gather from three dimensions takes three times as long.
    matrix = images.flatten(0, 1)
    start, wide = (_columns(matrix, at, plan.width) for at in (plan.left, plan.right))
    wide.sub_(start).mul_(plan.across).add_(start)
    wide = wide.view(*images.shape[:2], len(plan.across))
    upper, mixed = wide.index_select(1, plan.top), wide.index_select(1, plan.bottom)
    return mixed.sub_(upper).mul_(plan.down).add_(upper)


def _fewer_rows(images: torch.Tensor, plan: _Plan) -> torch.Tensor:
    """As `_mix`, of finite images: fewer elements are gathered one by one."""
    upper = images.index_select(1, plan.top).to(torch.float32)
    upper.lerp_(images.index_select(1, plan.bottom).to(torch.float32), plan.down)
    matrix = upper.flatten(0, 1)
    mixed = _columns(matrix, plan.left, plan.width)
    mixed.lerp_(_columns(matrix, plan.right, plan.width), plan.across)
    return mixed.view(*upper.shape[:2], len(plan.across))


def _columns(matrix: torch.Tensor, indices: torch.Tensor, width: int) -> torch.Tensor:
    """The groups of `width` columns at some indices.

    `index_select` has one thread on a CPU. There it is 1.2 times as fast as `gather`,
    which divides the work.
    """
    if width > 1:
        parts = matrix.view(len(matrix), matrix.shape[1] // width, width)
        return parts.index_select(1, indices).flatten(1)
    if matrix.is_cpu and torch.get_num_threads() > 1:
        return matrix.gather(1, indices.expand(len(matrix), len(indices)))
    return matrix.index_select(1, indices)
