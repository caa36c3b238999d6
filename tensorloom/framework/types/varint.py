"""Numbers as protobuf and TensorFlow's files have them: seven bits to a byte, the
lowest first.
"""

from __future__ import annotations

from typing import Final

_MASK: Final = 0xFFFFFFFFFFFFFFFF


class VarintError(IndexError, ValueError):
    """There is no whole number.

    Readers of files take any IndexError for damage, those of messages any ValueError.
    """


def encode_varint(number: int) -> bytes:
    """A number below 2^64; a negative one as its two's complement."""
    if not number >> 7:
        return number.to_bytes()
    if number < 0:
        number &= _MASK
    result = bytearray()
    while number > 127:
        result.append(number & 127 | 128)
        number >>= 7
    result.append(number)
    return bytes(result)


def decode_varint(data: bytes, at: int) -> tuple[int, int]:
    """(the number at a place, where it ends). Bits above the 64th are dropped.

    Raises:
      VarintError: the data ends in it, or it has more than ten bytes.
    """
    try:
        byte = data[at]
        at += 1
        if byte < 128:
            return byte, at
        value = byte & 127
        for shift in range(7, 70, 7):
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value & _MASK, at
    except IndexError:
        raise VarintError("the bytes end in a number") from None
    raise VarintError("a number has more than ten bytes")
