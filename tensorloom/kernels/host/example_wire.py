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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

MISSING, BYTES, FLOAT, INT64 = 0, 0x0A, 0x12, 0x1A
_KINDS = (BYTES, FLOAT, INT64)

_CONTINUED = np.uint64(0x8080808080808080)
_LOW_BITS = np.uint64(0x7F)
_ONE, _BYTE, _SEVEN, _EIGHT, _THREE_BYTES = (np.uint64(n) for n in (1, 0xFF, 7, 8, 24))
_KEY_MASKS = np.array([(1 << 8 * min(n, 8)) - 1 for n in range(9)], np.uint64)
# Beyond so many steps, a few messages alone are left to protobuf: a hostile message
# could have a million empty entries.
_PATIENCE, _CROWD = 64, 32
_PART = 4096

# Entries and features whose lengths take one byte each, and what is fixed in them.
_SHORT_ENTRY_BITS, _SHORT_ENTRY = np.uint64(0x80FF80FF), np.uint64(0x000A000A)
_SHORT_FEATURE_BITS, _SHORT_FEATURE = np.uint64(0x80FF), np.uint64(0x0012)

# A place and a length in one integer, and whether the entry was an alike one.
_PLACE_BITS = 36
_PLACE_MASK = (1 << _PLACE_BITS) - 1
_MOST_LENGTH = 1 << 26
_ALIKE = 1 << 62
# After so many steps whose entries are not alike, their order is no common one.
_MOST_UNLIKE = 6


class Irregular(Exception):
    """These bytes are not as a standard writer writes them."""


class Buffer:
    """The bytes of a batch, one message after another."""

    def __init__(self, texts: list[bytes]) -> None:
        # Eight bytes can be read at every position, and a little beyond.
        self.blob = b"".join([*texts, bytes(200)])
        self.words: Words = np.ndarray(
            len(self.blob) - 8, np.dtype("<u8"), self.blob, strides=(1,)
        )
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        self.ends: Ints = lengths.cumsum()
        self.starts: Ints = self.ends - lengths

    def items(self, dtype: Any) -> NDArray[Any]:
        """A view with an item of a dtype at every position."""
        kind = np.dtype(dtype)
        return np.ndarray(
            len(self.blob) - kind.itemsize + 1, kind, self.blob, strides=(1,)
        )

    def field(self, at: Ints) -> tuple[Words, Ints, Ints]:
        """(tag byte, where the contents start, their length) of fields."""
        words = self.words[at]
        length, size = varint(words >> _EIGHT)
        return words & _BYTE, at + 1 + size, length


def varint(words: Words) -> tuple[Ints, Ints | int]:
    """(values, sizes in bytes) of varints at the low end of words, up to 35 bits.

    Longer ones give a length that no message has.
    """
    low = words & _BYTE
    if not (low >> _SEVEN).any():
        return low.view(np.int64), 1
    stops = ~words & _CONTINUED
    mask = stops ^ (stops - _ONE)
    value = np.zeros(len(words), np.uint64)
    size = np.zeros(len(words), np.int64)
    masked = words & mask
    for i in range(5):
        shift = np.uint64(8 * i)
        value |= ((masked >> shift) & _LOW_BITS) << np.uint64(7 * i)
        size += ((mask >> shift) & _ONE).view(np.int64)
    too_long = (mask >> np.uint64(40)).astype(bool)
    value[too_long] = np.uint64(1 << 40)
    return value.view(np.int64), size


