"""Numbers from texts, and texts of integers, many at once."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.kernels.host.strings.spans import spans_of, strings_at

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.kernels.host.strings.spans import Spans


# TensorFlow reads reals like this one, too, but no fractions and no integers.
_HEXADECIMAL: Final = re.compile(rb"\s*[+-]?0[xX][0-9a-fA-F]+\s*")


@functools.cache
def _bounds(dtype: DType) -> tuple[int, int]:
    return dtype.min, dtype.max


@functools.cache
def reader(dtype: DType) -> Callable[[bytes], Any]:
    """The function that reads a number from a text in ASCII.

    It raises ValueError if the text is none, or the number is out of the range of an
    integer dtype. Python reads more than TensorFlow does: digits grouped by
    underscores, "infinity" written out, and integers with a plus.
    """
    if dtype.is_integer:
        low, high = _bounds(dtype)

        def read_integer(text: bytes) -> int:
            number = int(text)
            if not low <= number <= high or b"_" in text or b"+" in text:
                raise ValueError
            return number

        return read_integer
    return _read_real


def _read_real(text: bytes) -> float:
    if b"_" in text or b"y" in text or b"Y" in text:
        raise ValueError
    try:
        return float(text)
    except ValueError:
        if not _HEXADECIMAL.fullmatch(text):
            raise
        try:
            return float(int(text, 16))
        except OverflowError:
            raise ValueError from None


def number_of(text: bytes, dtype: DType) -> int | float:
    """The number that a text in ASCII stands for.

    Raises:
      ValueError: it is none, or out of the range of an integer dtype.
    """
    number: int | float = reader(dtype)(text)
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
            return np.array(list(map(reader(dtype), texts)), dtype.np_dtype)
        return _read_many(spans_of(texts), dtype)
    except ValueError:
        return None


def numbers_at(spans: Spans, dtype: DType) -> Any:
    """As `numbers_of`, of texts in a buffer."""
    try:
        return _read_many(spans, dtype)
    except ValueError:
        return None


def _read_many(spans: Spans, dtype: DType) -> Any:
    from tensorloom.kernels.loops.parsing import numerals

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
    from tensorloom.kernels.loops.parsing import numerals

    starts, lengths = np.empty((2, len(numbers)), np.int64)
    blob = np.empty(len(numbers) * numerals.MOST_BYTES, np.uint8)
    numerals.write_integers(numbers.astype(np.int64), blob, starts, lengths)
    return strings_at(blob, starts, lengths)
