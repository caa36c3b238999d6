"""BMP files as TensorFlow reads them: 8, 24 or 32 bits a pixel, no palettes."""

from __future__ import annotations

import struct
from typing import Any, Final

import numpy as np

from tensorloom.framework.errors import invalid_argument

_MAX_BYTES: Final = 1 << 30


def decode_bmp(contents: bytes, channels: int) -> Any:
    """Pixels [height, width, channels] of uint8; 8 bits are taken for gray.

    Raises:
      InvalidArgumentError: the file is bad, truncated, or of other channels.
    """
    if len(contents) < 32:
        raise invalid_argument(
            "Incomplete bmp content, requires at least 32 bytes to find the header "
            f"size, width, height, and bpp, got {len(contents)} bytes"
        )
    (start,) = struct.unpack_from("<i", contents, 10)
    width, height = struct.unpack_from("<ii", contents, 18)
    (bits,) = struct.unpack_from("<H", contents, 28)
    found = bits // 8
    if channels and channels != found:
        raise invalid_argument(
            f"channels attribute {channels} does not match bits per pixel from file "
            f"{found}"
        )
    if found not in (1, 3, 4):
        raise invalid_argument(f"Number of channels must be 1, 3 or 4, was {found}")
    if width <= 0:
        raise invalid_argument("Width must be positive")
    if height == 0:
        raise invalid_argument("Height must be nonzero")
    if start < 0:
        raise invalid_argument("header size must be nonnegative")
    rows = abs(height)
    stride = (found * width + 3) // 4 * 4
    if stride * rows >= _MAX_BYTES:
        raise invalid_argument("Total possible pixel bytes must be less than 2^30")
    needed = start + stride * (rows - 1) + found * width
    if needed > len(contents):
        raise invalid_argument(
            f"Incomplete bmp content, requires at least {needed} bytes, got "
            f"{len(contents)} bytes"
        )
    return _pixels(contents, start, rows, width, found, stride, height < 0)


def _pixels(
    contents: bytes,
    start: int,
    rows: int,
    width: int,
    channels: int,
    stride: int,
    is_top_down: bool,
) -> Any:
    data = np.frombuffer(contents, np.uint8)
    image = np.lib.stride_tricks.as_strided(
        data[start:], (rows, width, channels), (stride, channels, 1), writeable=False
    )
    if not is_top_down:
        image = image[::-1]
    if channels == 1:
        return image.copy()
    order = [2, 1, 0, 3][:channels]
    return image[..., order]
