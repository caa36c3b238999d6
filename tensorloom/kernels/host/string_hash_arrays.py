"""Hashes of many strings at once, word by word of all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tensorloom.kernels.host import string_hashes
from tensorloom.kernels.host.stable_order import stable_order
from tensorloom.kernels.host.string_spans import (
    Ints,
    Spans,
    blocks_at,
    spans_of,
    words_at,
)

_Hashes: TypeAlias = NDArray[np.uint64]

# Fewer strings than that are hashed one by one.
_FEW: Final = 20
# So many at a time stay in the cache.
_MOST: Final = 16384
# What of a word is left of which so many bytes count.
_MASKS: Final = np.array([(1 << 8 * n) - 1 for n in range(8)], np.uint64)
# How the fingerprint of a text of 0, 1, ... 65 and more bytes is mixed.
_KINDS: Final = np.searchsorted([1, 4, 8, 17, 33, 65], range(66), "right")


class _Words:
    """The words of some texts that lie in one buffer, by their places in the texts."""

    def __init__(self, spans: Spans, which: Ints) -> None:
        self._blob, self._words = spans.blob, words_at(spans.blob)
        self._starts, self.lengths = spans.starts[which], spans.lengths[which]
        self.size = self.lengths.astype(np.uint64)

    def at(self, place: int, count: int | None = None) -> Any:
        """The eight bytes from a place on, of the first `count` texts, as uint64."""
        return self._words[self._starts[:count] + place]

    def from_end(self, count: int) -> Any:
        """The eight bytes that begin `count` bytes before the end."""
        return self._words[self._starts + (self.lengths - count)]

    def block(self, place: Ints | int, count: int | None = None) -> Any:
        """The eight words [8, count] of the 64 bytes from a place on."""
        found = blocks_at(self._blob)[self._starts[:count] + place]
        return found.view("<u8").reshape(-1, 8).T.copy()

    def rest(self) -> Any:
        """The fewer than eight bytes behind the last whole word."""
        last = self._words[self._starts + (self.lengths & ~7)]
        last &= _MASKS.take(self.lengths & 7)
        return last


# --- FarmHash -----------------------------------------------------------------------


def fingerprints64(texts: list[bytes]) -> _Hashes:
    """FarmHash's Fingerprint64 of each."""
    if len(texts) < _FEW:
        return _one_by_one(texts, string_hashes.fingerprint64)
    return fingerprints_at(spans_of(texts))


def fingerprints_at(spans: Spans) -> _Hashes:
    """FarmHash's Fingerprint64 of each word."""
    found = np.empty(len(spans.lengths), np.uint64)
    kinds = _KINDS.take(spans.lengths, mode="clip")
    for kind in np.flatnonzero(np.bincount(kinds)).tolist():
        which = np.flatnonzero(kinds == kind)
        steps = spans.lengths[which] - 1 >> 6 if kind == len(_MIXES) else None
        mix = _over_64 if kind == len(_MIXES) else _MIXES[kind]
        _fill(found, spans, which, steps, string_hashes.fingerprint64, mix)
    return found


def _no_bytes(words: _Words, steps: Ints | None) -> Any:
    return string_hashes.fingerprint64(b"")


def _up_to_3(words: _Words, steps: Ints | None) -> Any:
    first, size = words.at(0), words.size
    middle, last = (first >> (n * 8) & 0xFF for n in (size >> 1, size - 1))
    return string_hashes.mix_3(first & 0xFF, middle, last, size)


def _up_to_7(words: _Words, steps: Ints | None) -> Any:
    first, last = words.at(0) & 0xFFFFFFFF, words.from_end(4) & 0xFFFFFFFF
    return string_hashes.mix_8(first, last, words.size)


def _up_to_16(words: _Words, steps: Ints | None) -> Any:
    return string_hashes.mix_16(words.at(0), words.from_end(8), words.size)


def _up_to_32(words: _Words, steps: Ints | None) -> Any:
    parts = [*map(words.at, (0, 8)), *map(words.from_end, (16, 8))]
    return string_hashes.mix_32(parts, words.size)


def _up_to_64(words: _Words, steps: Ints | None) -> Any:
    ends = map(words.from_end, range(32, 0, -8))
    return string_hashes.mix_64([*map(words.at, range(0, 32, 8)), *ends], words.size)


_MIXES: Final = (_no_bytes, _up_to_3, _up_to_7, _up_to_16, _up_to_32, _up_to_64)


def _over_64(words: _Words, steps: Ints) -> Any:
    count = len(steps)
    begun = string_hashes.begin_more(words.at(0))
    state: Sequence[Any] = [
        np.broadcast_to(np.asarray(part, np.uint64), count) for part in begun
    ]
    ended = np.empty((len(state), count), np.uint64)
    for block, some in enumerate(_active(steps)):
        if some < count:
            ended[:, some:count] = [part[some:] for part in state]
            state, count = [part[:some] for part in state], some
        state = string_hashes.mix_block(words.block(64 * block, some), state)
    ended[:, :count] = state
    last = words.block(words.lengths - 64)
    return string_hashes.end_more(last, list(ended), words.size)


# --- Hash64 -------------------------------------------------------------------------


