"""TensorFlow's random numbers, bit for bit: Philox 4x32-10 and its distributions.

Philox is a counter-based generator (Salmon et al., "Parallel random numbers: as easy
as 1, 2, 3", SC11): a 64-bit key and a 128-bit counter go in, four 32-bit words come
out. An op with the seeds (seed, seed2) uses seed as its key and seed2 as the upper half
of its counter, and keeps its generator from step to step. How a distribution turns
words into values, and by how much the counter moves on, follows TensorFlow's
`random_distributions.h`, `random_op.cc` and `guarded_philox_random.h`.
"""

from __future__ import annotations

import functools
import threading
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.runtime import concurrency

UInt32Array = NDArray[np.uint32]
_Words = NDArray[np.uint64] | np.uint64

_MASK32: Final = 0xFFFFFFFF
_MASK64: Final = 0xFFFFFFFFFFFFFFFF
_MASK128: Final = (1 << 128) - 1
_WEYL: Final = (0x9E3779B9, 0xBB67AE85)
_ROUNDS: Final = 10
# Blocks of this many counters stay in the cache through the ten rounds.
_BLOCK: Final = 16384
# So few blocks are made one by one: NumPy's calls would take longer.
_FEW: Final = 10
# TensorFlow reserves 256 samples for each output of the ops that fill a shape.
SAMPLES_PER_OUTPUT: Final = 256


def _scalar(value: int) -> NDArray[np.uint64]:
    """A constant as NumPy's loops take it soonest: an array without dimensions."""
    return np.array(value, np.uint64)


_FACTORS: Final = (0xD2511F53, 0xCD9E8D57)
_MULTIPLIERS: Final = (_scalar(_FACTORS[0]), _scalar(_FACTORS[1]))
_LOWER: Final = _scalar(_MASK32)
_SHIFT: Final = _scalar(32)


