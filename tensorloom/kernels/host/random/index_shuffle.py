"""The place of an index in a shuffled sequence, without the sequence.

A Simon block cipher (Beaulieu and others, 2013, https://eprint.iacr.org/2013/404) of
few rounds permutes blocks of at least 16 bits; what leaves the range is encrypted again
(Black and Rogaway, 2002). Constants and block sizes are those of TensorFlow's
`random_index_shuffle.cc`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.math.errors import shape_text

_Array = NDArray[Any]
_LEAST_BLOCK: Final = 16
_CONSTANT: Final = 0xFFFFFFFC
_SEQUENCE: Final = 0x7369F885192C0EF5


class _Cipher:
    """Simon with words of any number of bits, on arrays of uint64."""

    def __init__(self, bits: int, key: tuple[int, ...], rounds: int) -> None:
        self._bits = np.uint64(bits)
        self._mask = np.uint64((1 << bits) - 1)
        self._keys = [np.uint64(k) for k in _round_keys(bits, key, rounds)]

    def encrypt(self, blocks: _Array) -> _Array:
        """Blocks of two words, encrypted."""
        left, right = (blocks >> self._bits) & self._mask, blocks & self._mask
        for first, second in zip(self._keys[::2], self._keys[1::2], strict=True):
            left = left ^ self._mixed(right) ^ first
            right = right ^ self._mixed(left) ^ second
        return (left << self._bits) | right

    def _mixed(self, word: _Array) -> _Array:
        return self._turned(word, 1) & self._turned(word, 8) ^ self._turned(word, 2)

    def _turned(self, word: _Array, by: int) -> _Array:
        low = word >> (self._bits - np.uint64(by))
        return ((word << np.uint64(by)) | low) & self._mask


def _round_keys(bits: int, key: tuple[int, ...], rounds: int) -> list[int]:
    mask = (1 << bits) - 1

    def turned(word: int, by: int) -> int:
        return (word >> by | word << (bits - by)) & mask

    keys = [word & mask for word in key[:rounds]]
    sequence = _SEQUENCE & mask
    for i in range(3, rounds):
        last = turned(keys[i - 1], 3) ^ turned(keys[i - 1], 4)
        keys.append(_CONSTANT & mask ^ sequence & 1 ^ keys[i - 3] ^ last)
        sequence >>= 1
    return keys


def _shuffled(index: _Array, key: tuple[int, ...], most: int, rounds: int) -> _Array:
    """The places of indices of at most `most`."""
    if not most:
        return np.zeros_like(index)
    size = math.ceil(math.log2(most))
    if size <= _LEAST_BLOCK:
        return _walked(index, _table(key, rounds), most)
    cipher = _Cipher((size + size % 2) // 2, key, rounds)
    places = cipher.encrypt(index)
    while (outside := places > most).any():
        places[outside] = cipher.encrypt(places[outside])
    return places


# For the smallest blocks it may take thousands of steps to come back into the range.
@lru_cache(maxsize=8)
def _table(key: tuple[int, ...], rounds: int) -> list[int]:
    """Where the cipher takes each of the smallest blocks."""
    cipher = _Cipher(_LEAST_BLOCK // 2, key, rounds)
    blocks = cipher.encrypt(np.arange(1 << _LEAST_BLOCK, dtype=np.uint64))
    table: list[int] = blocks.tolist()
    return table


def _walked(index: _Array, table: list[int], most: int) -> _Array:
    places = []
    for block in (index & np.uint64(len(table) - 1)).tolist():
        place = table[block]
        while place > most:
            place = table[place]
        places.append(place)
    return np.array(places, np.uint64)


@host_kernel("RandomIndexShuffle", large=True)
def random_index_shuffle(c: OpKernelConstruction) -> Compute:
    """Places of indices; each input is one for all, or has a row for each."""
    dtype, rounds = c["dtype"].as_numpy_dtype, c["rounds"]
    # Others are not checked by TensorFlow, which then reads keys that are not there.
    if rounds < 2 or rounds % 2:
        raise invalid_argument(f"rounds must be even and at least 2, got {rounds}")

    def compute(index: Any, seed: Any, most: Any) -> Any:
        index, seed, most = np.asarray(index), np.asarray(seed), np.asarray(most)
        counts = _check(index, seed, most)
        keys = (seed.astype(np.int64) & 0xFFFFFFFF).reshape(-1, 3)
        index, limits = index.astype(np.uint64), most.astype(np.uint64)
        if len(keys) == 1 and limits.size == 1:
            key = tuple(keys[0].tolist())
            result = _shuffled(index.reshape(-1), key, int(limits.item()), rounds)
        else:
            count = max(counts)
            rows = zip(
                np.broadcast_to(index, count),
                map(tuple, np.broadcast_to(keys, (count, 3)).tolist()),
                np.broadcast_to(limits, count).tolist(),
                strict=True,
            )
            places = [_shuffled(np.array([i]), k, m, rounds)[0] for i, k, m in rows]
            result = np.array(places, np.uint64)
        return result.astype(dtype).reshape(counts[:1])

    return compute


def _check(index: _Array, seed: _Array, most: _Array) -> list[int]:
    """The rows that inputs have, of those that do; all alike."""
    if seed.ndim not in (1, 2) or seed.shape[-1] != 3:
        raise invalid_argument(
            f"Seed must have shape [3] or [n, 3] but got {shape_text(seed.shape)}."
        )
    if index.ndim > 1 or most.ndim > 1 or not index.size:
        raise invalid_argument("index and max_index must be scalars or vectors")
    counts = [n for shape in (index.shape, seed.shape[:-1], most.shape) for n in shape]
    if len(set(counts)) > 1:
        raise invalid_argument(f"The inputs have different numbers of rows: {counts}")
    if (most < 0).any() or (index < 0).any() or (index > most).any():
        raise invalid_argument("index must be in [0, max_index]")
    return counts
