"""Keys and strings of a bundle: as messages show them, and as they are hashed."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any


def key_text(key: bytes) -> str:
    """A key as messages show it."""
    return key.decode("utf-8", "backslashreplace")


def length_bytes(length: int) -> bytes:
    """What is hashed for the length of a string."""
    return struct.pack("<I" if length < 1 << 32 else "<Q", length)


def as_bytes(items: Iterable[Any]) -> list[bytes]:
    """The strings of an object array as bytes."""
    return [x.encode() if isinstance(x, str) else bytes(x) for x in items]
