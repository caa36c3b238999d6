"""Example messages of a batch, read from their bytes side by side.

A message takes a microsecond in C++ and fifty in Python. Here NumPy walks all messages
of a batch at once, one map entry a step, with the positions of all of them in one
vector: a step costs the same for ten messages as for a thousand. What standard writers
do not write (unknown fields, a value before its key, lists that are not packed) is
marked as irregular, and the caller reads it with protobuf.

    Example   0A len Features
    Features  (0A len Entry)*
    Entry     0A len key  12 len Feature
    Feature   (0A | 12 | 1A) len List              bytes, float, int64
    List      (0A len bytes)*  |  0A len floats  |  0A len varints
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.kernels.host.example_buffer import (
    BYTES,
    CROWD,
    EIGHT,
    FLOAT,
    INT64,
    LOW_BITS,
    MISSING,
    PATIENCE,
    AlikeSpans,
    Buffer,
    Ints,
    Irregular,
    Spans,
    Words,
)
from tensorloom.kernels.host.example_entry import EntryForm

if TYPE_CHECKING:
    from numpy.typing import NDArray

_THREE_BYTES = np.uint64(24)
_KEY_MASKS = np.array([(1 << 8 * min(n, 8)) - 1 for n in range(9)], np.uint64)
_PART = 1 << 14

# Entries and features whose lengths take one byte each, and what is fixed in them.
_SHORT_ENTRY_BITS, _SHORT_ENTRY = np.uint64(0x80FF80FF), np.uint64(0x000A000A)
_SHORT_FEATURE_BITS, _SHORT_FEATURE = np.uint64(0x80FF), np.uint64(0x0012)

# A place and a length in one integer.
_PLACE_BITS = 36
_PLACE_MASK = (1 << _PLACE_BITS) - 1
_MOST_LENGTH = 1 << 26
# After so many steps whose entries are not alike, their order is no common one.
_MOST_UNLIKE = 6


class Walk:
    """Finds the wanted features of all messages.

    `bad` marks the messages that are irregular; their features are not found.
    """

    def __init__(self, buffer: Buffer, keys: Sequence[bytes]) -> None:
        self.buffer, self.keys = buffer, _key_table(tuple(keys))
        count = len(buffer.ends)
        self.bad = np.zeros(count, bool)
        self._unlike = 0
        # By key, and by the first message of a part: the features of all its messages.
        self._alike: list[dict[int, AlikeSpans]] = [{} for _ in keys]
        # In parts whose vectors stay in the cache; each has the cost of the calls.
        for start in range(0, count, _PART):
            self._walk(slice(start, min(start + _PART, count)))
        self._spans = [
            self._alike_spans(i) or self._find_spans(i) for i in range(len(keys))
        ]

    @functools.cached_property
    def _features(self) -> Ints:
        """Where other Features start, their lengths in the upper bits: [key, message].

        After the last key are those of keys that nobody wants.
        """
        return np.zeros((len(self._alike) + 1, len(self.bad)), np.int64)

    def spans(self, index: int) -> Spans | AlikeSpans:
        """The lists of the key of that index."""
        return self._spans[index]

    def _walk(self, part: slice) -> None:
        rows, at, end = self._messages(part)
        limit = 2 * len(self.keys.keys) + PATIENCE
        step = 0
        while len(rows):
            if step > limit and len(rows) < CROWD:
                self.bad[rows] = True
                return
            after = self._alike_entries(rows, at, end, part)
            if after is None:
                after = self._short_entries(rows, at, end)
            if after is None:
                rows, after, end = self._entries(rows, at, end)
            left = after < end
            if left.all():
                at = after
            else:
                rows, at, end = rows[left], after[left], end[left]
            step += 1

    def _messages(self, part: slice) -> tuple[Ints, Ints, Ints]:
        """(row, start, end) of the Features of the messages that have any."""
        starts, ends = self.buffer.starts[part], self.buffer.ends[part]
        rows = np.flatnonzero(ends > starts)
        end = ends[rows]
        tag, body, length = self.buffer.field(starts[rows])
        good = (tag == 0x0A) & (body + length == end)
        rows += part.start
        self.bad[rows[~good]] = True
        good &= body < end
        return rows[good], body[good], end[good]

    def _alike_entries(
        self, rows: Ints, at: Ints, end: Ints, part: slice
    ) -> Ints | None:
        """Notes one entry of each message, when all look like that of the first.

        The end of each; None when one does not. Records of one data set mostly have
        their features in one order: then a few words of each are compared with those
        of the first, and nothing but their lengths has to be read.
        """
        if self._unlike > _MOST_UNLIKE:
            return None
        form = EntryForm.at(self.buffer.blob, int(at[0]))
        found = None if form is None else form.read(self.buffer, at)
        if form is None or found is None:
            self._unlike += 1
            return None
        more, heads = found
        after = at + (2 + form.entry_length)
        length: Ints | int = form.value_length
        if more is not None:
            after += more
            length = more + length
        if (after > end).any():
            return None
        self._unlike = max(0, self._unlike - 1)
        index = self.keys.number(form.key)
        if index < len(self._alike):
            spans = AlikeSpans(form.kind, at, form.size, length, heads)
            if len(rows) == part.stop - part.start:
                self._alike[index][part.start] = spans
            else:
                self._features[index, rows] = _features_of(spans)
        return after

    def _short_entries(self, rows: Ints, at: Ints, end: Ints) -> Ints | None:
        """Notes one entry of each message, when all are shorter than 128 bytes.

        The end of each; None when one is not short or not regular.
        """
        words = self.buffer.words
        head = words[at]
        if not ((head & _SHORT_ENTRY_BITS) == _SHORT_ENTRY).all():
            return None
        key = at + 4
        key_length = ((head >> _THREE_BYTES) & LOW_BITS).view(np.int64)
        after = key + key_length
        end_of_entry = at + 2 + ((head >> EIGHT) & LOW_BITS).view(np.int64)
        feature = words[after]
        if not ((feature & _SHORT_FEATURE_BITS) == _SHORT_FEATURE).all():
            return None
        length = ((feature >> EIGHT) & LOW_BITS).view(np.int64)
        after += 2
        if not ((after + length == end_of_entry) & (end_of_entry <= end)).all():
            return None
        found = self.keys.find(self.buffer, key, key_length)
        self._features[found, rows] = after | (length << _PLACE_BITS)
        return end_of_entry

    def _entries(self, rows: Ints, at: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
        """Notes one entry of each message; the good (rows, ends of entries, ends)."""
        tag, key_field, length = self.buffer.field(at)
        after = key_field + length
        good = (tag == 0x0A) & (after <= end) & (length > 0)
        rows, key_field, after, end = self._keep(good, rows, key_field, after, end)
        tag, key, key_length = self.buffer.field(key_field)
        feature_field = key + key_length
        good = (tag == 0x0A) & (feature_field < after)
        rows, key, key_length, feature_field, after, end = self._keep(
            good, rows, key, key_length, feature_field, after, end
        )
        tag, feature, length = self.buffer.field(feature_field)
        good = (tag == 0x12) & (feature + length == after)
        good &= length < _MOST_LENGTH
        rows, key, key_length, feature, length, after, end = self._keep(
            good, rows, key, key_length, feature, length, after, end
        )
        if len(rows):
            found = self.keys.find(self.buffer, key, key_length)
            self._features[found, rows] = feature | (length << _PLACE_BITS)
        return rows, after, end

    def _keep(self, good: NDArray[np.bool_], rows: Ints, *more: Ints) -> list[Ints]:
        """The good ones of vectors; the other rows are bad."""
        if good.all():
            return [rows, *more]
        self.bad[rows[~good]] = True
        return [vector[good] for vector in (rows, *more)]

    def _alike_spans(self, index: int) -> AlikeSpans | None:
        """Those of a key that all messages have in alike entries, and nowhere else."""
        pieces = list(self._alike[index].values())
        if not pieces or sum([len(p.entries) for p in pieces]) < len(self.bad):
            return None
        first, noted = pieces[0], "_features" in self.__dict__
        if len(pieces) == 1 and not noted:
            return first
        if {piece.kind for piece in pieces} != {first.kind}:
            return None
        if noted and self._features[index].any():
            return None
        length = first.length
        if any(not isinstance(p.length, int) or p.length != length for p in pieces):
            length = np.concatenate([piece.lengths for piece in pieces])
        return AlikeSpans(
            first.kind,
            np.concatenate([piece.entries for piece in pieces]),
            first.offset,  # the key's length, and that of what is around it
            length,
            np.concatenate([piece.heads for piece in pieces]),
        )

    def _find_spans(self, index: int) -> Spans:
        noted = self._features[index]
        for row, spans in self._alike[index].items():
            part = slice(row, row + len(spans.entries))
            # A message can have a key again: the last counts, which protobuf finds.
            self.bad[part] |= noted[part] > 0
            noted[part] = _features_of(spans)
        feature, length = noted & _PLACE_MASK, noted >> _PLACE_BITS
        kind, start, list_length = self.buffer.field(feature)
        stated = length > 0
        good = (start + list_length == feature + length) & (
            (kind == BYTES) | (kind == FLOAT) | (kind == INT64)
        )
        self.bad[stated & ~good] = True
        if not stated.all():
            kind = np.where(stated, kind, np.uint64(MISSING))
        return Spans(kind.astype(np.uint8), start, list_length)


def _features_of(spans: AlikeSpans) -> Ints:
    """Where the Features with these values start, and their lengths."""
    return (spans.start - 4) | (spans.lengths + 4 << _PLACE_BITS)


class KeyTable:
    """Which of some keys stands at a position.

    A key is known by its first and last eight bytes and its length; what lies between
    is compared for longer ones.

    Raises:
      Irregular: two keys differ only in their middle.
    """

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._index = {key: i for i, key in enumerate(keys)}
        self.keys = list(self._index)
        self._other = len(self.keys)
        triples = [_ends(key) for key in keys]
        if len(set(triples)) < len(triples):
            raise Irregular
        other = (0, 0, -1)
        columns = list(zip(*triples, other, strict=True))
        self._first = np.array(columns[0], np.uint64)
        self._last = np.array(columns[1], np.uint64)
        self._length = np.array(columns[2], np.int64)
        self._make_slots(triples)

    def _make_slots(self, triples: list[tuple[int, int, int]]) -> None:
        """Finds a hash of few bits that has no collisions."""
        random = np.random.default_rng(0)
        bits = max(4, len(triples).bit_length() + 1)
        for attempt in range(1000):
            bits = min(bits + (attempt % 8 == 7), 20)
            self._factor = np.uint64(int(random.integers(2**62)) * 2 + 1)
            self._shift = np.uint64(64 - bits)
            slots = self._hash(self._first[:-1], self._last[:-1], self._length[:-1])
            if len(np.unique(slots)) == len(triples):
                self._slots = np.full(1 << bits, len(triples), np.int64)
                self._slots[slots] = np.arange(len(triples))
                return
        raise Irregular

    def _hash(self, first: Words, last: Words, length: Ints) -> Ints:
        mixed = (first * self._factor) ^ last
        mixed = (mixed + length.view(np.uint64)) * self._factor
        return (mixed >> self._shift).view(np.int64)

    def number(self, key: bytes) -> int:
        """The index of a key, the number of keys for another one."""
        return self._index.get(key, self._other)

    def find(self, buffer: Buffer, at: Ints, length: Ints) -> Any:
        """The index of the key at each position, the number of keys for another one.

        A single number where all positions have the same key.
        """
        words = buffer.words
        first, one = words[at], int(length[0])
        if int(length.max()) < 9:
            first &= _KEY_MASKS[length]
            if (first == first[0]).all() and (length == one).all():
                return self._index.get(buffer.blob[at[0] : at[0] + one], self._other)
            last = first
        else:
            short = np.minimum(length, 8)
            first &= _KEY_MASKS[short]
            if (length == one).all() and self._all_same(words, at, one):
                return self._index.get(buffer.blob[at[0] : at[0] + one], self._other)
            last = words[at + length - short] & _KEY_MASKS[short]
        found = self._slots[self._hash(first, last, length)]
        same = (self._first[found] == first) & (self._last[found] == last)
        same &= self._length[found] == length
        found = np.where(same, found, self._other)
        for i, key in enumerate(self.keys):
            if len(key) > 16:
                self._check_middle(words, at, found, i, key)
        return found

    def _all_same(self, words: Words, at: Ints, length: int) -> bool:
        for offset in range(0, length, 8):
            mask = _KEY_MASKS[min(length - offset, 8)]
            here = words[at + offset if offset else at] & mask
            if not (here == here[0]).all():
                return False
        return True

    def _check_middle(
        self, words: Words, at: Ints, found: Ints, index: int, key: bytes
    ) -> None:
        matched = np.flatnonzero(found == index)
        for offset in range(8, len(key) - 8, 8):
            wanted = int.from_bytes(key[offset : offset + 8], "little")
            here = words[at[matched] + offset]
            found[matched[here != np.uint64(wanted)]] = len(self.keys)


# The keys are mostly those of the step before.
_key_table = functools.lru_cache(64)(KeyTable)


def _ends(key: bytes) -> tuple[int, int, int]:
    first = int.from_bytes(key[:8], "little")
    return first, int.from_bytes(key[-8:], "little"), len(key)
