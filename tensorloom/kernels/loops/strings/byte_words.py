"""Words of eight bytes in a buffer."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorloom.kernels.loops import loop

_U = np.uint64
_ONE: Final = _U(1)
_EACH_BYTE: Final = _U(0x0101010101010101)
_LOW_BITS: Final = _U(0x7F7F7F7F7F7F7F7F)


@loop
def word_at(blob: Any, at: int) -> Any:
    """The eight bytes from a position on, which the compiler reads at once."""
    first = _U(at)
    word = _U(blob[first])
    for i in range(1, 8):
        word |= _U(blob[first + _U(i)]) << _U(8 * i)
    return word


@loop
def marks_in(word: Any, marks: Any) -> Any:
    """A one in each byte of a word that is one of some, zero in the others.

    Args:
      marks: each of those bytes, eight times in a word, uint64.
    """
    found = _U(0)
    for k in range(len(marks)):
        other = word ^ marks[k]
        # The high bit stays zero where a byte is zero: 127 is added without a carry.
        found |= ~(((other & _LOW_BITS) + _LOW_BITS) | other | _LOW_BITS)
    return found >> _U(7)


@loop
def first_mark(found: Any) -> Any:
    """The place of the first one that `marks_in` has found; 8 if there is none."""
    before = (found - _ONE) & ~found & _EACH_BYTE
    return np.int64(before * _EACH_BYTE >> _U(56))  # their sum
