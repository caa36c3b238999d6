"""Hashes of many strings: those of one length together, as columns of words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tensorloom.kernels.host import string_hashes

# Fewer strings than that of one length are hashed one by one.
_FEW: Final = 16


def _words(texts: Any, at: int, dtype: str = "<u8") -> Any:
    """The little-endian words at a position of each row of bytes, as uint64."""
    width = np.dtype(dtype).itemsize
    columns = np.ascontiguousarray(texts[:, at : at + width])
    return columns.view(dtype)[:, 0].astype(np.uint64)


def _fingerprints(texts: Any, size: int) -> Any:
    """`string_hashes.fingerprint64` of the rows of a matrix of at most 64 columns."""
    if size > 32:
        places = [*range(0, 32, 8), *range(size - 32, size, 8)]
        return string_hashes.mix_64([_words(texts, at) for at in places], size)
    if size > 16:
        places = [0, 8, size - 16, size - 8]
        return string_hashes.mix_32([_words(texts, at) for at in places], size)
    if size >= 8:
        first, last = _words(texts, 0), _words(texts, size - 8)
        return string_hashes.mix_16(first, last, size)
    if size >= 4:
        first, last = _words(texts, 0, "<u4"), _words(texts, size - 4, "<u4")
        return string_hashes.mix_8(first, last, size)
    first, middle, last = (_words(texts, at, "u1") for at in (0, size >> 1, size - 1))
    return string_hashes.mix_3(first, middle, last, size)


def _hashes64(texts: Any, size: int) -> Any:
    """`string_hashes.hash64` of the rows of a matrix."""
    whole = size // 8 * 8
    words = [_words(texts, at) for at in range(0, whole, 8)]
    rest = None
    if size > whole:
        padded = np.zeros((len(texts), 8), np.uint8)
        padded[:, : size - whole] = texts[:, whole:]
        rest = _words(padded, 0)
    seed = np.full(len(texts), string_hashes.HASH64_SEED, np.uint64)
    return string_hashes.murmur(seed, words, rest, size)


def fingerprints64(texts: list[bytes]) -> Any:
    """FarmHash's Fingerprint64 of each, uint64."""
    return _by_length(texts, string_hashes.fingerprint64, _fingerprints, 64)


def hashes64(texts: list[bytes]) -> Any:
    """TensorFlow's Hash64 of each, uint64."""
    return _by_length(texts, string_hashes.hash64, _hashes64, 256)


def _by_length(
    texts: list[bytes],
    one: Callable[[bytes], int],
    many: Callable[[Any, int], Any],
    longest: int,
) -> Any:
    """`one` of each text, by way of `many` for matrices [texts, length]."""
    found = np.empty(len(texts), np.uint64)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    for size in np.unique(lengths).tolist():
        places = np.flatnonzero(lengths == size)
        chosen = [texts[i] for i in places.tolist()]
        if 0 < size <= longest and len(chosen) >= _FEW:
            matrix = np.frombuffer(b"".join(chosen), np.uint8).reshape(-1, size)
            found[places] = many(matrix, size)
        else:
            found[places] = [one(text) for text in chosen]
    return found
