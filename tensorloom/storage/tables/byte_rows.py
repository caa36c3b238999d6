"""Pieces of a file's bytes as rows of one array, where each may have its own length."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

_SPACE = np.uint8(ord(" "))


def rows(data: bytes, places: Any, last: int, width: int) -> Any:
    """The bytes from each place on: uint8 [places, width], an array of its own.

    Behind the end of the data are zeros.

    Args:
      last: no place is behind this one.
    """
    found: Any = _windows(data, places, last, f"V{width}", width).view(np.uint8)
    return found.reshape(-1, width)


def words(data: bytes, places: Any, last: int) -> Any:
    """The eight bytes from each place on: int64 [places], the first byte the lowest."""
    return _windows(data, places, last, "<i8", 8)


def _windows(data: bytes, places: Any, last: int, kind: str, width: int) -> Any:
    if last + width > len(data):
        data += bytes(last + width - len(data))
    every: Any = np.ndarray((len(data) - width + 1,), kind, data, 0, (1,))
    return every[places]


def from_column(columns: Any, width: int) -> Any:
    """Masks of 255 from a row's column on, 0 before: uint8 [columns, width].

    Args:
      columns: integers [columns], from 0 to `width`.
    """
    masks: Any = _masks(width).take(columns).view(np.uint8)
    return masks.reshape(-1, width)


@functools.lru_cache(maxsize=16)
def _masks(width: int) -> Any:
    """The mask from each column on: void [width + 1]."""
    columns = np.arange(width + 1)
    every = np.where(columns[:width] >= columns[:, None], np.uint8(255), np.uint8(0))
    return every.view(f"V{width}")[:, 0]


def split(letters: Any, size: int) -> list[str] | None:
    """The rows as text, without those that are empty.

    Args:
      letters: uint8 [rows, width], with a zero or more behind the text of each.
      size: how long all texts are together.

    Returns:
      None if there are other characters than those of ASCII that can be seen.
    """
    if np.count_nonzero(letters > _SPACE) != size:
        return None
    data = np.maximum(letters, _SPACE).tobytes()
    return data.decode().split() if data.isascii() else None
