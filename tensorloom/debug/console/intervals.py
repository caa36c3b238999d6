"""Times and sizes as people write them, and intervals of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

_NUMBER: Final = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_ONE_SIDED: Final = re.compile(rf"([<>])(=?)\s*({_NUMBER}.*)")
_TWO_SIDED: Final = re.compile(
    rf"([\[(])\s*({_NUMBER}[^,]*),\s*({_NUMBER}[^,]*)([\])])"
)
_SIZES: Final = {"k": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_TIMES: Final = (("us", 1.0), ("ms", 1e3), ("s", 1e6))


@dataclass
class Interval:
    """What is between two values."""

    start: Any
    start_included: bool
    end: Any
    end_included: bool

    def contains(self, value: Any) -> bool:
        """Whether a value is in it."""
        above = value > self.start or (self.start_included and value == self.start)
        below = value < self.end or (self.end_included and value == self.end)
        return bool(above and below)


def parse_readable_size_str(size_str: str) -> int:
    """Bytes of `100`, `1.1kB`, `24M`.

    Raises:
      ValueError: it is no size.
    """
    text = size_str.strip().removesuffix("B")
    if text.isdigit():
        return int(text)
    if text[-1:] not in _SIZES:
        raise ValueError(f'Failed to parsed human-readable byte size str: "{text}"')
    return int(float(text[:-1]) * _SIZES[text[-1]])


def parse_readable_time_str(time_str: str) -> int:
    """Microseconds of `100us`, `8ms`, `5s`, or of a number of microseconds.

    Raises:
      ValueError: it is no time, or a negative one.
    """
    text = time_str.strip()
    unit, factor = next((u for u in _TIMES if text.endswith(u[0])), ("", 1.0))
    number = text.removesuffix(unit)
    if float(number) < 0:
        raise ValueError(f"Invalid time {number}. Time value must be positive.")
    return int(float(number) * factor)


def parse_time_interval(interval_str: str) -> Interval:
    """`<5ms`, `>=100us` or `[1ms, 2s)` in microseconds; from 0 on.

    Raises:
      ValueError: it is no interval, or its end is before its start.
    """
    return _parsed(interval_str, parse_readable_time_str)


def parse_memory_interval(interval_str: str) -> Interval:
    """`<100M`, `>=1kB` or `[10kB, 20kB]` in bytes; from 0 on.

    Raises:
      ValueError: it is no interval, or its end is before its start.
    """
    return _parsed(interval_str, parse_readable_size_str)


def _parsed(text: str, parse: Callable[[str], int]) -> Interval:
    text = text.strip()
    one, two = _ONE_SIDED.fullmatch(text), _TWO_SIDED.fullmatch(text)
    if one is not None and one[1] == "<":
        return Interval(0, False, parse(one[3]), bool(one[2]))
    if one is not None:
        return Interval(parse(one[3]), bool(one[2]), float("inf"), False)
    if text[:1] in "<>" and text:
        sign = text[:2] if text[1:2] == "=" else text[0]
        raise ValueError(f"Invalid value string after {sign} in '{text}'")
    if two is None:
        raise ValueError(
            f"Invalid interval format: {text}. Valid formats are: [min, max], "
            "(min, max), <max, >min"
        )
    start, end = parse(two[2]), parse(two[3])
    if start > end:
        raise ValueError(
            f"Invalid interval {text}. Start must be before end of interval."
        )
    return Interval(start, two[1] == "[", end, two[4] == "]")
