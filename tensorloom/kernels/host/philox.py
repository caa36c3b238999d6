"""TensorFlow's random numbers, bit for bit: Philox 4x32-10 and its distributions.

Philox is a counter-based generator (Salmon et al., "Parallel random numbers: as easy
as 1, 2, 3", SC11): a 64-bit key and a 128-bit counter go in, four 32-bit words come
out. An op with the seeds (seed, seed2) uses seed as its key and seed2 as the upper half
of its counter, and keeps its generator from step to step. How a distribution turns
words into values, and by how much the counter moves on, follows TensorFlow's
`random_distributions.h`, `random_op.cc` and `guarded_philox_random.h`.
"""

from __future__ import annotations

import secrets
import threading
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

UInt32Array = NDArray[np.uint32]

_MASK32: Final = 0xFFFFFFFF
_MASK64: Final = 0xFFFFFFFFFFFFFFFF
_MASK128: Final = (1 << 128) - 1
_MULTIPLIER_A: Final = 0xD2511F53
_MULTIPLIER_B: Final = 0xCD9E8D57
_WEYL_A: Final = 0x9E3779B9
_WEYL_B: Final = 0xBB67AE85
_ROUNDS: Final = 10
# Blocks of this many counters stay in the cache through the ten rounds.
_BLOCK: Final = 8192
# TensorFlow reserves 256 samples for each output of the ops that fill a shape.
SAMPLES_PER_OUTPUT: Final = 256


class Generator:
    """The state of one random op: its key and its counter.

    Both seeds 0 ask for numbers that differ from run to run, as in TensorFlow.
    """

    def __init__(self, seed: int, seed2: int) -> None:
        self.is_seeded = seed != 0 or seed2 != 0
        if not self.is_seeded:
            seed, seed2 = secrets.randbits(64), secrets.randbits(64)
        self._key = seed & _MASK64
        self._counter = (seed2 & _MASK64) << 64
        self._lock = threading.Lock()

    def reserve(self, counters: int) -> Stream:
        """Takes `counters` blocks of four words for the caller alone."""
        with self._lock:
            start = self._counter
            self._counter = (start + counters) & _MASK128
        return Stream(self._key, start)

    def reserve_outputs(self, count: int) -> Stream:
        """Takes what TensorFlow reserves to fill a tensor of `count` elements."""
        return self.reserve(count * SAMPLES_PER_OUTPUT)


class Stream:
    """A run of words from one place of the counter on; it never changes."""

    __slots__ = ("_key", "_start")

    def __init__(self, key: int, start: int) -> None:
        self._key = key
        self._start = start

    @property
    def key(self) -> int:
        """The key."""
        return self._key

    @property
    def start(self) -> int:
        """The first counter."""
        return self._start

    def skip(self, counters: int) -> Stream:
        """The stream that begins `counters` blocks later."""
        return Stream(self._key, (self._start + counters) & _MASK128)

    def blocks(self, count: int, *, stride: int = 1, depth: int = 1) -> UInt32Array:
        """Words [count, 4 * depth]: row i holds the blocks i * stride ... + depth.

        A stride above the depth leaves room for values that are drawn again.
        """
        words = np.empty((count, depth, 4), np.uint32)
        rows = max(1, _BLOCK // depth)
        for begin in range(0, count, rows):
            end = min(begin + rows, count)
            first = np.arange(begin, end, dtype=np.uint64) * np.uint64(stride)
            offsets: NDArray[np.uint64] = np.add.outer(
                first, np.arange(depth, dtype=np.uint64)
            )
            block = words[begin:end].reshape(-1, 4)
            _philox(self._key, self._start, offsets.reshape(-1), block)
        return words.reshape(count, 4 * depth)

    def blocks_at(self, offsets: NDArray[np.uint64]) -> UInt32Array:
        """Words [n, 4]: the blocks so much later than the first."""
        words = np.empty((len(offsets), 4), np.uint32)
        for begin in range(0, len(offsets), _BLOCK):
            some = slice(begin, begin + _BLOCK)
            _philox(self._key, self._start, offsets[some], words[some])
        return words

    def words(self, count: int) -> UInt32Array:
        """The first `count` words, one after the other."""
        return self.blocks(-(-count // 4)).reshape(-1)[:count]


def _philox(
    key: int, start: int, offsets: NDArray[np.uint64], out: UInt32Array
) -> None:
    """Writes the four words of the counters start + offsets into out [n, 4].

    Words are kept in 64-bit lanes, so that a product's halves are one shift apart.
    """
    low_start = start & _MASK64
    low = offsets + np.uint64(low_start)
    high = np.full_like(low, start >> 64)
    if low_start + int(offsets.max()) > _MASK64:
        high += (low < np.uint64(low_start)).astype(np.uint64)
    mask, shift = np.uint64(_MASK32), np.uint64(32)
    c0, c1 = low & mask, low >> shift
    c2, c3 = high & mask, high >> shift
    key_a, key_b = key & _MASK32, key >> 32
    for _ in range(_ROUNDS):
        c0 *= np.uint64(_MULTIPLIER_A)
        c2 *= np.uint64(_MULTIPLIER_B)
        c1 ^= np.uint64(key_a)
        c1 ^= c2 >> shift
        c3 ^= np.uint64(key_b)
        c3 ^= c0 >> shift
        c2 &= mask
        c0 &= mask
        c0, c1, c2, c3 = c1, c2, c3, c0
        key_a = (key_a + _WEYL_A) & _MASK32
        key_b = (key_b + _WEYL_B) & _MASK32
    for column, value in enumerate((c0, c1, c2, c3)):
        out[:, column] = value


def uint32_to_float(words: UInt32Array) -> NDArray[np.float32]:
    """Floats in [0, 1): the low 23 bits are the mantissa of a number in [1, 2)."""
    bits = words & np.uint32(0x7FFFFF)
    bits |= np.uint32(0x3F800000)
    values = bits.view(np.float32)
    values -= np.float32(1.0)
    return values


def words_to_double(low: UInt32Array, high: UInt32Array) -> NDArray[np.float64]:
    """Doubles in [0, 1) from pairs: `low` gives 20 upper bits, `high` 32 lower ones.

    The names follow the order in the stream: the first word is the upper half.
    """
    bits = (low & np.uint32(0xFFFFF)).astype(np.uint64) << np.uint64(32)
    bits |= high
    bits |= np.uint64(1023 << 52)
    return bits.view(np.float64) - 1.0


def words_to_half(words: UInt32Array) -> NDArray[np.float16]:
    """Halves in [0, 1) from the low ten bits of each word."""
    bits = (words & np.uint32(0x3FF)).astype(np.uint16) | np.uint16(15 << 10)
    return bits.view(np.float16) - np.float16(1.0)


def words_to_bfloat16(words: UInt32Array) -> NDArray[Any]:
    """bfloat16 values in [0, 1) from the low seven bits of each word."""
    import ml_dtypes

    bits = (words & np.uint32(0x7F)).astype(np.uint16) | np.uint16(127 << 7)
    one = np.float32(1.0)
    values: NDArray[Any] = bits.view(ml_dtypes.bfloat16).astype(np.float32) - one
    return values.astype(ml_dtypes.bfloat16)
