"""Layouts and windows of 3-D convolution and pooling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.kernels.torch.convolution.window import AxisWindows, axis_windows

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import OpKernelConstruction

Shape = tuple[int, ...]
# What a dtype is computed in on a CPU where torch has no kernel of its own.
WIDER = {torch.float16: torch.float32, torch.bfloat16: torch.float32}


def to_ncdhw(value: torch.Tensor, data_format: bytes) -> torch.Tensor:
    """Volumes as NCDHW, NDHWC ones without a copy."""
    if data_format == b"NCDHW":
        return value
    return value.permute(0, 4, 1, 2, 3)


def from_ncdhw(value: torch.Tensor, data_format: bytes) -> torch.Tensor:
    """The reverse of `to_ncdhw`."""
    return value if data_format == b"NCDHW" else value.permute(0, 2, 3, 4, 1)


def ncdhw_shape(shape: Sequence[int], data_format: bytes) -> Shape:
    """A 5-D shape in the order N, C, D, H, W."""
    if data_format == b"NCDHW":
        return tuple(shape)
    return (shape[0], shape[4], *shape[1:4])


def spatial3(values: Sequence[int], data_format: bytes) -> tuple[int, int, int]:
    """The values for depth, height and width."""
    a, b, c = values[2:5] if data_format == b"NCDHW" else values[1:4]
    return a, b, c


def check_spatial_only(values: Sequence[int], data_format: bytes, what: str) -> None:
    """Raises InvalidArgumentError unless batch and channels have 1 and all are > 0."""
    if min(values) <= 0:
        raise invalid_argument(
            f"Sliding window {what} must be positive, got {list(values)}"
        )
    channels = 1 if data_format == b"NCDHW" else 4
    if values[0] != 1 or values[channels] != 1:
        raise invalid_argument(
            f"Current implementation does not yet support {what} in the batch and "
            "depth dimensions."
        )


@dataclass(frozen=True, slots=True)
class Windows3:
    """Where the windows stand along the three axes."""

    axes: tuple[AxisWindows, AxisWindows, AxisWindows]

    @property
    def outputs(self) -> Shape:
        """Number of windows along each axis."""
        return tuple(axis.outputs for axis in self.axes)

    @property
    def before(self) -> Shape:
        """Padding in front of each axis."""
        return tuple(axis.before for axis in self.axes)

    @property
    def is_symmetric(self) -> bool:
        """Whether both sides of each axis are padded alike."""
        return all(axis.is_symmetric for axis in self.axes)

    @property
    def pads(self) -> list[int]:
        """As torch's pad functions want it: from the last axis to the first."""
        return [n for axis in reversed(self.axes) for n in (axis.before, axis.after)]

    def cut(self, padded: torch.Tensor, shape: Shape) -> torch.Tensor:
        """The part of a padded NCDHW tensor that is not padding."""
        for i, (axis, size) in enumerate(zip(self.axes, shape[2:], strict=True)):
            padded = padded.narrow(2 + i, axis.before, size)
        return padded

    def padded_shape(self, shape: Shape) -> Shape:
        """An NCDHW shape with its padding."""
        sizes = zip(self.axes, shape[2:], strict=True)
        return (*shape[:2], *(a.before + size + a.after for a, size in sizes))


def windows3(
    shape: Shape,
    window: Shape,
    stride: Shape,
    dilation: Shape,
    padding: bytes,
) -> Windows3:
    """The windows over an NCDHW shape. Raises InvalidArgumentError: none fits."""
    a, b, c = (
        axis_windows(shape[2 + i], window[i], stride[i], dilation[i], padding)
        for i in range(3)
    )
    return Windows3((a, b, c))


@dataclass(frozen=True, slots=True)
class PoolGeometry:
    """The attrs of a 3-D pooling node, decoded."""

    data_format: bytes
    window: Shape
    stride: Shape
    padding: bytes

    def windows(self, shape: Shape) -> Windows3:
        """The windows over an NCDHW shape."""
        return windows3(shape, self.window, self.stride, (1, 1, 1), self.padding)


def decode_pool(c: OpKernelConstruction) -> PoolGeometry:
    """The windows of a pooling node.

    Raises:
      errors.InvalidArgumentError: sizes or strides that are not positive, or not five.
      errors.UnimplementedError: windows over batch or channels.
    """
    data_format = c["data_format"]
    channels = 1 if data_format == b"NCDHW" else 4
    for attr, word in (("ksize", "ksize"), ("strides", "stride")):
        values = c[attr]
        if len(values) != 5:
            raise invalid_argument(
                f"Sliding window {word} field must specify 5 dimensions"
            )
        if values[0] != 1:
            raise errors.UnimplementedError(
                None, None, "Pooling is not yet supported on the batch dimension."
            )
        if min(values) <= 0:
            raise invalid_argument(
                f"Sliding window {word} must be positive, got {values}"
            )
        if values[channels] != 1:
            raise errors.UnimplementedError(
                None, None, "Pooling is not yet supported on the depth dimension."
            )
    return PoolGeometry(
        data_format,
        spatial3(c["ksize"], data_format),
        spatial3(c["strides"], data_format),
        c["padding"],
    )
