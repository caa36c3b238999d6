"""PNG files with 16 bits a sample, which Pillow reads and writes in gray only."""

from __future__ import annotations

import struct
import zlib
from typing import Any, Final

import numpy as np

from tensorloom.framework.errors import invalid_argument

SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
# Samples of a pixel by PNG's colour type, and back.
_SAMPLES: Final = {0: 1, 2: 3, 4: 2, 6: 4}
_COLOR_TYPES: Final = {samples: kind for kind, samples in _SAMPLES.items()}
# Deflate cannot do better than 1032 to 1.
_BEST_RATIO: Final = 1032


def png_header(contents: bytes) -> tuple[int, int, int, int, int] | None:
    """(width, height, bits, colour type, interlacing), None if there is none."""
    if len(contents) < 33 or contents[12:16] != b"IHDR":
        return None
    width, height, bits, color, _, _, interlaced = struct.unpack(
        ">IIBBBBB", contents[16:29]
    )
    return width, height, bits, color, interlaced


def check_png_size(contents: bytes) -> None:
    """Refuses sizes beyond TensorFlow's, or that the file cannot hold.

    Raises:
      InvalidArgumentError: there is no header, or the image is too large.
    """
    header = png_header(contents)
    if header is None:
        raise invalid_argument(f"Invalid PNG header, data size {len(contents)}")
    width, height, bits, color, _ = header
    if (
        not 0 < width <= 1 << 27
        or not 0 < height <= 1 << 27
        or (width * height * 4 >= 1 << 29)
    ):
        raise invalid_argument(f"PNG size too large for int: {width} by {height}")
    row = (width * bits * _SAMPLES.get(color, 1) + 7) // 8
    if row * height > _BEST_RATIO * len(contents):
        raise invalid_argument(f"Invalid PNG data, size {len(contents)}")


def decode_png16(contents: bytes) -> Any:
    """uint16 [height, width, samples] of a file that is not interlaced.

    Raises:
      InvalidArgumentError: the file is bad or truncated.
    """
    header = png_header(contents)
    assert header is not None
    width, height, _, color, _ = header
    samples = _SAMPLES.get(color)
    if samples is None:
        raise invalid_argument(f"Invalid PNG header, data size {len(contents)}")
    stride = width * samples * 2
    inflated = zlib.decompressobj()
    try:
        raw = inflated.decompress(_data(contents), height * (stride + 1))
    except zlib.error:
        raw = b""
    if len(raw) != height * (stride + 1):
        raise invalid_argument(f"Invalid PNG data, size {len(contents)}")
    rows = np.frombuffer(raw, np.uint8).reshape(height, stride + 1)
    pixels = _unfiltered(rows[:, 0], rows[:, 1:], 2 * samples)
    return pixels.view(">u2").astype(np.uint16).reshape(height, width, samples)


def _data(contents: bytes) -> bytes:
    """The compressed data of all IDAT chunks, whose checksums must be right."""
    parts, at = [], len(SIGNATURE)
    while at + 12 <= len(contents):
        size = int.from_bytes(contents[at : at + 4], "big")
        kind = contents[at + 4 : at + 8]
        body = contents[at + 8 : at + 8 + size]
        if kind == b"IDAT":
            if zlib.crc32(kind + body) != int.from_bytes(
                contents[at + 8 + size : at + 12 + size], "big"
            ):
                raise invalid_argument(f"Invalid PNG data, size {len(contents)}")
            parts.append(body)
        elif kind == b"IEND":
            break
        at += size + 12
    return b"".join(parts)


def _unfiltered(filters: Any, rows: Any, pixel: int) -> Any:
    """Undoes PNG's row filters; `pixel` bytes are one pixel.

    Each byte depends on its left, upper and upper left neighbours. Where a filter looks
    to one side only, whole rows are summed up; otherwise the image is swept in
    diagonals, whose pixels do not depend on each other.
    """
    if (filters > 4).any():
        raise invalid_argument("Invalid PNG data: unknown filter")
    height, stride = rows.shape
    width = stride // pixel
    values = rows.reshape(height, width, pixel)
    if (filters <= 2).all():
        return _unfiltered_rows(filters, values).reshape(height, stride)
    # One row and one column of zeros before the image.
    result = np.zeros((height + 1, width + 1, pixel), np.int16)
    kinds = filters.astype(np.int16)
    for diagonal in range(height + width - 1):
        first = max(0, diagonal - width + 1)
        y = np.arange(first, min(height, diagonal + 1))
        x = diagonal - y
        left, up, corner = result[y + 1, x], result[y, x + 1], result[y, x]
        guess = _predicted(kinds[y][:, None], left, up, corner)
        result[y + 1, x + 1] = (values[y, x] + guess) & 255
    return result[1:, 1:].astype(np.uint8).reshape(height, stride)


def _unfiltered_rows(filters: Any, values: Any) -> Any:
    result = np.empty_like(values)
    above: Any = np.uint8(0)
    for y, kind in enumerate(filters.tolist()):
        row = values[y]
        if kind == 1:
            row = np.cumsum(row, axis=0, dtype=np.uint8)
        elif kind == 2:
            row = row + above
        result[y] = above = row
    return result


def _predicted(kinds: Any, left: Any, up: Any, corner: Any) -> Any:
    """What each filter expects: nothing, left, up, their mean, or Paeth's choice."""
    by_left = np.abs(up - corner)
    by_up = np.abs(left - corner)
    by_corner = np.abs(left + up - 2 * corner)
    paeth = np.where(
        (by_left <= by_up) & (by_left <= by_corner),
        left,
        np.where(by_up <= by_corner, up, corner),
    )
    return np.select(
        [kinds == 0, kinds == 1, kinds == 2, kinds == 3],
        [0, left, up, (left + up) >> 1],
        paeth,
    )


def encode_png16(image: Any, level: int) -> bytes:
    """A PNG file of uint16 [height, width, 1 to 4]."""
    height, width, samples = image.shape
    big = np.ascontiguousarray(image, ">u2").reshape(height, width * samples)
    rows = np.zeros((height, 1 + 2 * width * samples), np.uint8)
    rows[:, 1:] = big.view(np.uint8)
    header = struct.pack(">IIBBBBB", width, height, 16, _COLOR_TYPES[samples], 0, 0, 0)
    return SIGNATURE + b"".join(
        _chunk(kind, body)
        for kind, body in (
            (b"IHDR", header),
            (b"IDAT", zlib.compress(rows.tobytes(), level)),
            (b"IEND", b""),
        )
    )


def _chunk(kind: bytes, body: bytes) -> bytes:
    checksum = zlib.crc32(kind + body)
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", checksum)
