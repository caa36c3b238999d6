"""Numbers as protobuf writes them: seven bits a byte, the lowest first."""

from __future__ import annotations

from typing import Final

_MASK: Final = 0xFFFFFFFFFFFFFFFF


def encode(number: int) -> bytes:
    """A number below 2^64; a negative one as its two's complement."""
    number &= _MASK
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def decode(content: bytes, position: int) -> tuple[int, int]:
    """(the number, the position behind it).

    Raises:
      ValueError: there is no whole number.
    """
    value = shift = 0
    while True:
        if position >= len(content) or shift > 63:
            raise ValueError("the bytes end in a number")
        byte = content[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & _MASK, position
        shift += 7
