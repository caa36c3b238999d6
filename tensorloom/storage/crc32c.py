"""Masked CRC-32C, the checksum of TensorFlow's tables, bundles and records."""

from __future__ import annotations

from typing import Any

CHUNK = 1 << 22  # bytes hashed in one call: the call holds Python's lock


def crc32c(data: Any, crc: int = 0) -> int:
    """The checksum of bytes or of a contiguous array, going on from `crc`."""
    from google_crc32c import extend  # only files with checksums need it

    if isinstance(data, bytearray | memoryview):
        data = bytes(data)
    return extend(crc, data)  # type: ignore[no-any-return]


def crc32c_of_array(flat: Any, crc: int = 0) -> int:
    """The checksum of a flat uint8 array, in chunks that let other threads run."""
    from google_crc32c import extend

    for at in range(0, flat.size, CHUNK):
        crc = extend(crc, flat[at : at + CHUNK])
    return crc


def mask(crc: int) -> int:
    """What is stored: a checksum of data that holds checksums must not be stored."""
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def masked_crc32c(data: Any) -> int:
    """The masked checksum of bytes."""
    return mask(crc32c(data))
