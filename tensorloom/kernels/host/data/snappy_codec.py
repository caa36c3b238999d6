"""Snappy by compiled loops, for what travels compressed."""

from __future__ import annotations

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.runtime import input_service
from tensorloom.framework.types.varint import decode_varint, encode_varint

# A copy of 64 bytes takes 3: no block can grow by more.
_MAX_GROWTH = 22


class _Codec:
    """Implements `input_service.SnappyCodec`."""

    def compress(self, data: bytes) -> bytes:
        """A block."""
        # Loaded here: it takes some tenths of a second.
        from tensorloom.kernels.loops.strings import snappy as loops

        given = np.frombuffer(data, np.uint8)
        made = np.empty(32 + len(data) + len(data) // 6, np.uint8)
        size = loops.compress(given, made, np.full(1 << 14, -1, np.int64))
        return encode_varint(len(data)) + made[:size].tobytes()

    def decompress(self, data: bytes) -> bytes:
        """The contents of a block."""
        from tensorloom.kernels.loops.strings import snappy as loops

        try:
            size, begin = decode_varint(data, 0)
        except IndexError:
            size, begin = -1, 0
        if not 0 <= size <= _MAX_GROWTH * len(data):
            raise invalid_argument("A snappy block says a size that it cannot have")
        made = np.empty(size, np.uint8)
        if not loops.decompress(np.frombuffer(data, np.uint8), begin, made):
            raise invalid_argument("A snappy block is damaged")
        return made.tobytes()


input_service.provide_snappy(_Codec())
