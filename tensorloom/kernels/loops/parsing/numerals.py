"""Numbers read from many texts, and written.

All take:
  blob: the bytes of all texts, uint8.
  starts, lengths: of the texts in it, int64 [n], looked at by the caller.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorloom.kernels.loops import loop

#: A minus and all digits of an int64.
MOST_BYTES: Final = 20
_MINUS, _POINT, _ZERO, _E = 45, 46, 48, 101
# Powers of ten that are exact, as are integers up to the greatest: one rounding is all.
_POWERS: Final = 10.0 ** np.arange(23)
_GREATEST: Final = 1 << 53
# So many digits fit into 64 bits.
_MOST_DIGITS: Final = 18


@loop
def read_integers(blob: Any, starts: Any, lengths: Any, found: Any) -> int:
    """Reads integers in decimal digits, at most 18, with or without a minus.

    Args:
      found: gets them, int64 [n].

    Returns:
      The place of the first text that is none, or -1.
    """
    for i in range(len(starts)):
        at, end = starts[i], starts[i] + lengths[i]
        negative = at < end and blob[at] == _MINUS
        at += negative
        if not 0 < end - at <= _MOST_DIGITS:
            return i
        number: Any = 0
        for place in range(at, end):
            digit = np.int64(blob[place]) - _ZERO
            if not 0 <= digit <= 9:
                return i
            number = 10 * number + digit
        found[i] = -number if negative else number
    return -1


@loop
def read_decimals(blob: Any, starts: Any, lengths: Any, found: Any, odd: Any) -> int:
    """Reads decimal numbers, with or without a minus, a point and an exponent.

    Args:
      found: gets them, correctly rounded, float64 [n].
      odd: gets the places of those that are written otherwise or have many digits.

    Returns:
      The number of the latter.
    """
    count = 0
    for i in range(len(starts)):
        at, end = starts[i], starts[i] + lengths[i]
        negative = at < end and blob[at] == _MINUS
        at += negative
        number, digits, decimals, at = _digits(blob, at, end)
        exponent, at = _exponent(blob, at, end)
        exponent -= decimals
        if at < end or digits == 0 or number > _GREATEST or not -22 <= exponent <= 22:
            odd[count] = i
            count += 1
            continue
        value = np.float64(number)
        value = (
            value * _POWERS[exponent] if exponent > 0 else value / _POWERS[-exponent]
        )
        found[i] = -value if negative else value
    return count


@loop
def _digits(blob: Any, at: int, end: int) -> Any:
    """(their value, how many, how many of them behind a point, what is next)."""
    number: Any = 0
    digits, point = 0, -1
    while at < end and digits < _MOST_DIGITS:
        digit = np.int64(blob[at]) - _ZERO
        if 0 <= digit <= 9:
            number = 10 * number + digit
            digits += 1
        elif blob[at] == _POINT and point < 0:
            point = digits
        else:
            break
        at += 1
    return number, digits, (digits - point if point >= 0 else 0), at


@loop
def _exponent(blob: Any, at: int, end: int) -> Any:
    """(the exponent, what is next), or zero and the same place for none."""
    if end - at < 2 or blob[at] | 32 != _E:
        return 0, at
    first = at + 1
    negative = blob[first] == _MINUS
    first += negative or blob[first] == 43  # "+"
    if not 0 < end - first <= 4:
        return 0, at
    exponent: Any = 0
    for place in range(first, end):
        digit = np.int64(blob[place]) - _ZERO
        if not 0 <= digit <= 9:
            return 0, at
        exponent = 10 * exponent + digit
    return (-exponent if negative else exponent), end


@loop
def write_integers(numbers: Any, blob: Any, starts: Any, lengths: Any) -> None:
    """Writes integers in decimal digits.

    Args:
      numbers: int64 [n].
      blob: gets the texts; it has `MOST_BYTES` for each.
      starts, lengths: get where the texts are.
    """
    for i in range(len(numbers)):
        number = numbers[i]
        negative = number < 0
        end = at = (i + 1) * MOST_BYTES
        while True:
            # Of a negative number the digits are negative too: it may be the least.
            rest = number // 10
            digit = number - rest * 10
            if negative and digit:
                rest += 1
                digit = 10 - digit
            at -= 1
            blob[at] = _ZERO + digit
            number = rest
            if number == 0:
                break
        if negative:
            at -= 1
            blob[at] = _MINUS
        starts[i], lengths[i] = at, end - at