def hashes64(texts: list[bytes]) -> _Hashes:
    """TensorFlow's Hash64 of each."""
    if len(texts) < _FEW:
        return _one_by_one(texts, string_hashes.hash64)
    spans = spans_of(texts)
    return _by_words(spans, string_hashes.hash64, _murmurs)


def _murmurs(words: _Words, steps: Ints) -> Any:
    found = string_hashes.murmur_begin(string_hashes.HASH64_SEED, words.size)
    for place, some in enumerate(_active(steps)):
        part = words.at(8 * place, some)
        found[:some] = string_hashes.murmur_word(found[:some], part)
    # Of texts that end within a word, these bytes too.
    within = string_hashes.murmur_rest(found, words.rest())
    found = np.where(words.lengths & 7, within, found)
    return string_hashes.murmur_end(found)


# --- SipHash ------------------------------------------------------------------------


def siphashes(texts: list[bytes], key: tuple[int, int]) -> _Hashes:
    """SipHash-2-4 of each under two 64-bit words."""
    if len(texts) < _FEW:
        return _one_by_one(texts, lambda text: string_hashes.siphash(text, key))
    return siphashes_at(spans_of(texts), key)


def siphashes_at(spans: Spans, key: tuple[int, int]) -> _Hashes:
    """SipHash-2-4 of each word under two 64-bit words."""

    def one(text: bytes) -> int:
        return string_hashes.siphash(text, key)

    return _by_words(spans, one, lambda words, steps: _siphashes(words, steps, key))


# By how much the first and the second half of a round rotate v1 and v3.
_TURNS: Final = np.array([[[13], [16]], [[17], [21]]], np.uint64)
_BACK: Final = np.uint64(64) - _TURNS
_HALF: Final = np.array(32, np.uint64)


def _siphashes(words: _Words, steps: Ints, key: tuple[int, int]) -> Any:
    count = len(steps)
    begun = np.array(string_hashes.sip_begin(key), np.uint64)
    # v0 and v2, v1 and v3: what a round does to two words at once.
    even, odd = (np.repeat(begun[i::2, None], count, axis=1) for i in (0, 1))
    last = words.rest()
    last |= words.size << np.uint64(56)
    active = [count, *_active(steps), 0]
    for place, (some, more) in enumerate(pairwise(active)):
        word = last[:some].copy()
        word[:more] = words.at(8 * place, more)
        odd[1, :some] ^= word
        _sip_rounds(even[:, :some], odd[:, :some], 2)
        even[0, :some] ^= word
    even[1] ^= np.uint64(0xFF)
    _sip_rounds(even, odd, 4)
    even ^= odd
    return even[0] ^ even[1]


def _sip_rounds(even: Any, odd: Any, rounds: int) -> None:
    """Rounds of SipHash in place of v0 and v2, and of v1 and v3, [2, n] each."""
    turned, half = np.empty_like(odd), np.empty_like(odd[0])
    # In the second half of a round v2 does what v0 did, and v0 what v2 did.
    halves = (even, _TURNS[0], _BACK[0]), (even[::-1], _TURNS[1], _BACK[1])
    for some, turns, back in halves * rounds:
        some += odd
        np.right_shift(odd, back, out=turned)
        np.left_shift(odd, turns, out=odd)
        np.bitwise_or(odd, turned, out=odd)
        np.bitwise_xor(odd, some, out=odd)
        first = some[0]
        np.right_shift(first, _HALF, out=half)
        np.left_shift(first, _HALF, out=first)
        np.bitwise_or(first, half, out=first)


# --- many strings -------------------------------------------------------------------


def _one_by_one(texts: list[bytes], one: Callable[[bytes], int]) -> _Hashes:
    return np.array([one(text) for text in texts], np.uint64)


def _by_words(
    spans: Spans, one: Callable[[bytes], int], many: Callable[[_Words, Ints], Any]
) -> _Hashes:
    """Hashes that take a step for each whole word."""
    found = np.empty(len(spans.lengths), np.uint64)
    _fill(found, spans, np.arange(len(found)), spans.lengths >> 3, one, many)
    return found


def _fill(
    found: _Hashes,
    spans: Spans,
    which: Ints,
    steps: Ints | None,
    one: Callable[[bytes], int],
    many: Callable[[_Words, Any], Any],
) -> None:
    """Hashes some words.

    Args:
      found: gets the hashes.
      spans: all words.
      which: the places of those to be hashed.
      steps: how many steps each of them takes, if some take more than others.
      one: the hash of a word.
      many: the hashes of some, those with the most steps first, and of their steps.
    """
    alone = len(which) if len(which) < _FEW else 0
    if steps is not None and not alone:
        ordered, order = stable_order(steps.max() - steps)
        which, steps = which[order], steps.max() - ordered
        # The steps that only a few take cost as much as if all took them.
        most = 2 * steps[_FEW - 1] + _FEW
        alone = int(np.count_nonzero(steps > most))
    for place in which[:alone].tolist():
        found[place] = one(spans.word(place))
    for begin in range(alone, len(which), _MOST):
        some = slice(begin, begin + _MOST)
        places = which[some]
        found[places] = many(
            _Words(spans, places), None if steps is None else steps[some]
        )


def _active(steps: Ints) -> list[int]:
    """How many take a first step, a second one and so on; the steps never rise."""
    most = int(steps[0])
    active: list[int] = np.searchsorted(-steps, -np.arange(most)).tolist()
    return active
