"""OrderedCode: numbers and strings as bytes that sort as the values do."""

from __future__ import annotations


def number(value: int) -> bytes:
    """An unsigned number: its length in bytes, then the bytes, highest first."""
    size = (value.bit_length() + 7) // 8
    return bytes((size,)) + value.to_bytes(size, "big")


def signed(value: int) -> bytes:
    """A signed number: the leading bits tell sign and length."""
    magnitude = ~value if value < 0 else value
    size = magnitude.bit_length() // 7 + 1
    header = ((1 << size) - 1) << (7 * size)
    return ((value & ((1 << 8 * size) - 1)) ^ header).to_bytes(size, "big")


def string(value: bytes) -> bytes:
    """A string with an end that sorts before every other byte."""
    parts = [part.replace(b"\xff", b"\xff\x00") for part in value.split(b"\x00")]
    return b"\x00\xff".join(parts) + b"\x00\x01"
