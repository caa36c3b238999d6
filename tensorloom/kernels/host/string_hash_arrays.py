"""Hashes of many strings at once: of those with as many words together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tensorloom.kernels.host import string_hashes
from tensorloom.kernels.host.stable_order import stable_order
from tensorloom.kernels.host.string_spans import Ints, Spans, spans_of, words_at

# Fewer strings than that are hashed one by one.
_FEW: Final = 16
# So are longer ones, which would be held once more as words.
_LONGEST: Final = 1 << 12
# So many at a time stay in the cache.
_MOST: Final = 8192
# How the fingerprint of a text of 0, 1, ... 65 and more bytes is mixed.
_CLASSES: Final = np.searchsorted([1, 4, 8, 17, 33, 65], range(66), "right")


class _Words:
    """The words of some texts that lie in one buffer, by their places in the texts."""

    def __init__(self, spans: Spans, which: Ints) -> None:
        self._words = words_at(spans.blob)
        self._starts, self._lengths = spans.starts[which], spans.lengths[which]
        self.size = self._lengths.astype(np.uint64)
        self.greatest = int(self._lengths.max())

    def at(self, place: int) -> Any:
        """The eight bytes from a place on, as uint64."""
        return self._words[self._starts + place]

    def from_end(self, count: int) -> Any:
        """The eight bytes that begin `count` bytes before the end."""
        return self._words[self._starts + (self._lengths - count)]

    def rest(self, place: int) -> Any:
        """The fewer than eight bytes from a place to the end."""
        bits = (self.size - np.uint64(place)) * np.uint64(8)
        return self.at(place) & ((np.uint64(1) << bits) - np.uint64(1))


def _fingerprints(words: _Words) -> Any:
    """`string_hashes.fingerprint64` of texts of one class."""
    size, at, from_end = words.size, words.at, words.from_end
    greatest = words.greatest
    if greatest > 64:
        parts = [
            [at(p + i) for i in range(0, 64, 8)] for p in range(0, greatest - 64, 64)
        ]
        parts.append([from_end(i) for i in range(64, 0, -8)])
        return string_hashes.mix_more(parts, size)
    if greatest > 32:
        ends = [from_end(i) for i in range(32, 0, -8)]
        return string_hashes.mix_64([*map(at, range(0, 32, 8)), *ends], size)
    if greatest > 16:
        return string_hashes.mix_32([at(0), at(8), from_end(16), from_end(8)], size)
    if greatest >= 8:
        return string_hashes.mix_16(at(0), from_end(8), size)
    if not greatest:
        return string_hashes.fingerprint64(b"")
    first = at(0)
    if greatest >= 4:
        last = from_end(4) & 0xFFFFFFFF
        return string_hashes.mix_8(first & 0xFFFFFFFF, last, size)
    middle, last = (first >> (n * 8) & 0xFF for n in (size >> 1, size - 1))
    return string_hashes.mix_3(first & 0xFF, middle, last, size)


def _hashes64(words: _Words) -> Any:
    """`string_hashes.hash64` of texts of as many words."""
    whole = words.greatest // 8 * 8
    rest = words.rest(whole) if words.greatest > whole else None
    inside = map(words.at, range(0, whole, 8))
    seed = string_hashes.HASH64_SEED
    return string_hashes.murmur(seed, inside, rest, words.size)


def fingerprints64(texts: list[bytes]) -> Any:
    """FarmHash's Fingerprint64 of each, uint64."""
    if len(texts) < _FEW:
        return _one_by_one(texts, string_hashes.fingerprint64)
    return fingerprints_at(spans_of(texts))


def _one_by_one(texts: list[bytes], one: Callable[[bytes], int]) -> Any:
    return np.array([one(text) for text in texts], np.uint64)


def fingerprints_at(spans: Spans) -> Any:
    """FarmHash's Fingerprint64 of each word, uint64."""

    def classes(lengths: Ints) -> Ints:
        return _CLASSES.take(lengths, mode="clip") + (lengths + 63 >> 6)

    return _by_class(spans, string_hashes.fingerprint64, _fingerprints, classes)


def hashes64(texts: list[bytes]) -> Any:
    """TensorFlow's Hash64 of each, uint64."""

    def classes(lengths: Ints) -> Ints:
        return (lengths + 7 >> 3) + (lengths >> 3)

    if len(texts) < _FEW:
        return _one_by_one(texts, string_hashes.hash64)
    return _by_class(spans_of(texts), string_hashes.hash64, _hashes64, classes)


def siphashes(texts: list[bytes], key: tuple[int, int]) -> Any:
    """SipHash-2-4 of each under two 64-bit words, uint64."""
    if len(texts) < _FEW:
        return _one_by_one(texts, lambda text: string_hashes.siphash(text, key))
    return siphashes_at(spans_of(texts), key)


def siphashes_at(spans: Spans, key: tuple[int, int]) -> Any:
    """SipHash-2-4 of each word under two 64-bit words, uint64."""

    def one(text: bytes) -> int:
        return string_hashes.siphash(text, key)

    def many(words: _Words) -> Any:
        whole = words.greatest // 8 * 8
        last = words.rest(whole) | words.size << 56
        return string_hashes.sip_words([*map(words.at, range(0, whole, 8)), last], key)

    return _by_class(spans, one, many, lambda lengths: lengths >> 3)


def _by_class(
    spans: Spans,
    one: Callable[[bytes], int],
    many: Callable[[_Words], Any],
    classes: Callable[[Ints], Ints],
) -> Any:
    """`one` of each word, by way of `many` for those of one class by their lengths."""
    count = len(spans.lengths)
    found = np.empty(count, np.uint64)
    ordered, places = stable_order(classes(spans.lengths))
    ends = [*(np.flatnonzero(np.diff(ordered)) + 1).tolist(), count]
    begin = 0
    for end in ends:
        if end - begin < _FEW or spans.lengths[places[begin]] > _LONGEST:
            for place in places[begin:end].tolist():
                found[place] = one(spans.word(place))
        else:
            for start in range(begin, end, _MOST):
                which = places[start : min(start + _MOST, end)]
                found[which] = many(_Words(spans, which))
        begin = end
    return found
