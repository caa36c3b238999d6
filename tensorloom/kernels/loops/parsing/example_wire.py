"""Example messages read from their bytes.

What standard writers write is read here; anything else (unknown fields, a value before
its key) is called odd, and the caller reads it with protobuf:

    Example          0A len Features
    SequenceExample  (0A len Features)  (12 len FeatureLists)
    Features         (0A len Entry)*         entries of FeatureLists have a FeatureList
    Entry            0A len key  12 len Feature
    Feature          (0A | 12 | 1A) len List           bytes, float, int64
    List             (0A len bytes)*  |  (0A len floats | 0D float)*  |
                     (0A len varints | 08 varint)*
    FeatureList      (0A len Feature)*

All take `blob`, the bytes of all messages, uint8; each position that comes from it is
compared with the end of what it is in.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorloom.kernels.loops import loop

#: Kinds of a feature: none, and the tags of its lists.
MISSING, BYTES, FLOAT, INT64 = 0, 0x0A, 0x12, 0x1A
_KEY, _VALUE, _PACKED, _VARINT, _FIXED32 = 0x0A, 0x12, 0x0A, 0x08, 0x0D
#: So many entries of a message may stand in the order of the message before.
MOST_IN_ORDER: Final = 64
_U, _W = np.uint64, np.uint32
_ONE, _LONG = _U(1), _U(0x80)


@loop
def _varint(blob: Any, at: int, end: int) -> Any:
    """(a varint, what is behind it); the latter is -1 if there is none."""
    value, shift = _U(0), 0
    while at < end and shift < 70:
        byte = blob[_U(at)]
        value |= _U(byte & 0x7F) << _U(shift)
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7
    return value, -1


@loop
def _field(blob: Any, at: int, end: int) -> Any:
    """(tag, start, end) of a field with a length; the start is -1 if there is none."""
    if at + 1 >= end:
        return 0, -1, -1
    # An unsigned index is no position from the end, which saves a comparison.
    place = _U(at)
    # Most are shorter than what takes a second byte to say.
    size, start = _U(blob[place + _ONE]), at + 2
    if size >= _LONG:
        size, start = _varint(blob, at + 1, end)
    if start < 0 or size > _U(end - start):
        return 0, -1, -1
    return np.int64(blob[place]), start, start + np.int64(size)


@loop
def _is_key(blob: Any, at: int, keys: Any, key: int, size: int) -> bool:
    same = 0
    while same < size and blob[_U(at + same)] == keys[_U(key + same)]:
        same += 1
    return same == size


@loop
def _find_key(
    blob: Any, at: int, size: int, keys: Any, starts: Any, lengths: Any, likely: int
) -> int:
    """The number of the key that stands there, or that of keys."""
    count = len(starts)
    for i in range(-1, count):
        # Messages mostly have their entries in one order.
        key = likely if i < 0 else i
        if (
            key < count
            and lengths[key] == size
            and _is_key(blob, at, keys, starts[key], size)
        ):
            return key
    return count


@loop
def _read_entries(
    blob: Any,
    at: int,
    end: int,
    given: Any,
    order: Any,
    row: int,
    begins: Any,
    ends: Any,
) -> bool:
    """Notes where a message has the values; whether its entries are not odd."""
    keys, key_starts, key_lengths = given
    place = 0
    while at < end:
        tag, key, after = _field(blob, at, end)
        if tag != _KEY or key < 0:
            return False
        tag, key, key_end = _field(blob, key, after)
        if tag != _KEY or key < 0:
            return False
        tag, value, value_end = _field(blob, key_end, after)
        if tag != _VALUE or value < 0 or value_end != after:
            return False
        likely = order[place] if place < len(order) else 0
        found = _find_key(
            blob, key, key_end - key, keys, key_starts, key_lengths, likely
        )
        if place < len(order):
            order[place] = found
        if found < len(key_starts):
            begins[found, row], ends[found, row] = value, value_end
        place += 1
        at = after
    return True


@loop
def find_values(
    blob: Any,
    starts: Any,
    lengths: Any,
    part: int,
    only: bool,
    keys: Any,
    key_starts: Any,
    key_lengths: Any,
    begins: Any,
    ends: Any,
    odd: Any,
) -> None:
    """Finds what messages have for some keys.

    Args:
      starts, lengths: of the messages, int64 [n].
      part: the tag of the part of a message that has the entries.
      only: whether there is no other part: an Example.
      keys, key_starts, key_lengths: the bytes of the keys, and where they are in them.
      begins, ends: get where the values are, int64 [keys, n]; -1 for none.
      odd: gets whether a message is odd, bool [n].
    """
    order = np.zeros(MOST_IN_ORDER, np.int64)
    begins[:], ends[:], odd[:] = -1, -1, False
    for i in range(len(starts)):
        at, end, last = starts[i], starts[i] + lengths[i], 0
        while at < end and not odd[i]:
            tag, start, at = _field(blob, at, end)
            if start < 0 or tag <= last or (tag != part and (only or tag > _VALUE)):
                odd[i] = True
            elif tag == part:
                given = keys, key_starts, key_lengths
                odd[i] = not _read_entries(
                    blob, start, at, given, order, i, begins, ends
                )
            last = tag


@loop
def open_features(blob: Any, begins: Any, ends: Any, kinds: Any, odd: Any) -> None:
    """Goes from Features to the lists in them.

    Args:
      begins, ends: where they are, int64 [keys, n], -1 for none; get where lists are.
      kinds: gets the kind of each, uint8 [keys, n].
      odd: set where a message has an odd feature, bool [n].
    """
    for k in range(begins.shape[0]):
        for i in range(begins.shape[1]):
            kinds[k, i] = MISSING
            if begins[k, i] < 0 or begins[k, i] == ends[k, i]:
                continue
            tag, start, end = _field(blob, begins[k, i], ends[k, i])
            is_kind = tag in (BYTES, FLOAT, INT64)
            if start < 0 or end != ends[k, i] or not is_kind:
                odd[i] = True
                continue
            kinds[k, i], begins[k, i], ends[k, i] = tag, start, end


@loop
def count_steps(blob: Any, begins: Any, ends: Any, counts: Any) -> int:
    """How many Features each FeatureList has; their sum, or -1 if one is odd."""
    total = 0
    for i in range(len(begins)):
        at, counts[i] = begins[i], 0
        while 0 <= at < ends[i]:
            tag, start, at = _field(blob, at, ends[i])
            if tag != _KEY or start < 0:
                return -1
            counts[i] += 1
        total += counts[i]
    return total


@loop
def find_steps(
    blob: Any, begins: Any, ends: Any, step_begins: Any, step_ends: Any
) -> None:
    """Where the Features are that `count_steps` counts, int64 [steps]."""
    place = 0
    for i in range(len(begins)):
        at = begins[i]
        while 0 <= at < ends[i]:
            _, step_begins[place], at = _field(blob, at, ends[i])
            step_ends[place] = at
            place += 1


# --- values ---------------------------------------------------------------------------


@loop
def _packed_varints(blob: Any, at: int, end: int) -> int:
    """How many varints there are, or -1 if one is none."""
    count, size = 0, 0
    while at < end:
        size += 1
        if size > 10:
            return -1
        if blob[_U(at)] < 0x80:
            count += 1
            size = 0
        at += 1
    return count if size == 0 else -1


@loop
def _next(blob: Any, at: int, end: int, kind: int) -> Any:
    """(how many values a part of a list has, their start, their end); -1 if odd."""
    tag = blob[_U(at)]
    if kind == FLOAT and tag == _FIXED32:
        return (1 if at + 5 <= end else -1), at + 1, at + 5
    if kind == INT64 and tag == _VARINT:
        _, after = _varint(blob, at + 1, end)
        return (1 if after >= 0 else -1), at + 1, after
    _, start, after = _field(blob, at, end)
    if tag != _PACKED or start < 0:
        return -1, -1, -1
    if kind == BYTES:
        return 1, start, after
    if kind == INT64:
        return _packed_varints(blob, start, after), start, after
    return ((after - start) // 4 if (after - start) % 4 == 0 else -1), start, after


@loop
def count_values(
    blob: Any, kinds: Any, begins: Any, ends: Any, kind: int, counts: Any
) -> int:
    """How many values there are in lists of a kind, and in missing ones.

    Args:
      kinds, begins, ends: of the lists [n].
      counts: gets the numbers, int64 [n].

    Returns:
      Their sum; -1 if a list is odd, or of another kind.
    """
    total = 0
    for i in range(len(kinds)):
        counts[i] = 0
        if kinds[i] == MISSING:
            continue
        if kinds[i] != kind:
            return -1
        at = begins[i]
        while at < ends[i]:
            some, _, at = _next(blob, at, ends[i], kind)
            if some < 0:
                return -1
            counts[i] += some
        total += counts[i]
    return total


@loop
def _four_bytes(blob: Any, at: Any) -> Any:
    """A word of four bytes, which the compiler reads at once."""
    low = np.uint32(blob[at]) | np.uint32(blob[at + _ONE]) << _W(8)
    high = np.uint32(blob[at + _U(2)]) << _W(16) | np.uint32(blob[at + _U(3)]) << _W(24)
    return low | high


@loop
def read_floats(blob: Any, kinds: Any, begins: Any, ends: Any, found: Any) -> None:
    """The bits of the floats that `count_values` counts, uint32 [values]."""
    place = 0
    for i in range(len(kinds)):
        at = begins[i] if kinds[i] else ends[i]
        while at < ends[i]:
            _, start, at = _next(blob, at, ends[i], FLOAT)
            for k in range(start, at, 4):
                found[place] = _four_bytes(blob, _U(k))
                place += 1


@loop
def read_integers(blob: Any, kinds: Any, begins: Any, ends: Any, found: Any) -> None:
    """The integers that `count_values` counts, int64 [values]."""
    place = 0
    for i in range(len(kinds)):
        at = begins[i] if kinds[i] else ends[i]
        while at < ends[i]:
            _, start, at = _next(blob, at, ends[i], INT64)
            while start < at:
                value, start = _varint(blob, start, at)
                found[place] = np.int64(value)
                place += 1


@loop
def find_strings(
    blob: Any, kinds: Any, begins: Any, ends: Any, starts: Any, lengths: Any
) -> None:
    """Where the strings are that `count_values` counts, int64 [values]."""
    place = 0
    for i in range(len(kinds)):
        at = begins[i] if kinds[i] else ends[i]
        while at < ends[i]:
            _, starts[place], at = _next(blob, at, ends[i], BYTES)
            lengths[place] = at - starts[place]
            place += 1
