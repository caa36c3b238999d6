"""The values of the lists that were found in a batch of Example messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.kernels.host.example_buffer import (
    BYTE,
    CONTINUED,
    CROWD,
    EIGHT,
    HEAD,
    LOW_BITS,
    ONE,
    AlikeSpans,
    Buffer,
    Ints,
    Irregular,
    Spans,
    Words,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

# By length in bytes: which bits of a head are the value's.
_HEAD_MASKS = np.frombuffer(
    b"".join(b"\xff" * n + bytes(HEAD - n) for n in range(HEAD + 1)), f"V{HEAD}"
)


# By length in bytes: which bits of a word are a varint's, and which of them say that
# another byte follows; nothing matches what is none.
_VARINT_MASKS = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)
_VARINT_FOLLOWS = (_VARINT_MASKS >> EIGHT) & CONTINUED
_VARINT_FOLLOWS[0] = ONE


def packed(buffer: Buffer, spans: Spans | AlikeSpans) -> tuple[Ints, Ints]:
    """(start, length) in bytes of the packed contents of number lists.

    Raises:
      Irregular: a list is not packed in one piece.
    """
    if isinstance(spans, AlikeSpans):
        return spans.start, spans.lengths
    tag, start, length = buffer.field(spans.start)
    stated = spans.length > 0
    whole = (tag == 0x0A) & (start + length == spans.start + spans.length)
    if not (whole | ~stated).all():
        raise Irregular
    return start, np.where(stated, length, 0)


def floats(
    buffer: Buffer, spans: Spans | AlikeSpans
) -> tuple[NDArray[np.float32], Ints | int]:
    """(all values, how many each message has) of lists of floats.

    The second is a number if it is seen that all have the same.
    """
    if isinstance(spans, AlikeSpans) and isinstance(spans.length, int):
        size = spans.length
        if 0 < size <= HEAD and size % 4 == 0:
            return spans.first(size).view("<f4"), size // 4
    start, length = packed(buffer, spans)
    if (length & 3).any():
        raise Irregular
    counts = length >> 2
    one = int(counts[0]) if len(counts) else 0
    if 0 < one <= 1 << 16 and (counts == one).all():
        rows = buffer.items(f"V{4 * one}")[start]
        return rows.view("<f4"), one
    view = buffer.items("<f4")
    return view[_spread(start, counts, 4)], counts


def _spread(start: Ints, counts: Ints, step: int) -> Ints:
    """start, start + step, ... of as many places as there are, for each row."""
    before = counts.cumsum() - counts
    total = int(counts.sum())
    places = np.arange(total) * step
    places += np.repeat(start - before * step, counts)
    return places


def int64s(buffer: Buffer, spans: Spans | AlikeSpans) -> tuple[Ints, Ints | int]:
    """(all values, how many each message has) of lists of integers.

    The second is a number if it is seen that all have the same.
    """
    if isinstance(spans, AlikeSpans):
        length, words = spans.lengths, spans.first(8).view("<u8")
    else:
        start, length = packed(buffer, spans)
        words = buffer.words[start]
    if (length == 1).all():
        low = (words & BYTE).view(np.int64)
        if (low > 127).any():
            raise Irregular
        return low, 1
    short = _single_varints(words, length)
    if short is not None:
        return short, 1
    if isinstance(spans, AlikeSpans):
        start = spans.start
    values, sizes = _long_varints(buffer, start, words)
    if (sizes == length).all():
        return values, 1
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
    values, sizes = _long_varints(buffer, firsts, buffer.words[firsts])
    if (sizes != places[lasts] - firsts + 1).any():
        raise Irregular
    return values, counts


def _single_varints(words: Words, length: Ints) -> Ints | None:
    """Varints of those lengths. None if one has no word's length, or there are more."""
    longest = int(length.max())
    if longest > 8:
        return None
    words = words & _VARINT_MASKS.take(length)
    if (words & CONTINUED != _VARINT_FOLLOWS.take(length)).any():
        return None
    values = words & LOW_BITS
    for i in range(1, longest):
        values |= (words & (LOW_BITS << np.uint64(8 * i))) >> np.uint64(i)
    return values.view(np.int64)


def _long_varints(buffer: Buffer, at: Ints, words: Words) -> tuple[Ints, Ints]:
    """(values, sizes) of 64-bit varints; a size of 11 for one that has no end.

    Args:
      words: those at their places.
    """
    stops = ~words & CONTINUED
    mask = stops ^ (stops - ONE)
    masked = words & mask
    value = masked & LOW_BITS
    size = np.ones(len(at), np.int64)
    going = masked > LOW_BITS
    shift = 1
    while going.any() and shift < 8:
        low = np.uint64(8 * shift)
        value |= ((masked >> low) & LOW_BITS) << np.uint64(7 * shift)
        size += ((mask >> low) & ONE).view(np.int64)
        shift += 1
        going = (masked >> low) > LOW_BITS
    long = np.flatnonzero(stops == 0)
    if len(long):
        rest = buffer.words[at[long] + 8]
        value[long] |= (rest & LOW_BITS) << np.uint64(56)
        goes_on = (rest & np.uint64(0x80)) > 0
        value[long] |= np.where(
            goes_on, ((rest >> EIGHT) & ONE) << np.uint64(63), np.uint64(0)
        )
        ends = (rest & np.uint64(0x8000)) == 0
        size[long] = np.where(goes_on, np.where(ends, 10, 11), 9)
    return value.view(np.int64), size


def strings(
    buffer: Buffer, spans: Spans | AlikeSpans
) -> tuple[NDArray[Any], Ints | int]:
    """(all values, how many each message has) of lists of strings.

    The second is a number if it is seen that all have the same.

    Raises:
      Irregular: a list has anything else than strings.
    """
    if isinstance(spans, AlikeSpans):
        cut = _cut_heads(spans)
        if cut is None:
            cut = _cut(buffer, spans.start, spans.start + spans.length)
        return cut, 1
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
    return 1 << 30 if len(rows) >= CROWD else 4096


def _cut_heads(spans: AlikeSpans) -> NDArray[Any] | None:
    """Strings that are in heads, an object array.

    None if some are longer, or end with a zero byte, which NumPy's strings do not keep.
    """
    length = spans.lengths
    if int(length.max()) > HEAD:
        return None
    texts = spans.first(HEAD).view("<u8") & _HEAD_MASKS[length].view("<u8")
    last = np.arange(-1, texts.nbytes - 1, HEAD) + length
    if ((texts.view(np.uint8)[last] == 0) & (length > 0)).any():
        return None
    cut: NDArray[Any] = texts.view(f"S{HEAD}").astype(object)
    return cut


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
