"""Resampler over torch tensors: four pixels around each point, weighted by nearness."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.math.errors import shape_text


def _check(data: torch.Tensor, points: torch.Tensor) -> None:
    if data.dim() != 4:
        raise errors.UnimplementedError(
            None,
            None,
            "Only bilinear interpolation is currently supported. The input data shape "
            "must be [batch_size, data_height, data_width, data_channels], but is: "
            f"{shape_text(data.shape)}",
        )
    if points.dim() < 2:
        raise invalid_argument(
            f"warp should be at least a matrix, got shape {shape_text(points.shape)}"
        )
    if points.shape[-1] != 2:
        raise errors.UnimplementedError(
            None,
            None,
            "Only bilinear interpolation is supported, warping coordinates must be 2D; "
            "warp shape last entry should be 2, but shape vector is: "
            f"{shape_text(points.shape)}",
        )
    if data.shape[0] != points.shape[0]:
        raise invalid_argument(
            "Batch size of data and warp tensor must be the same, but input shapes "
            f"are: {shape_text(data.shape)}, {shape_text(points.shape)}"
        )


class _Corner(NamedTuple):
    """One of the four pixels around each point, all [batch, points, 1]."""

    pixel: torch.Tensor  # its number, row by row; 0 where there is none
    exists: torch.Tensor  # 0 or 1
    near_x: torch.Tensor  # the weights of its column and of its row
    near_y: torch.Tensor
    is_right: bool
    is_low: bool


def _corners(points: torch.Tensor, height: int, width: int) -> list[_Corner]:
    """The corners of points [batch, n, 2]; a pixel outside of the image is zero."""
    x, y = points[..., :1], points[..., 1:]
    # What is not a number is nowhere.
    inside = (x > -1) & (y > -1) & (x < width) & (y < height)
    x, y = torch.where(inside, x, 0), torch.where(inside, y, 0)
    left, top = x.floor(), y.floor()
    right_share, low_share = x - left, y - top
    found = []
    for is_low in (False, True):
        for is_right in (False, True):
            column, row = left + is_right, top + is_low
            exists = inside & (column >= 0) & (column < width)
            exists = exists & (row >= 0) & (row < height)
            index = torch.where(exists, row.long() * width + column.long(), 0)
            found.append(
                _Corner(
                    index,
                    exists.to(points.dtype),
                    right_share if is_right else 1 - right_share,
                    low_share if is_low else 1 - low_share,
                    is_right,
                    is_low,
                )
            )
    return found


def _pixels(flat: torch.Tensor, corner: _Corner) -> torch.Tensor:
    """The corner's pixels [batch, points, channels] of images [batch, pixels, ...]."""
    index = corner.pixel.expand(-1, -1, flat.shape[2])
    return torch.gather(flat, 1, index) * corner.exists


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    """float32 instead of the 16-bit types."""
    return tensor.float() if tensor.element_size() == 2 else tensor


@kernel("Resampler")
def resampler(c: OpKernelConstruction) -> Compute:
    """Bilinear, with zeros outside of the image."""

    def compute(data: torch.Tensor, warp: torch.Tensor) -> torch.Tensor:
        _check(data, warp)
        batch, height, width, channels = data.shape
        shape = (*warp.shape[:-1], channels)
        if not data.numel() or not warp.numel():
            return data.new_zeros(shape)
        flat = _wide(data).reshape(batch, height * width, channels)
        result = flat.new_zeros(())
        for corner in _corners(_wide(warp).reshape(batch, -1, 2), height, width):
            result = result + _pixels(flat, corner) * (corner.near_x * corner.near_y)
        return result.to(data.dtype).reshape(shape)

    return compute


@kernel("ResamplerGrad")
def resampler_grad(c: OpKernelConstruction) -> Compute:
    """For the images, and for the points that lie in them."""

    def compute(
        data: torch.Tensor, warp: torch.Tensor, grad: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        _check(data, warp)
        expected = (*warp.shape[:-1], data.shape[3])
        if tuple(grad.shape) != expected:
            raise invalid_argument(
                "grad_output shape is not consistent with data and warp shapes; it "
                f"should be {shape_text(expected)} but is {shape_text(grad.shape)}"
            )
        if not grad.numel() or not data.numel():
            return torch.zeros_like(data), torch.zeros_like(warp)
        batch, height, width, channels = data.shape
        points = math.prod(warp.shape[1:-1])
        flat = _wide(data).reshape(batch, height * width, channels)
        given = _wide(grad).reshape(batch, points, channels)
        to_data = torch.zeros_like(flat)
        to_x, to_y = flat.new_zeros(()), flat.new_zeros(())
        for corner in _corners(_wide(warp).reshape(batch, points, 2), height, width):
            weighted = given * (corner.near_x * corner.near_y * corner.exists)
            index = corner.pixel.expand(-1, -1, channels)
            to_data.scatter_add_(1, index, weighted)
            slope = (_pixels(flat, corner) * given).sum(2, keepdim=True)
            # A pixel weighs more the nearer the point moves to it.
            to_x = to_x + slope * corner.near_y * (1 if corner.is_right else -1)
            to_y = to_y + slope * corner.near_x * (1 if corner.is_low else -1)
        to_warp = torch.cat([to_x, to_y], 2).to(warp.dtype).reshape(warp.shape)
        return to_data.to(data.dtype).reshape(data.shape), to_warp

    return compute
