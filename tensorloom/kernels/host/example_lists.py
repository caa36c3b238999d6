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
    Buffer,
    Heads,
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


def packed(buffer: Buffer, spans: Spans) -> tuple[Ints, Ints]:
    """(start, length) in bytes of the packed contents of number lists.

    Raises:
      Irregular: a list is not packed in one piece.
    """
    if spans.heads is not None:
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
    if (length & 3).any():
        raise Irregular
    counts = length >> 2
    one = int(counts[0]) if len(counts) else 0
    if 0 < one <= 1 << 16 and (counts == one).all():
        if spans.heads is not None and 4 * one <= HEAD:
            heads = spans.heads.view("<f4").reshape(-1, HEAD // 4)
            return heads[:, :one].reshape(-1), counts
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
    heads = spans.heads
    words = buffer.words[start] if heads is None else heads.view("<u8")[:: HEAD // 8]
    if (length == 1).all():
        low = (words & BYTE).view(np.int64)
        if (low > 127).any():
            raise Irregular
        return low, length
    values, sizes = _long_varints(buffer, start, words)
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
    values, sizes = _long_varints(buffer, firsts, buffer.words[firsts])
    if (sizes != places[lasts] - firsts + 1).any():
        raise Irregular
    return values, counts


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


def strings(buffer: Buffer, spans: Spans) -> tuple[NDArray[Any], Ints]:
    """(all values, how many each message has) of lists of strings.

    Raises:
      Irregular: a list has anything else than strings.
    """
    if spans.heads is not None:
        cut = _cut_heads(spans.heads, spans.length - 2)
        if cut is None:
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
    return 1 << 30 if len(rows) >= CROWD else 4096


def _cut_heads(heads: Heads, length: Ints) -> NDArray[Any] | None:
    """The first bytes of heads, an object array.

    None if some are longer than that, or end with a zero byte, which NumPy's strings
    do not keep.
    """
    if int(length.max()) > HEAD:
        return None
    texts = heads.view("<u8") & _HEAD_MASKS[length].view("<u8")
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
