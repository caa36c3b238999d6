"""Numbers from texts, and texts of integers, many at once."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.kernels.host.string_spans import spans_of, strings_at

if TYPE_CHECKING:
    from tensorloom.framework.dtypes import DType
    from tensorloom.kernels.host.string_spans import Spans


# TensorFlow reads reals like this one, too, but no fractions and no integers.
_HEXADECIMAL: Final = re.compile(rb"\s*[+-]?0[xX][0-9a-fA-F]+\s*")


def _is_only_pythons(text: bytes, dtype: DType) -> bool:
    """Whether Python reads more in texts like this than TensorFlow does.

    Digits grouped by underscores, "infinity" written out, and integers with a plus.
    """
    if b"_" in text:
        return True
    return b"+" in text if dtype.is_integer else b"y" in text or b"Y" in text


@functools.cache
def _bounds(dtype: DType) -> tuple[int, int]:
    return dtype.min, dtype.max


def number_of(text: bytes, dtype: DType) -> int | float:
    """The number that a text in ASCII stands for.

    Raises:
      ValueError: it is none, or out of the range of an integer dtype.
    """
    if _is_only_pythons(text, dtype):
        raise ValueError
    if not dtype.is_integer:
        return float(int(text, 16) if _HEXADECIMAL.fullmatch(text) else text)
    number = int(text)
    low, high = _bounds(dtype)
    if not low <= number <= high:
        raise ValueError
    return number


# Fewer texts are read one by one: they are not worth loading the loops.
_FEW: Final = 32


def numbers_of(texts: Any, dtype: DType) -> Any:
    """A vector of the numbers; None if there is a text for which `number_of` raises.

    Args:
      texts: an array of strings, or a list.
    """
    try:
        if len(texts) < _FEW:
            return np.array([number_of(x, dtype) for x in texts], dtype.np_dtype)
        return _read_many(spans_of(texts), dtype)
    except ValueError:
        return None


def _read_many(spans: Spans, dtype: DType) -> Any:
    from tensorloom.kernels.loops import numerals

    count, where = len(spans.starts), (spans.blob, spans.starts, spans.lengths)
    if not dtype.is_integer:
        reals, odd = np.empty(count), np.empty(count, np.int64)
        others = odd[: numerals.read_decimals(*where, reals, odd)].tolist()
        reals[others] = [number_of(spans.word(i), dtype) for i in others]
        return reals.astype(dtype.np_dtype, copy=False)
    numbers = np.empty(count, np.int64)
    if numerals.read_integers(*where, numbers) >= 0:
        every = [number_of(spans.word(i), dtype) for i in range(count)]
        return np.array(every, dtype.np_dtype)
    low, high = _bounds(dtype)
    if not low <= numbers.min() <= numbers.max() <= high:
        raise ValueError
    return numbers.astype(dtype.np_dtype, copy=False)


def integer_texts(numbers: Any) -> Any:
    """An object array of the decimal digits of integers that are no uint64, [n]."""
    from tensorloom.kernels.loops import numerals

    starts, lengths = np.empty((2, len(numbers)), np.int64)
    blob = np.empty(len(numbers) * numerals.MOST_BYTES, np.uint8)
    numerals.write_integers(numbers.astype(np.int64), blob, starts, lengths)
    return strings_at(blob, starts, lengths)
