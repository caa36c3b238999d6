"""Sizes, paddings and layouts of windows, as the layers' arguments name them."""

from __future__ import annotations

from typing import Any

_FORMATS = {
    "channels_last": {3: "NWC", 4: "NHWC", 5: "NDHWC"},
    "channels_first": {3: "NCW", 4: "NCHW", 5: "NCDHW"},
}


def op_data_format(data_format: str, rank: int) -> str:
    """`channels_last` for tensors of rank 4 is what the ops call NHWC.

    Raises:
      ValueError: an unknown format, or a rank that has none.
    """
    if data_format not in _FORMATS:
        raise ValueError("Invalid data_format:", data_format)
    if rank not in _FORMATS[data_format]:
        raise ValueError("Input rank not supported:", rank)
    return _FORMATS[data_format][rank]


def normalize_tuple(value: Any, count: int, name: str) -> tuple[Any, ...]:
    """`count` integers: one for each dimension, or one for all.

    Raises:
      ValueError: another number, or no integers.
    """
    if isinstance(value, int):
        return (value,) * count
    message = (
        f"The `{name}` argument must be a tuple of {count} integers. Received: {value}"
    )
    try:
        values = tuple(value)
    except TypeError:
        raise ValueError(message) from None
    if len(values) != count:
        raise ValueError(message)
    for one in values:
        try:
            int(one)
        except (ValueError, TypeError):
            raise ValueError(
                f"{message} including element {one} of type {type(one)}"
            ) from None
    return values


def normalize_data_format(value: str | None) -> str:
    """`channels_last` (the default) or `channels_first`.

    Raises:
      ValueError: another format.
    """
    if value is None:
        return "channels_last"
    lower = value.lower()
    if lower not in _FORMATS:
        raise ValueError(
            'The `data_format` argument must be one of "channels_first", '
            f'"channels_last". Received: {value}'
        )
    return lower


def normalize_padding(value: Any) -> Any:
    """`valid`, `same` or `causal`; a list of paddings as it is.

    Raises:
      ValueError: another padding.
    """
    if isinstance(value, (list, tuple)):
        return value
    padding = value.lower()
    if padding not in ("valid", "same", "causal"):
        raise ValueError(
            'The `padding` argument must be a list/tuple or one of "valid", "same" (or '
            f'"causal", only for `Conv1D). Received: {padding}'
        )
    return padding


def conv_output_length(
    length: int | None, window: int, padding: str, stride: int, dilation: int = 1
) -> int | None:
    """Number of windows along an axis; None for an unknown length."""
    if length is None:
        return None
    spread = window + (window - 1) * (dilation - 1)
    if padding == "valid":
        length = length - spread + 1
    elif padding == "full":
        length = length + spread - 1
    return (length + stride - 1) // stride


def deconv_output_length(
    length: Any,
    window: int,
    padding: str,
    output_padding: int | None = None,
    stride: int = 0,
    dilation: int = 1,
) -> Any:
    """Length (an int or a tensor) of what windows spread out to; None for None."""
    if length is None:
        return None
    window = window + (window - 1) * (dilation - 1)
    if output_padding is None:
        if padding == "valid":
            return length * stride + max(window - stride, 0)
        if padding == "full":
            return length * stride - (stride + window - 2)
        return length * stride
    pad = {"same": window // 2, "valid": 0, "full": window - 1}[padding]
    return (length - 1) * stride + window - 2 * pad + output_padding
