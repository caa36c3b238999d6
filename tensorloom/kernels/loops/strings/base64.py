"""Web-safe base 64 of many strings.

All take:
  blob: the bytes of all strings, uint8.
  starts, lengths: of the strings in it, int64 [n], looked at by the caller.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.kernels.loops import loop


@loop
def encode(
    blob: Any, starts: Any, lengths: Any, letters: Any, made: Any, places: Any
) -> None:
    """Base 64 of strings.

    Args:
      letters: for 0 to 63, and what fills a text up to a multiple of four, uint8 [65].
      made: gets the texts, uint8.
      places: where each of them begins in `made`, and where the last ends [n + 1].
    """
    for i in range(len(starts)):
        at, end = starts[i], starts[i] + lengths[i]
        place, stop = places[i], places[i + 1]
        while place < stop:
            bits = 0
            for k in range(3):
                bits = bits << 8 | (blob[at + k] if at + k < end else 0)
            # Of a byte come two letters, of two three.
            used = min(end - at, 3) + 1
            for k in range(min(stop - place, 4)):
                letter = bits >> (18 - 6 * k) & 63
                made[place + k] = letters[letter if k < used else 64]
            at += 3
            place += 4


@loop
def decode(
    blob: Any, starts: Any, lengths: Any, values: Any, made: Any, places: Any
) -> int:
    """What strings are the base 64 of.

    Args:
      lengths: get those of what is made.
      values: of letters, int8 [256]; -1 for a byte that is none.
      made: gets the decoded bytes, uint8.
      places: where those of each begin in `made`, which holds three for each four.

    Returns:
      The place of the first string that is no base 64, or -1.
    """
    for i in range(len(starts)):
        at, size, place = starts[i], lengths[i], places[i]
        if size % 4 == 0:
            for _ in range(2):
                if size and blob[at + size - 1] == 61:  # "="
                    size -= 1
        if size % 4 == 1:
            return i
        bits: Any = 0
        for k in range(size):
            value = np.int64(values[blob[at + k]])
            if value < 0:
                return i
            bits = (bits << 6 | value) & 0xFFFFFF
            if k % 4:
                made[place] = bits >> (4 - 2 * (k % 4 - 1)) & 0xFF
                place += 1
        lengths[i] = place - places[i]
    return -1
