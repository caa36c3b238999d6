"""Snappy decompression of one block, after the format description of its authors."""

from __future__ import annotations

from tensorloom.framework.types.varint import decode_varint

# A copy of 64 bytes takes 3: no block can grow by more.
_MAX_GROWTH = 22


def decompress(data: bytes) -> bytes:
    """The contents of a block.

    Raises:
      IndexError: the block is damaged.
    """
    size, at = decode_varint(data, 0)
    if size > _MAX_GROWTH * len(data):
        raise IndexError("snappy size is too large")
    result = bytearray()
    end = len(data)
    while at < end:
        tag = data[at]
        at += 1
        if tag & 3 == 0:
            at = _literal(data, tag >> 2, at, result)
        else:
            at = _copy(data, tag, at, result)
        if len(result) > size:
            break
    if len(result) != size:
        raise IndexError("snappy size differs")
    return bytes(result)


def _literal(data: bytes, length: int, at: int, result: bytearray) -> int:
    extra = max(0, length - 59)
    if extra:
        length = int.from_bytes(data[at : at + extra], "little")
        at += extra
    end = at + length + 1
    if end > len(data):
        raise IndexError("snappy literal past the end")
    result += data[at:end]
    return end


def _copy(data: bytes, tag: int, at: int, result: bytearray) -> int:
    width = (1, 2, 4)[(tag & 3) - 1]
    if at + width > len(data):
        raise IndexError("snappy copy past the end")
    offset = int.from_bytes(data[at : at + width], "little")
    length = (tag >> 2) + 1
    if width == 1:
        length, offset = (tag >> 2 & 7) + 4, offset | (tag >> 5) << 8
    if not 0 < offset <= len(result):
        raise IndexError("snappy copy from before the start")
    start = len(result) - offset
    piece = bytes(result[start : start + length])
    # A copy may reach into what it writes: then it repeats.
    result += (piece * (length // len(piece) + 1))[:length]
    return at + width
