"""Numbers in files: varints, and OrderedCode, whose bytes sort as the values do."""

from __future__ import annotations


def encode_varint(value: int) -> bytes:
    """An unsigned number, seven bits to a byte, the lowest first."""
    if value < 128:
        return bytes((value,))
    result = bytearray()
    while value > 127:
        result.append(value & 127 | 128)
        value >>= 7
    result.append(value)
    return bytes(result)


def decode_varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at a place, below 2**64, and where it ends.

    Raises:
      IndexError: the data ends in it, or it is too long.
    """
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
            if value >> 64:
                break
            return value, at
    raise IndexError("varint is too long")


def ordered_number(value: int) -> bytes:
    """An unsigned number: its length in bytes, then the bytes, highest first."""
    size = (value.bit_length() + 7) // 8
    return bytes((size,)) + value.to_bytes(size, "big")


def ordered_signed(value: int) -> bytes:
    """A signed number: the leading bits tell sign and length."""
    magnitude = ~value if value < 0 else value
    size = magnitude.bit_length() // 7 + 1
    header = ((1 << size) - 1) << (7 * size)
    return ((value & ((1 << 8 * size) - 1)) ^ header).to_bytes(size, "big")


def ordered_string(value: bytes) -> bytes:
    """A string with an end that sorts before every other byte."""
    escaped = value.replace(b"\xff", b"\xff\xfe").replace(b"\x00", b"\x00\xff")
    return escaped.replace(b"\xff\xfe", b"\xff\x00") + b"\x00\x01"


def decode_ordered_number(data: bytes, at: int) -> tuple[int, int]:
    """The inverse of `ordered_number`. Raises IndexError."""
    size = data[at]
    end = at + 1 + size
    if size > 8 or end > len(data):
        raise IndexError("bad ordered number")
    return int.from_bytes(data[at + 1 : end], "big"), end


def decode_ordered_signed(data: bytes, at: int) -> tuple[int, int]:
    """The inverse of `ordered_signed`. Raises IndexError."""
    first = data[at]
    flip = 0 if first & 0x80 else 0xFF
    bits = first ^ flip
    size = 8 - (bits ^ 0xFF).bit_length() if bits != 0xFF else 0
    if size == 0:  # eight ones: the length goes on in the next byte
        following = data[at + 1] ^ flip
        size = 8 if following < 0x80 else 9 if following < 0xC0 else 10
    end = at + size
    if end > len(data):
        raise IndexError("bad ordered number")
    header = ((1 << size) - 1) << (7 * size)
    if flip:
        inverted = int.from_bytes(bytes(b ^ 0xFF for b in data[at:end]), "big")
        return ~(inverted ^ header), end
    return int.from_bytes(data[at:end], "big") ^ header, end


def decode_ordered_string(data: bytes, at: int) -> tuple[bytes, int]:
    """The inverse of `ordered_string`. Raises IndexError."""
    result = bytearray()
    while True:
        byte, following = data[at], data[at + 1] if data[at] in (0, 255) else -1
        at += 1 if following < 0 else 2
        if following < 0:
            result.append(byte)
        elif (byte, following) == (0, 1):
            return bytes(result), at
        elif (byte, following) in ((0, 255), (255, 0)):
            result.append(byte)
        else:
            raise IndexError("bad ordered string")
