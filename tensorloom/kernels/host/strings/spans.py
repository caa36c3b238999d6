"""Where the words of a batch of strings lie, in one buffer of all.

Strings that are only looked at need not be Python objects: their places in a buffer are
enough for a loop, or for NumPy.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tensorloom.kernels.host.strings.arrays import to_strings

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]

# So many bytes stand behind the texts: eight can be read where the last word ends.
_PADDING: Final = 16


@dataclass
class Spans:
    """Some words."""

    blob: Bytes  # all texts; eight bytes can be read from wherever a word ends
    starts: Ints  # where each word starts
    lengths: Ints  # of each word, in bytes
    # FarmHash's of each, uint64, once somebody has asked for them.
    fingerprints: NDArray[np.uint64] | None = field(default=None, init=False)

    def word(self, place: int) -> bytes:
        """One of the words."""
        start = int(self.starts[place])
        return self.blob[start : start + int(self.lengths[place])].tobytes()

    def strings(self, shape: tuple[int, ...] | None = None) -> Any:
        """An object array of the words, in a vector if no shape is given."""
        return strings_at(self.blob, self.starts, self.lengths, shape)


# The loops over bytes objects, once they are compiled; until then Python does as well.
_objects: Any = None
_is_asked = False


def _loops() -> Any:
    """The loops over bytes objects, or None while they are not compiled."""
    global _is_asked
    if _objects is None:
        from tensorloom.kernels.loops import background, forms

        if forms.are_compiled_at_once():
            _load()
        elif not _is_asked:
            _is_asked = True
            background.ask(_load)
    return _objects


def _load() -> None:
    global _objects
    from tensorloom.kernels.loops.strings import bytes_objects

    bytes_objects.compile_all()
    _objects = bytes_objects


@contextlib.contextmanager
def _as_python() -> Iterator[None]:
    """What takes so long without the loops makes them worth their compilation."""
    from tensorloom.kernels.loops import background

    begin = time.perf_counter()
    yield
    background.spent(time.perf_counter() - begin)


# Words whose spans are kept: a step looks at one feature in several columns. There are
# so many batches of at most so many words and bytes.
_KEPT_BATCHES: Final = 8
_MOST_KEPT_WORDS: Final = 1 << 12
_MOST_KEPT_BYTES: Final = 1 << 16
_kept: deque[tuple[Any, Spans]] = deque(maxlen=_KEPT_BATCHES)


def kept_spans_of(words: Any) -> Spans:
    """As `spans_of`; of the same objects it gives the same spans for a while.

    They must not be changed.
    """
    loops = _loops()
    if loops is None or not isinstance(words, np.ndarray) or words.dtype != object:
        return spans_of(words)
    flat = np.ascontiguousarray(words).reshape(-1)
    if not 0 < len(flat) <= _MOST_KEPT_WORDS:
        return spans_of(flat)
    # An object that is held has its address for itself.
    first, last, address = flat[0], flat[-1], _address(flat)
    for held, spans in tuple(_kept):
        if (
            held[0] is first
            and held[-1] is last
            and len(held) == len(flat)
            and loops.are_same(address, _address(held), len(flat))
        ):
            return spans
    spans = spans_of(flat)
    if len(spans.blob) <= _MOST_KEPT_BYTES:
        _kept.append((flat.copy(), spans))
    return spans


def spans_of(words: Any) -> Spans:
    """Words that are strings already: an array of them, or a list."""
    array, starts, lengths, size = _measured(words)
    blob = np.empty(size + _PADDING, np.uint8)
    loops = _loops()
    if loops is not None:
        loops.copy(_address(array), starts, lengths, blob)
    else:
        with _as_python():
            blob[:size] = np.frombuffer(b"".join(array.tolist()), np.uint8)
    return Spans(blob, starts, lengths)


def even_spans(rows: Any) -> Spans:
    """The bytes of each row of a matrix of numbers."""
    count, size = len(rows), rows.shape[1] * rows.itemsize
    blob = np.empty(count * size + _PADDING, np.uint8)
    blob[: count * size] = np.ascontiguousarray(rows).reshape(-1).view(np.uint8)
    return Spans(blob, np.arange(count) * size, np.full(count, size))


def lengths_of(words: Any) -> Ints:
    """The lengths in bytes of an array of strings, [n]."""
    return _measured(words)[2]


@functools.lru_cache(64)
def in_each_byte(values: bytes) -> Any:
    """Words of eight times the same byte, uint64, for each of some bytes."""
    return np.frombuffer(values, np.uint8) * np.uint64(0x0101010101010101)


def strings_at(
    blob: Bytes, starts: Ints, lengths: Ints, shape: tuple[int, ...] | None = None
) -> Any:
    """An object array of pieces of a buffer.

    Raises:
      MemoryError: there is none for them.
    """
    made = np.empty(len(starts), object)
    loops = _loops()
    if loops is None:
        with _as_python():
            text = blob.tobytes()
            places = zip(starts.tolist(), (starts + lengths).tolist(), strict=True)
            made[:] = [text[start:end] for start, end in places]
    elif not loops.make(blob, starts, lengths, _address(made)):
        raise MemoryError
    return made if shape is None else made.reshape(shape)


def _measured(words: Any) -> tuple[Any, Ints, Ints, int]:
    """(an array of bytes objects, where they begin, their lengths, the length of all).

    If they stood one behind the other.
    """
    if isinstance(words, Sequence):
        words = to_strings(words, (-1,))
    array = np.ascontiguousarray(words).reshape(-1)
    starts, lengths = np.empty((2, len(array)), np.int64)
    loops = _loops()
    if loops is None:
        with _as_python():
            size = _measured_as_python(array, starts, lengths)
    else:
        size = loops.measure(_address(array), id(bytes), starts, lengths)
    if size < 0:
        # Others that hold bytes, such as NumPy's strings.
        return _measured([b"".join((word,)) for word in array.tolist()])
    return array, starts, lengths, size


def _measured_as_python(array: Any, starts: Ints, lengths: Ints) -> int:
    texts = array.tolist()
    if not all([type(text) is bytes for text in texts]):
        return -1
    lengths[:] = [len(text) for text in texts]
    ends = lengths.cumsum()
    starts[:] = ends - lengths
    return int(ends[-1]) if texts else 0


def _address(array: Any) -> int:
    """That of the elements of an array, which has to live while it is used."""
    address: int = array.__array_interface__["data"][0]
    return address
