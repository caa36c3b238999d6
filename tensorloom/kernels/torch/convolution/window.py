"""Layouts and padding that the convolution and pooling kernels share.

torch's image functions take NCHW shapes. An NHWC tensor that is seen through a
permutation is, without any copy, an NCHW tensor in torch's channels_last format, for
which the CPU and GPU libraries have their fastest kernels; results come out in the
same format and are permuted back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from tensorloom.framework import errors

CHANNELS_LAST = torch.channels_last


def to_nchw(value: torch.Tensor, data_format: bytes) -> torch.Tensor:
    """An image batch as NCHW, NHWC ones in channels_last format."""
    if data_format == b"NCHW":
        return value.contiguous()
    return value.permute(0, 3, 1, 2).contiguous(memory_format=CHANNELS_LAST)


def from_nchw(value: torch.Tensor, data_format: bytes) -> torch.Tensor:
    """The reverse of `to_nchw`."""
    return value if data_format == b"NCHW" else value.permute(0, 2, 3, 1)


def empty_nchw(
    shape: Sequence[int], like: torch.Tensor, data_format: bytes
) -> torch.Tensor:
    """An uninitialized NCHW tensor: backward functions ask only for its shape."""
    memory_format = torch.contiguous_format if data_format == b"NCHW" else CHANNELS_LAST
    return torch.empty(
        tuple(shape),
        dtype=like.dtype,
        device=like.device,
        memory_format=memory_format,
    )


def nchw_shape(shape: Sequence[int], data_format: bytes) -> tuple[int, ...]:
    """A 4-D shape in the order N, C, H, W."""
    if data_format == b"NCHW":
        return tuple(shape)
    return shape[0], shape[3], shape[1], shape[2]


def spatial(values: Sequence[int], data_format: bytes) -> tuple[int, int]:
    """The values for height and width, of an attr with one for each dimension."""
    if data_format == b"NCHW":
        return values[2], values[3]
    return values[1], values[2]


@dataclass(frozen=True, slots=True)
class AxisWindows:
    """Where the windows stand along one axis."""

    outputs: int  # how many windows there are, never negative
    before: int  # zeros (or nothing) in front of the axis
    after: int  # and behind it

    @property
    def is_symmetric(self) -> bool:
        """Whether torch's own padding can express it."""
        return self.before == self.after


def axis_windows(
    size: int,
    window: int,
    stride: int,
    dilation: int,
    padding: bytes,
    explicit: tuple[int, int] = (0, 0),
) -> AxisWindows:
    """The windows along an axis of `size`.

    Raises:
      errors.InvalidArgumentError: the window does not fit.
    """
    effective = (window - 1) * dilation + 1
    if padding == b"SAME":
        outputs = -(-size // stride)
        total = max((outputs - 1) * stride + effective - size, 0)
        return AxisWindows(outputs, total // 2, total - total // 2)
    before, after = explicit
    outputs = (size + before + after - effective + stride) // stride
    if outputs < 0:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Computed output size would be negative: {outputs} [input_size: {size}, "
            f"effective_filter_size: {effective}, stride: {stride}]",
        )
    return AxisWindows(outputs, before, after)


def check_spatial_only(values: Sequence[int], data_format: bytes, what: str) -> None:
    """Strides and dilations must be 1 for batch and channels.

    Raises:
      errors.InvalidArgumentError: they are not.
    """
    channels = 1 if data_format == b"NCHW" else 3
    if values[0] != 1 or values[channels] != 1:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Current implementation does not yet support {what} in the batch and "
            "depth dimensions.",
        )
