"""Hashes of many strings at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tensorloom.kernels.host.strings import hashes as string_hashes
from tensorloom.kernels.host.strings.spans import Spans, kept_spans_of, spans_of

_Hashes: TypeAlias = NDArray[np.uint64]

# Fewer strings than that are hashed one by one: they are not worth loading the loops.
_FEW: Final = 20


def fingerprints64(texts: Any) -> _Hashes:
    """FarmHash's Fingerprint64 of each string of a list or an array, [n].

    It must not be changed: who hashes the same strings next may get it, too.
    """
    if len(texts) < _FEW:
        return _one_by_one(texts, string_hashes.fingerprint64)
    spans = kept_spans_of(texts)
    if spans.fingerprints is None:
        spans.fingerprints = fingerprints_at(spans)
    return spans.fingerprints


def fingerprints_at(spans: Spans) -> _Hashes:
    """FarmHash's Fingerprint64 of each word."""
    from tensorloom.kernels.loops.strings import hashes

    found = np.empty(len(spans.starts), np.uint64)
    hashes.fingerprints(spans.blob, spans.starts, spans.lengths, found)
    return found


def hashes64(texts: Any) -> _Hashes:
    """TensorFlow's Hash64 of each string of a list or an array, [n]."""
    if len(texts) < _FEW:
        return _one_by_one(texts, string_hashes.hash64)
    from tensorloom.kernels.loops.strings import hashes

    spans, seed = spans_of(texts), np.uint64(string_hashes.HASH64_SEED)
    found = np.empty(len(spans.starts), np.uint64)
    hashes.murmurs(spans.blob, spans.starts, spans.lengths, seed, found)
    return found


def siphashes(texts: Any, key: tuple[int, int]) -> _Hashes:
    """SipHash-2-4 of each string of a list or an array under two 64-bit words, [n]."""
    if len(texts) < _FEW:
        return _one_by_one(texts, lambda text: string_hashes.siphash(text, key))
    return siphashes_at(spans_of(texts), key)


def siphashes_at(spans: Spans, key: tuple[int, int]) -> _Hashes:
    """SipHash-2-4 of each word under two 64-bit words."""
    from tensorloom.kernels.loops.strings import hashes

    both = np.array([word & (1 << 64) - 1 for word in key], np.uint64)
    found = np.empty(len(spans.starts), np.uint64)
    hashes.siphashes(spans.blob, spans.starts, spans.lengths, both, found)
    return found


def _one_by_one(texts: Any, one: Callable[[bytes], int]) -> _Hashes:
    return np.array([one(text) for text in texts], np.uint64)
