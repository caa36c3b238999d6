"""Example messages in JSON, as bytes, in the form in which TensorFlow writes them.

It writes each number of a list by itself, and features in the order in which they come.
"""

from __future__ import annotations

import base64
import json
import math
import re
import struct
from collections.abc import Callable
from typing import Any, Final, Never

_KEY, _VALUE = b"\x0a", b"\x12"
_FLOATS: Final = {s: float(s) for s in ("NaN", "Infinity", "-Infinity")}
_INTEGER: Final = re.compile(r"0|-?[1-9]\d{0,18}", re.ASCII)
_DECIMAL: Final = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_STANDARD: Final = bytes.maketrans(b"-_", b"+/")
_pack_float = struct.Struct("<f").pack


class Unusual(ValueError):
    """This text needs a closer look: it may be wrong."""


def serialized(text: bytes) -> bytes:
    """An Example message from its usual form in JSON.

    Raises:
      Unusual: it is written otherwise, or no Example.
    """
    try:
        example = _decoder.decode(text.decode())
        if example is None:
            raise Unusual
        features = _only(example, "features")
        if features is None:
            return b""
        return _field(_KEY, _entries(_only(features, "feature")))
    except (ValueError, OverflowError, RecursionError):
        raise Unusual from None


def _entries(features: Any) -> bytes:
    if features is None:
        return b""
    if type(features) is not dict:
        raise Unusual
    return b"".join([_entry(*item) for item in features.items()])


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Unusual
    return found


def _no_constant(name: str) -> Never:
    raise Unusual


_decoder: Final = json.JSONDecoder(
    object_pairs_hook=_distinct, parse_constant=_no_constant
)


def _only(value: Any, key: str) -> Any:
    """The member of an object that has only that one; None if there is nothing."""
    if value is None or value == {}:
        return None
    if type(value) is not dict or list(value) != [key]:
        raise Unusual
    return value[key]


def _field(tag: bytes, body: bytes) -> bytes:
    return tag + _varint(len(body)) + body


def _varint(value: int) -> bytes:
    if value < 0x80:
        return bytes((value,))
    parts = []
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*parts, value))


def _entry(name: str, feature: Any) -> bytes:
    entry = _field(_KEY, name.encode())
    if feature is None:
        return _field(_KEY, entry)
    return _field(_KEY, entry + _field(_VALUE, _feature(feature)))


def _feature(feature: Any) -> bytes:
    if feature == {}:
        return b""
    if type(feature) is not dict or len(feature) > 1:
        raise Unusual
    ((kind, holder),) = feature.items()
    if kind not in _KINDS:
        raise Unusual
    if holder is None:
        return b""
    tag, write = _KINDS[kind]
    values = _only(holder, "value")
    if values is not None and type(values) is not list:
        raise Unusual
    return _field(tag, b"".join(map(write, values or ())))


def _integer(value: Any) -> bytes:
    is_text = type(value) is str and _INTEGER.fullmatch(value)
    if is_text or (type(value) is float and value.is_integer()):
        value = int(value)
    if type(value) is not int or not -(1 << 63) <= value < 1 << 63:
        raise Unusual
    return b"\x08" + _varint(value & (1 << 64) - 1)


def _float(value: Any) -> bytes:
    if type(value) is str:
        if value in _FLOATS:
            return b"\x0d" + _pack_float(_FLOATS[value])
        value = _number(value)
    # Of larger integers, TensorFlow refuses those that are no float32.
    if type(value) is not float and (type(value) is not int or abs(value) > 1 << 24):
        raise Unusual
    if math.isinf(value):  # digits beyond the range of a double
        raise Unusual
    return b"\x0d" + _pack_float(value)


def _number(text: str) -> float:
    if not _DECIMAL.fullmatch(text):
        raise Unusual
    return float(text)


def _bytes(value: Any) -> bytes:
    if type(value) is not str:
        raise Unusual
    bare = value.rstrip("=").encode().translate(_STANDARD)
    return _field(_KEY, base64.b64decode(bare + b"=" * (-len(bare) % 4), validate=True))


_Writer = Callable[[Any], bytes]
# The tag of each list, and what writes one of its values.
_KINDS: Final[dict[str, tuple[bytes, _Writer]]] = {
    "bytesList": (b"\x0a", _bytes),
    "bytes_list": (b"\x0a", _bytes),
    "floatList": (b"\x12", _float),
    "float_list": (b"\x12", _float),
    "int64List": (b"\x1a", _integer),
    "int64_list": (b"\x1a", _integer),
}