class Generator:
    """The state of one random op: its key and its counter.

    Both seeds 0 ask for numbers that differ from run to run, as in TensorFlow.
    """

    def __init__(self, seed: int, seed2: int) -> None:
        self.is_seeded = seed != 0 or seed2 != 0
        if not self.is_seeded:
            seed, seed2 = concurrency.randbits(64), concurrency.randbits(64)
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

    def halves(self) -> tuple[np.uint64, np.uint64, np.uint64]:
        """The key, and the first counter's lower and upper half."""
        low, high = self._start & _MASK64, self._start >> 64
        return np.uint64(self._key), np.uint64(low), np.uint64(high)

    def skip(self, counters: int) -> Stream:
        """The stream that begins `counters` blocks later."""
        return Stream(self._key, (self._start + counters) & _MASK128)

    def blocks(self, count: int) -> UInt32Array:
        """Words [count, 4]: row i holds the block i."""
        if count <= _FEW:
            return self._few(list(range(count)))
        words = np.empty((count, 4), np.uint32)
        for begin in range(0, count, _BLOCK):
            end = min(begin + _BLOCK, count)
            offsets = np.arange(begin, end, dtype=np.uint64)
            _interleave(*_philox(self._key, self._start, offsets), words[begin:end])
        return words

    def planes(self, count: int) -> UInt32Array:
        """Words [4, count]: row i holds the word i of each of the first blocks."""
        return self.planes_at(np.arange(count, dtype=np.uint64))

    def planes_at(self, offsets: NDArray[np.uint64]) -> UInt32Array:
        """Words [4, n]: row i holds the word i of the blocks so much later."""
        if len(offsets) <= _FEW:
            return self._few(offsets.tolist()).T.copy()
        words = np.empty((4, len(offsets)), np.uint32)
        for begin in range(0, len(offsets), _BLOCK):
            some = slice(begin, begin + _BLOCK)
            even, odd = _philox(self._key, self._start, offsets[some])
            words[0::2, some] = even
            words[1::2, some] = odd
        return words

    def _few(self, offsets: list[int]) -> UInt32Array:
        """Words [n, 4] of the blocks so much later."""
        blocks = [_block(self._key, self._start + offset) for offset in offsets]
        return np.array(blocks, np.uint32).reshape(-1, 4)

    def words(self, count: int) -> UInt32Array:
        """The first `count` words, one after the other."""
        return self.blocks(-(-count // 4)).reshape(-1)[:count]


def _block(key: int, counter: int) -> tuple[int, int, int, int]:
    """The four words of a counter, in 128 bits."""
    a, b = _FACTORS
    c0, c1 = counter & _MASK32, counter >> 32 & _MASK32
    c2, c3 = counter >> 64 & _MASK32, counter >> 96 & _MASK32
    k0, k1 = key & _MASK32, key >> 32 & _MASK32
    for _ in range(_ROUNDS):
        p, q = c0 * a, c2 * b
        c0, c1, c2, c3 = q >> 32 ^ c1 ^ k0, q & _MASK32, p >> 32 ^ c3 ^ k1, p & _MASK32
        k0, k1 = k0 + _WEYL[0] & _MASK32, k1 + _WEYL[1] & _MASK32
    return c0, c1, c2, c3


def unwanted_words(limit: int) -> int:
    """How many of the least words are drawn again, so that `limit` divides the rest."""
    return _MASK32 % limit + 1 if limit & (limit - 1) else 0


def words_below(stream: Stream, count: int, limit: int) -> NDArray[np.int64]:
    """`count` numbers of 0 to `limit` - 1, each from the next word that is wanted."""
    unwanted = unwanted_words(limit)
    found: NDArray[np.int64] = np.empty(0, np.int64)
    used = 0
    while len(found) < count:
        missing = -(-(count - len(found)) // 4)
        words = stream.skip(used).words(4 * missing)
        used += missing
        fresh = words[words >= unwanted].astype(np.int64) % limit
        found = np.concatenate([found, fresh])
    return found[:count]


def _interleave(
    even: NDArray[np.uint64], odd: NDArray[np.uint64], out: UInt32Array
) -> None:
    """Writes words 0 and 2 and words 1 and 3, [2, n] each, into out [n, 4]."""
    np.left_shift(odd, _SHIFT, out=odd)
    np.bitwise_or(even, odd, out=out.view("<u8").T)


def _philox(
    key: int, start: int, offsets: NDArray[np.uint64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Words 0 and 2, and 1 and 3, [2, n] each, of the counters start + offsets.

    Of the second array only the lower halves count. Words are kept in 64-bit lanes, so
    that a product's halves are one shift apart. The two words of a counter that a round
    multiplies are the rows of one array. Each row takes part in both products in turn:
    what the round xors to the upper half of a product are the other row's lower half of
    the round before, and a key.
    """
    products, earlier, words = np.empty((3, 2, len(offsets)), np.uint64)
    schedule = _schedule(key)
    first_keys, second_keys = schedule[0][2:], schedule[1][2:]
    counters = _counters(start, offsets)
    _first_rounds(counters, first_keys, second_keys, words, earlier)
    row, other = words
    # One dimension at a time: NumPy is slow to begin with broadcasting.
    for multiplier, other_multiplier, round_key, other_key in schedule[2:]:
        np.multiply(row, multiplier, out=products[0])
        np.multiply(other, other_multiplier, out=products[1])
        np.right_shift(products, _SHIFT, out=words)
        np.bitwise_xor(row, earlier[1], out=row)
        np.bitwise_xor(row, round_key, out=row)
        np.bitwise_xor(other, earlier[0], out=other)
        np.bitwise_xor(other, other_key, out=other)
        np.bitwise_and(words, _LOWER, out=words)
        products, earlier = earlier, products
    return words, earlier


def _counters(start: int, offsets: NDArray[np.uint64]) -> tuple[_Words, ...]:
    """The four words of start + offsets; one number where all counters agree."""
    low_start, high_start = start & _MASK64, start >> 64
    low = offsets + np.uint64(low_start)
    high: _Words = np.uint64(high_start)
    last = low_start + int(offsets.max(initial=0))
    if last > _MASK64:
        high = high + (low < np.uint64(low_start)).astype(np.uint64)
    upper: _Words = low >> _SHIFT
    if last >> 32 == low_start >> 32:
        upper = np.uint64(low_start >> 32)
    return low & _LOWER, upper, high & _LOWER, high >> _SHIFT


def _first_rounds(
    counters: tuple[_Words, ...],
    keys: tuple[_Words, ...],
    next_keys: tuple[_Words, ...],
    words: NDArray[np.uint64],
    products: NDArray[np.uint64],
) -> None:
    """Two rounds, which cost half where all words but the first are mere numbers.

    The results are the words [2, n] to multiply next and the last products [2, n].
    """
    c0, c1, c2, c3 = counters
    a, b = _MULTIPLIERS
    product_a, product_b = c0 * a, c2 * b
    c0 = (product_b >> _SHIFT) ^ c1 ^ keys[1]
    c2 = (product_a >> _SHIFT) ^ (c3 ^ keys[0])
    products[1] = c0 * a
    np.multiply(c2, b, out=products[0])
    words[0] = (products[0] >> _SHIFT) ^ ((product_b & _LOWER) ^ next_keys[0])
    words[1] = (product_a & _LOWER) ^ (products[1] >> _SHIFT) ^ next_keys[1]


@functools.lru_cache(64)
def _schedule(key: int) -> tuple[tuple[_Words, _Words, _Words, _Words], ...]:
    """Both rows' multipliers, then their keys, of each round; rows take turns."""
    rounds: list[tuple[_Words, _Words, _Words, _Words]] = []
    for number in range(_ROUNDS):
        first = ((key & _MASK32) + number * _WEYL[0]) & _MASK32
        second = ((key >> 32) + number * _WEYL[1]) & _MASK32
        keys = _scalar(second), _scalar(first)
        if number % 2 == 0:
            rounds.append((*_MULTIPLIERS, *keys))
        else:
            rounds.append((*_MULTIPLIERS[::-1], *keys[::-1]))
    return tuple(rounds)


def uint32_to_float(
    words: UInt32Array, out: UInt32Array | None = None
) -> NDArray[np.float32]:
    """Floats in [0, 1): the low 23 bits are the mantissa of a number in [1, 2).

    They may take the memory `out`, which may be that of the words.
    """
    bits = np.bitwise_and(words, np.uint32(0x7FFFFF), out=out)
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
