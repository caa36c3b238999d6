"""Masked CRC-32C, the checksum of TensorFlow's tables, bundles and records."""

from __future__ import annotations

import functools
from typing import Any, Final

# Bytes hashed in one call: the call holds Python's lock, for 10 microseconds where
# they are in the processor's cache. So does what was just read or is copied next.
CHUNK: Final = 1 << 18

_POLYNOMIAL: Final = 0x82F63B78  # Castagnoli's, the highest power in the lowest bit


def crc32c(data: Any, crc: int = 0) -> int:
    """The checksum of bytes or of a contiguous array, going on from `crc`."""
    from google_crc32c import extend  # only files with checksums need it

    if isinstance(data, bytearray | memoryview):
        data = bytes(data)
    return extend(crc, data)  # type: ignore[no-any-return]


def combine(first: int, second: int, length: int) -> int:
    """The checksum of two byte strings together, of the checksum of each.

    Args:
      length: of the second, in bytes.
    """
    return _multiply(_power(8 * length), first) ^ second


def _multiply(a: int, b: int) -> int:
    """The product of two polynomials over GF(2), modulo Castagnoli's."""
    product = 0
    for bit in range(31, -1, -1):
        if a >> bit & 1:
            product ^= b
        b = b >> 1 ^ _POLYNOMIAL if b & 1 else b >> 1
    return product


@functools.lru_cache(256)
def _power(exponent: int) -> int:
    """x to that power, modulo Castagnoli's polynomial."""
    result, square = 1 << 31, 1 << 30  # 1 and x
    while exponent:
        if exponent & 1:
            result = _multiply(square, result)
        square = _multiply(square, square)
        exponent >>= 1
    return result


def mask(crc: int) -> int:
    """What is stored: a checksum of data that holds checksums must not be stored."""
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def masked_crc32c(data: Any) -> int:
    """The masked checksum of bytes."""
    return mask(crc32c(data))
