"""The characters of many encoded texts at once, and texts of many characters."""

from __future__ import annotations

import codecs
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tensorloom.kernels.host.strings.spans import Ints

Codes = NDArray[np.int32]
# Where decoding met bytes that are no character: (first, behind the last).
_Places = list[tuple[int, int]]

#: Names of output encodings as Python has them.
CODECS: Final = {
    "UTF-8": "utf-8",
    "UTF-16-BE": "utf-16-be",
    "UTF-32-BE": "utf-32-be",
}
# From which code point on a character has one more byte in UTF-8.
_LONGER: Final = (0x80, 0x800, 0x10000)
# Bytes of the form 10xxxxxx continue a character.
_CONTINUING: Final = bytes(range(0x80, 0xC0))
# Stands in UTF-8 for a surrogate, which cannot be written there.
_NO_CHARACTER: Final = 0xFFFD

_BYTE_ORDER_MARKS: Final = {
    "utf-16": (codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE),
    "utf-32": (codecs.BOM_UTF32_BE, codecs.BOM_UTF32_LE),
}

_noted = threading.local()


def _note(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    _noted.places.append((error.start, error.end))
    return "\ufffd", error.end


codecs.register_error("tensorloom.note", _note)


def _decode(data: bytes, encoding: str) -> tuple[str, _Places]:
    """The text, with a character for each of the places that have none."""
    places: _Places = []
    _noted.places = places
    # Without a mark of the byte order, the larger byte is the first: as in ICU. Python
    # takes the machine's order.
    marks = _BYTE_ORDER_MARKS.get(codecs.lookup(encoding).name)
    if marks is not None and not data.startswith(marks):
        encoding = f"{codecs.lookup(encoding).name}-be"
    return data.decode(encoding, "tensorloom.note"), places


def _codes(text: str) -> Codes:
    return np.frombuffer(text.encode("utf-32-le"), "<i4")


def begins_character(data: bytes) -> NDArray[np.bool_]:
    """For each byte of UTF-8, whether it is not of the form 10xxxxxx."""
    return np.frombuffer(data, np.int8) >= -64


def character_count(text: bytes) -> int:
    """The number of characters of a text in UTF-8."""
    return len(text.translate(None, _CONTINUING))


def _joined(texts: list[bytes]) -> tuple[bytes, Ints]:
    """(all texts, a zero behind each, where the texts end)."""
    blob = b"\0".join([*texts, b""])
    ends = np.flatnonzero(np.frombuffer(blob, np.uint8) == 0)
    if len(ends) == len(texts):
        # The zeros of no text: found in a fourth of the time of asking for lengths.
        return blob, ends
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    return blob, (lengths + 1).cumsum() - 1


@dataclass
class Characters:
    """The characters of some texts."""

    codes: Codes  # of all texts
    splits: Ints  # [texts + 1], where the characters of each text begin
    starts: Ints | None  # [characters], at which byte of its text each one begins
    bad: NDArray[np.intp]  # which of the codes stand for bytes that are no character


def of_utf_8(texts: list[bytes], *, with_starts: bool) -> Characters:
    """The characters of texts in UTF-8."""
    # A zero behind each text ends its last character.
    blob, ends = _joined(texts)
    text, places = _decode(blob, "utf-8")
    begins = begins_character(blob)
    if places:
        _mark(begins, np.array(places))
    positions = np.flatnonzero(begins)
    zeros = np.searchsorted(positions, ends)
    splits = np.zeros(len(texts) + 1, np.int64)
    splits[1:] = zeros - np.arange(len(texts))
    inside = np.ones(len(positions), np.bool_)
    inside[zeros] = False
    codes, starts = _codes(text)[inside], None
    if with_starts:
        firsts = np.append(0, ends[:-1] + 1)[: len(texts)]
        starts = positions[inside] - np.repeat(firsts, np.diff(splits))
    bad = np.zeros(0, np.intp)
    if places:
        at = np.searchsorted(positions, [start for start, _ in places])
        bad = at - np.searchsorted(zeros, at)
    return Characters(codes, splits, starts, bad)


def _mark(begins: NDArray[np.bool_], places: Ints) -> None:
    """Makes one beginning of each of the places."""
    starts, sizes = places[:, 0], places[:, 1] - places[:, 0]
    for i in range(int(sizes.max())):
        begins[starts[sizes > i] + i] = not i


def of_encoding(texts: list[bytes], encoding: str, *, with_starts: bool) -> Characters:
    """The characters of texts in any encoding, one text after the other."""
    decoded = [_decode(text, encoding) for text in texts]
    splits = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text, _ in decoded], out=splits[1:])
    bad, starts = [], []
    for (text, places), split in zip(decoded, splits.tolist(), strict=False):
        if with_starts or places:
            at = np.array(list(_starts(text, places, encoding)), np.int64)
            starts.append(at)
            found = np.searchsorted(at, [start for start, _ in places])
            bad.append(found + split)
    return Characters(
        _codes("".join([text for text, _ in decoded])),
        splits,
        np.concatenate([np.zeros(0, np.int64), *starts]) if with_starts else None,
        np.concatenate([np.zeros(0, np.intp), *bad]),
    )


def _starts(text: str, places: _Places, encoding: str) -> Iterator[int]:
    """At which byte each character begins."""
    ends, at = dict(places), 0
    for char in text:
        yield at
        at = ends[at] if at in ends else at + len(char.encode(encoding))


def without(characters: Characters, which: NDArray[np.intp]) -> Characters:
    """Characters without some of them; none of the others is bad."""
    kept = np.ones(len(characters.codes), np.bool_)
    kept[which] = False
    before = np.append(0, np.cumsum(kept))
    starts = characters.starts
    return Characters(
        characters.codes[kept],
        before[characters.splits],
        None if starts is None else starts[kept],
        np.zeros(0, np.intp),
    )


def encoded(codes: Codes, splits: Ints, codec: str) -> list[bytes]:
    """The texts of code points from 0 to 0x10FFFF, in one of the `CODECS`.

    Args:
      splits: [texts + 1], where the characters of each text begin.
    """
    if codec == "utf-8":
        codes = np.where((codes >> 11) == 0xD800 >> 11, _NO_CHARACTER, codes)
    text = codes.astype("<i4").tobytes().decode("utf-32-le", "surrogatepass")
    whole = text.encode(codec, "surrogatepass")
    ends = np.append(0, np.cumsum(_sizes(codes, codec)))[splits]
    return [whole[start:end] for start, end in pairwise(ends.tolist())]


def _sizes(codes: Codes, codec: str) -> NDArray[np.int8]:
    """How many bytes each character has."""
    if codec == "utf-32-be":
        return np.full(len(codes), 4, np.int8)
    if codec == "utf-16-be":
        return np.where(codes < 0x10000, np.int8(2), np.int8(4))
    sizes = np.ones(len(codes), np.int8)
    for least in _LONGER:
        sizes += codes >= least
    return sizes
