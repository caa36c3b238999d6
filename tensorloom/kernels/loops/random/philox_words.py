"""The words of Philox 4x32-10, a block of four at a time.

Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.kernels.loops import loop

_FACTORS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_WORD, _BITS = np.uint64(0xFFFFFFFF), np.uint64(32)
_ROUNDS = 10
_ONE = np.uint64(1)


@loop
def block(key: Any, low: Any, high: Any, number: Any) -> Any:
    """The four words, as uint64, of the block `number` (uint64) of a stream."""
    place = low + number
    if place < low:
        high += _ONE
    c0, c1, c2, c3 = place & _WORD, place >> _BITS, high & _WORD, high >> _BITS
    k0, k1 = key & _WORD, key >> _BITS
    for _ in range(_ROUNDS):
        p, q = c0 * _FACTORS[0], c2 * _FACTORS[1]
        c0, c1 = (q >> _BITS) ^ c1 ^ k0, q & _WORD
        c2, c3 = (p >> _BITS) ^ c3 ^ k1, p & _WORD
        k0, k1 = (k0 + _WEYL[0]) & _WORD, (k1 + _WEYL[1]) & _WORD
    return c0, c1, c2, c3


@loop
def blocks(key: Any, low: Any, high: Any, start: Any, stride: Any, words: Any) -> None:
    """Fills in blocks `start`, `start + stride`, ... which a processor makes at once.

    words: uint32, [4, n]. One block alone takes five times its part of 64.
    """
    c0, c1, c2, c3 = words[0], words[1], words[2], words[3]
    for j in range(len(c0)):
        place = low + (start + np.uint64(j) * stride)
        above = high + np.uint64(place < low)
        c0[j], c1[j] = np.uint32(place & _WORD), np.uint32(place >> _BITS)
        c2[j], c3[j] = np.uint32(above & _WORD), np.uint32(above >> _BITS)
    k0, k1 = key & _WORD, key >> _BITS
    for _ in range(_ROUNDS):
        a, b = np.uint32(k0), np.uint32(k1)
        for j in range(len(c0)):
            p, q = np.uint64(c0[j]) * _FACTORS[0], np.uint64(c2[j]) * _FACTORS[1]
            x1, x3 = c1[j], c3[j]
            c0[j], c1[j] = np.uint32(q >> _BITS) ^ x1 ^ a, np.uint32(q & _WORD)
            c2[j], c3[j] = np.uint32(p >> _BITS) ^ x3 ^ b, np.uint32(p & _WORD)
        k0, k1 = (k0 + _WEYL[0]) & _WORD, (k1 + _WEYL[1]) & _WORD
