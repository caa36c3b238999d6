"""Sizes of sliding windows: shape arithmetic that convolution and pooling share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext


def window_output_size(
    c: InferenceContext,
    size: int | None,
    window: int | None,
    stride: int,
    padding: bytes,
    *,
    dilation: int = 1,
    pad_before: int = 0,
    pad_after: int = 0,
) -> int | None:
    """Number of positions of a window along one dimension, None when not known.

    Fails for strides and dilations that are not positive, and for a window that does
    not fit.
    """
    if stride <= 0:
        c.fail(f"Stride must be > 0, but got {stride}")
    if dilation < 1:
        c.fail(f"Dilation rate must be >= 1, but got {dilation}")
    if padding == b"SAME":
        return None if size is None else -(-size // stride)
    if size is None or window is None:
        return None
    padded = size + pad_before + pad_after
    effective = (window - 1) * dilation + 1
    if padded < effective:
        c.fail(
            f"Negative dimension size caused by subtracting {effective} from {padded}"
        )
    return (padded - effective + stride) // stride


def spatial_axes(data_format: bytes) -> tuple[int, int, int]:
    """Indices of (height, width, channels) in a 4-D shape of this format."""
    return (2, 3, 1) if data_format == b"NCHW" else (1, 2, 3)


def sequence_of(value: Any, count: int, channel_index: int, name: str) -> list[int]:
    """Window sizes or strides in full form, with ones for batch and channels.

    Args:
      value: one number, one for each of `count` spatial dimensions, or all of them.
      channel_index: where the channels are, 1 or the last.
      name: of the argument, for the error message.

    Raises:
      ValueError: another number of values.
    """
    if value is None:
        value = [1]
    elif not hasattr(value, "__len__"):
        value = [value]
    given = len(value)
    if given == count + 2:
        return value  # type: ignore[no-any-return]
    if given == 1:
        spatial = [value[0]] * count
    elif given == count:
        spatial = list(value)
    else:
        raise ValueError(
            f"{name} should be of length 1, {count} or {count + 2} but was {given}"
        )
    return [1, 1, *spatial] if channel_index == 1 else [1, *spatial, 1]


def check_list(value: Any, argument: str, builder: str) -> None:
    """Window sizes and strides of some builders must be lists.

    Raises:
      TypeError: it is not a list or tuple.
    """
    if not isinstance(value, (list, tuple)):
        raise TypeError(
            f"Expected list for '{argument}' argument to '{builder}' Op, not {value!r}."
        )


def with_channels(
    data_format: bytes,
    batch: int | None,
    spatial: Sequence[int | None],
    channels: int | None,
) -> tuple[int | None, ...]:
    """A shape in the order of the data format."""
    if data_format == b"NCHW":
        return (batch, channels, *spatial)
    return (batch, *spatial, channels)


def explicit_paddings(c: InferenceContext) -> list[int]:
    """Eight numbers, before and after each dimension; zeros unless EXPLICIT."""
    paddings: list[int] = c.attrs.get("explicit_paddings", [])
    if c.attrs["padding"] != b"EXPLICIT":
        if paddings:
            c.fail(
                "explicit_paddings attribute must be empty if the padding attribute "
                "is not EXPLICIT"
            )
        return [0] * 8
    if len(paddings) != 8:
        c.fail(
            "explicit_paddings attribute must contain 8 values, but got: "
            f"{len(paddings)}"
        )
    if min(paddings) < 0:
        c.fail("All elements of explicit_paddings must be nonnegative")
    channels = spatial_axes(c.attrs["data_format"])[2]
    if any(paddings[i] for i in (0, 1, 2 * channels, 2 * channels + 1)):
        c.fail(
            "Nonzero explicit padding in the batch or depth dimensions is not supported"
        )
    return paddings