@dataclass(frozen=True)
class EntryForm:
    """What entries have in common that differ in their values alone.

    An entry of short fields starts with 0A, its length, 0A, the key's length, the key,
    12, the feature's length, the kind, the list's length, 0A, the length of its only
    string or of its packed numbers.
    """

    key: bytes
    kind: int
    entry_length: int
    # The start as words, and which of their bits are it, without and with lengths.
    values: tuple[np.uint64, ...]
    fixed: tuple[np.uint64, ...]
    whole: tuple[np.uint64, ...]

    @classmethod
    def at(cls, blob: bytes, place: int) -> EntryForm | None:
        """The form of the entry there; None if one of its lengths is not short."""
        key_length = blob[place + 3]
        size = key_length + 10
        start = blob[place : place + size]
        if len(start) < size or key_length > 127:
            return None
        tags = start[0], start[2], start[-6], start[-2]
        if tags != (0x0A, 0x0A, 0x12, 0x0A) or start[-4] not in _KINDS:
            return None
        inner, entry = start[-1], start[1]
        if (start[-5], start[-3]) != (inner + 4, inner + 2):
            return None
        if entry != inner + size - 2 or entry > 127:
            return None
        whole = bytes([0xFF]) * size
        fixed = bytearray(whole)
        fixed[1] = fixed[-5] = fixed[-3] = fixed[-1] = 0x80
        words = (_words_of(text) for text in (start, bytes(fixed), whole))
        return cls(start[4:-6], start[-4], entry, *words)

    def lengths(self, words: Words, at: Ints) -> Ints | int | None:
        """The lengths of entries, one number if all are the same.

        None if one is not of this form.
        """
        found = [words[at + 8 * i if i else at] for i in range(len(self.values))]
        differs = [w ^ value for w, value in zip(found, self.values, strict=True)]
        differs[-1] &= self.whole[-1]
        if not any(d.any() for d in differs):
            return self.entry_length
        if any(
            (d & mask).any() for d, mask in zip(differs, self.fixed, strict=True)
        ):
            return None
        size = len(self.key)
        entry, *inner = (_byte(found, i) for i in (1, size + 5, size + 7, size + 9))
        for i, length in enumerate(inner):
            if (entry - length != size + 4 + 2 * i).any():
                return None
        return entry


def _words_of(text: bytes) -> tuple[np.uint64, ...]:
    padded = text + bytes(-len(text) % 8)
    return tuple(np.frombuffer(padded, "<u8"))


