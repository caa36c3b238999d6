"""`NumberLists`: nested lists of numbers in a body, read without making the lists.

A picture in JSON is thousands of short lists, which cost more than their numbers. Where
the brackets are those of an array, the numbers alone are decoded, as one list.
"""

from __future__ import annotations

import functools
import secrets
from typing import Any, Final

import numpy as np

try:
    import orjson
except ImportError:
    orjson = None  # type: ignore[assignment]

# What numbers are made of becomes 0; spaces go.
_NUMBER: Final = b"0123456789+-.eE"
_AS_ZEROS: Final = bytes.maketrans(_NUMBER, b"0" * len(_NUMBER))
_SPACES: Final = b" \t\r\n"
# Of brackets, commas and zeros, what no list of numbers or of lists has.
_WRONG: Final = (b"0[", b"]0", b"[]", b"[,", b",,", b",]")
# Stands for the lists while the rest of a body is decoded; no caller can know it.
_PLACE: Final = secrets.token_hex(16)
_PLACE_JSON: Final = f'"{_PLACE}"'.encode()
_KEYS: Final = ("inputs", "instances")
# What NumPy's arrays may have.
_MOST_AXES: Final = 64
# Longer ones are not kept.
_MOST_KEPT_BYTES: Final = 1 << 16
# For shorter ones it is not worth it.
_LEAST_BYTES: Final = 256


class NumberLists:
    """Lists whose elements are numbers, and which are as long as their neighbours."""

    def __init__(self, text: bytes, shape: tuple[int, ...], numbers: list[Any]) -> None:
        """`text`: the lists in JSON; `numbers`: what they hold."""
        self._text, self._shape, self._numbers = text, shape, numbers

    def floats(self, dtype: Any) -> Any:
        """The array of float32 or float64; None: a number is beyond all floats."""
        try:
            with np.errstate(over="ignore"):
                array = np.fromiter(self._numbers, dtype, len(self._numbers))
        except OverflowError:
            return None
        return array.reshape(self._shape)

    def lists(self) -> list[Any]:
        """The lists themselves."""
        found: list[Any] = orjson.loads(self._text)
        return found


def read(body: bytes) -> dict[str, Any] | None:
    """An object whose `inputs` or `instances` are `NumberLists`; None: it is another.

    What is wrong with a body is left to others.
    """
    if orjson is None or len(body) < _LEAST_BYTES:
        return None
    start, end = body.find(b"["), body.rfind(b"]") + 1
    if start < 0:
        return None
    text = body[start:end]
    zeros = text.translate(_AS_ZEROS, _SPACES)
    brackets = zeros.translate(None, b"0")
    is_kept = len(brackets) <= _MOST_KEPT_BYTES
    shape = (_kept_shape_of if is_kept else _shape_of)(brackets)
    if shape is None or any(pair in zeros for pair in _WRONG):
        return None
    try:
        # Whether each run of their characters is a number, the decoder looks at.
        numbers = orjson.loads(b"[" + text.translate(None, b"[]") + b"]")
        found = orjson.loads(body[:start] + _PLACE_JSON + body[end:])
    except ValueError:
        return None
    if not isinstance(found, dict):
        return None
    given = [key for key in _KEYS if key in found]
    is_right = len(given) == 1 and found[given[0]] == _PLACE
    if not is_right or not isinstance(found.get("signature_name", ""), str):
        return None
    found[given[0]] = NumberLists(text, shape, numbers)
    return found


def _shape_of(brackets: bytes) -> tuple[int, ...] | None:
    """The shape of an array with these brackets and commas; None: they are of none."""
    rank = len(brackets) - len(brackets.lstrip(b"["))
    if not 0 < rank <= min(_MOST_AXES, len(brackets) // 2):
        return None
    # The innermost list is as long as its commas say; one around others, as often as
    # the first of them is repeated.
    rest = brackets[rank:]
    sizes = [len(rest) - len(rest.lstrip(b",")) + 1]
    written = b"[" + b"," * (sizes[0] - 1) + b"]"
    for level in range(rank - 1, 0, -1):
        repeats, start = 1, level + len(written)
        while brackets.startswith(b"," + written, start):
            repeats, start = repeats + 1, start + 1 + len(written)
        written = b"[" + b",".join([written] * repeats) + b"]"
        sizes.append(repeats)
    return tuple(reversed(sizes)) if written == brackets else None


_kept_shape_of = functools.lru_cache(64)(_shape_of)
