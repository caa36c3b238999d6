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