def _byte(words: list[Words], index: int) -> Ints:
    shift = np.uint64(8 * (index % 8))
    return ((words[index // 8] >> shift) & _BYTE).view(np.int64)


@dataclass(frozen=True)
class Spans:
    """Where a feature's list lies in each message, and of what kind it is."""

    kind: NDArray[np.uint8]
    start: Ints
    length: Ints
    # Whether each has one string, or numbers packed in one piece, of under 128 bytes.
    single: bool = False


class Walk:
    """Finds the wanted features of all messages.

    `bad` marks the messages that are irregular; their features are not found.
    """

    def __init__(self, buffer: Buffer, keys: Sequence[bytes]) -> None:
        self.buffer, self.keys = buffer, KeyTable(keys)
        count = len(buffer.ends)
        # Where each Feature starts, and its length in the upper bits.
        self._features = np.zeros((len(keys) + 1, count), np.int64)
        self.bad = np.zeros(count, bool)
        self._unlike = 0
        self._kinds: list[set[int]] = [set() for _ in range(len(keys) + 1)]
        # In parts whose vectors stay in the cache.
        for start in range(0, count, _PART):
            self._walk(slice(start, min(start + _PART, count)))
        self._spans = [self._find_spans(i) for i in range(len(keys))]

    def spans(self, index: int) -> Spans:
        """The lists of the key of that index."""
        return self._spans[index]

    def _walk(self, part: slice) -> None:
        rows, at, end = self._messages(part)
        limit = 2 * len(self.keys.keys) + _PATIENCE
        step = 0
        while len(rows):
            if step > limit and len(rows) < _CROWD:
                self.bad[rows] = True
                return
            after = self._alike_entries(rows, at, end)
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

    def _alike_entries(self, rows: Ints, at: Ints, end: Ints) -> Ints | None:
        """Notes one entry of each message, when all look like that of the first.

        The end of each; None when one does not. Records of one data set mostly have
        their features in one order: then a few words of each are compared with those
        of the first, and nothing but three lengths has to be read.
        """
        if self._unlike > _MOST_UNLIKE:
            return None
        form = EntryForm.at(self.buffer.blob, int(at[0]))
        lengths = None if form is None else form.lengths(self.buffer.words, at)
        if form is None or lengths is None:
            self._unlike += 1
            return None
        after = at + (2 + lengths)
        if not (after <= end).all():
            return None
        self._unlike = max(0, self._unlike - 1)
        feature = len(form.key) + 6  # where the Feature is in the entry
        noted = (lengths - (feature - 2)) << _PLACE_BITS
        noted += _ALIKE + feature
        index = self.keys.number(form.key)
        self._kinds[index].add(form.kind)
        every = int(rows[-1]) - int(rows[0]) + 1 == len(rows)
        where = slice(int(rows[0]), int(rows[-1]) + 1) if every else rows
        self._features[index, where] = at + noted
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
        key_length = ((head >> _THREE_BYTES) & _LOW_BITS).view(np.int64)
        after = key + key_length
        end_of_entry = at + 2 + ((head >> _EIGHT) & _LOW_BITS).view(np.int64)
        feature = words[after]
        if not ((feature & _SHORT_FEATURE_BITS) == _SHORT_FEATURE).all():
            return None
        length = ((feature >> _EIGHT) & _LOW_BITS).view(np.int64)
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

    def _find_spans(self, index: int) -> Spans:
        noted = self._features[index]
        if len(self._kinds[index]) == 1 and (noted >= _ALIKE).all():
            (only,) = self._kinds[index]
            noted = noted - (_ALIKE + (2 << _PLACE_BITS))
            kinds = np.full(len(noted), only, np.uint8)
            start = (noted & _PLACE_MASK) + 2
            return Spans(kinds, start, noted >> _PLACE_BITS, single=True)
        noted = noted & ~_ALIKE
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


def _ends(key: bytes) -> tuple[int, int, int]:
    first = int.from_bytes(key[:8], "little")
    return first, int.from_bytes(key[-8:], "little"), len(key)


# --- lists ------------------------------------------------------------------------


def packed(buffer: Buffer, spans: Spans) -> tuple[Ints, Ints]:
    """(start, length) in bytes of the packed contents of number lists.

    Raises:
      Irregular: a list is not packed in one piece.
    """
    if spans.single:
        return spans.start + 2, spans.length - 2
    tag, start, length = buffer.field(spans.start)
    stated = spans.length > 0
    whole = (tag == 0x0A) & (start + length == spans.start + spans.length)
    if not (whole | ~stated).all():
        raise Irregular
    return start, np.where(stated, length, 0)


def floats(buffer: Buffer, spans: Spans) -> tuple[NDArray[np.float32], Ints]:
    """(all values, how many each message has) of lists of floats."""
    start, length = packed(buffer, spans)
    if (length % 4).any():
        raise Irregular
    counts = length // 4
    one = int(counts[0]) if len(counts) else 0
    if 0 < one <= 1 << 16 and (counts == one).all():
        rows = buffer.items(f"V{4 * one}")[start]
        return rows.view("<f4"), counts
    view = buffer.items("<f4")
    return view[_spread(start, counts, 4)], counts


def _spread(start: Ints, counts: Ints, step: int) -> Ints:
    """start, start + step, ... of as many places as there are, for each row."""
    before = counts.cumsum() - counts
    total = int(counts.sum())
    places = np.arange(total) * step
    places += np.repeat(start - before * step, counts)
    return places


def int64s(buffer: Buffer, spans: Spans) -> tuple[Ints, Ints]:
    """(all values, how many each message has) of lists of integers."""
    start, length = packed(buffer, spans)
    if (length == 1).all():
        low = (buffer.words[start] & _BYTE).view(np.int64)
        if (low > 127).any():
            raise Irregular
        return low, length
    values, sizes = _long_varints(buffer, start)
    if (sizes == length).all():
        return values, np.ones(len(start), np.int64)
    places = _spread(start, length, 1)
    is_last = np.frombuffer(buffer.blob, np.uint8)[places] < 0x80
    ends = length.cumsum()
    has_any = length > 0
    if not is_last[ends[has_any] - 1].all():
        raise Irregular
    closed = np.concatenate([[0], is_last.cumsum()])
    counts = closed[ends] - closed[ends - length]
    lasts = np.flatnonzero(is_last)
    firsts = places[np.concatenate([[0], lasts + 1])[: len(lasts)]]
    values, sizes = _long_varints(buffer, firsts)
    if (sizes != places[lasts] - firsts + 1).any():
        raise Irregular
    return values, counts


def _long_varints(buffer: Buffer, at: Ints) -> tuple[Ints, Ints]:
    """(values, sizes) of 64-bit varints; a size of 11 for one that has no end."""
    words = buffer.words[at]
    stops = ~words & _CONTINUED
    mask = stops ^ (stops - _ONE)
    masked = words & mask
    value = masked & _LOW_BITS
    size = np.ones(len(at), np.int64)
    going = masked > _LOW_BITS
    shift = 1
    while going.any() and shift < 8:
        low = np.uint64(8 * shift)
        value |= ((masked >> low) & _LOW_BITS) << np.uint64(7 * shift)
        size += ((mask >> low) & _ONE).view(np.int64)
        shift += 1
        going = (masked >> low) > _LOW_BITS
    long = np.flatnonzero(stops == 0)
    if len(long):
        rest = buffer.words[at[long] + 8]
        value[long] |= (rest & _LOW_BITS) << np.uint64(56)
        goes_on = (rest & np.uint64(0x80)) > 0
        value[long] |= np.where(
            goes_on, ((rest >> _EIGHT) & _ONE) << np.uint64(63), np.uint64(0)
        )
        ends = (rest & np.uint64(0x8000)) == 0
        size[long] = np.where(goes_on, np.where(ends, 10, 11), 9)
    return value.view(np.int64), size


def strings(buffer: Buffer, spans: Spans) -> tuple[NDArray[Any], Ints]:
    """(all values, how many each message has) of lists of strings.

    Raises:
      Irregular: a list has anything else than strings.
    """
    if spans.single:
        cut = _cut(buffer, spans.start + 2, spans.start + spans.length)
        return cut, np.ones(len(cut), np.int64)
    counts = np.zeros(len(spans.start), np.int64)
    rows = np.flatnonzero(spans.length > 0)
    at, end = spans.start[rows], (spans.start + spans.length)[rows]
    pieces: list[tuple[Ints, Ints, Ints]] = []
    while len(rows):
        tag, start, length = buffer.field(at)
        at = start + length
        if not ((tag == 0x0A) & (at <= end)).all() or len(pieces) > _most_steps(rows):
            raise Irregular
        pieces.append((rows, start, at))
        counts[rows] += 1
        left = at < end
        if not left.all():
            rows, at, end = rows[left], at[left], end[left]
    if not pieces:
        return np.empty(0, object), counts
    if len(pieces) == 1:
        _, start, stop = pieces[0]
    else:
        every_row, start, stop = (
            np.concatenate(column) for column in zip(*pieces, strict=True)
        )
        order = np.argsort(every_row, kind="stable")
        start, stop = start[order], stop[order]
    return _cut(buffer, start, stop), counts


def _most_steps(rows: Ints) -> int:
    return 1 << 30 if len(rows) >= _CROWD else 4096


def _cut(buffer: Buffer, start: Ints, stop: Ints) -> NDArray[Any]:
    """The pieces of bytes between positions, an object array."""
    length = stop - start
    pieces: NDArray[Any] = np.empty(len(start), object)
    small = int(length.max()) < 1024
    sizes = np.flatnonzero(np.bincount(length)) if small else length
    if len(sizes) <= 1 + len(length) // 256 and sizes[0]:
        # All of one length at once: three times faster than one by one.
        for size in sizes.tolist():
            here = np.flatnonzero(length == size)
            pieces[here] = buffer.items(f"V{size}")[start[here]].astype(object)
        return pieces
    blob = buffer.blob
    bounds = zip(start.tolist(), stop.tolist(), strict=True)
    pieces[:] = [blob[a:b] for a, b in bounds]
    return pieces
