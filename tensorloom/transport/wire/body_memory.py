"""Reuses the memory of large bodies that are received.

Fresh memory takes as long as what is copied into it: the kernel zeroes it first. Steps
receive bodies of the same sizes, so the memory of one that nobody needs any more is
kept for the next.
"""

from __future__ import annotations

import weakref
from collections import deque
from contextlib import suppress
from typing import Any, Final

import numpy as np

# Smaller ones come from memory that the process keeps anyway.
_MIN_BYTES: Final = 1 << 20
# So much is kept, in all: idle tasks must not hold gigabytes.
_KEPT_BYTES: Final = 256 << 20

Bytes = np.ndarray[Any, Any]  # of uint8

# Oldest first. Finalizers come at any time, in any thread, so there is no lock: each
# change is one operation of the deque.
_spare: Final[deque[Bytes]] = deque()


def new_body(size: int) -> Bytes:
    """An array of `size` bytes; its memory is used again once the array is gone.

    Raises:
      MemoryError: there is not as much memory.
    """
    if size < _MIN_BYTES:
        return np.empty(size, np.uint8)
    memory = _fitting(size)
    if memory is None:
        memory = np.empty(size, np.uint8)
    body = np.frombuffer(memory.data, np.uint8, size)  # has the views of it as users
    weakref.finalize(body, _keep, memory).atexit = False
    return body


def _fitting(size: int) -> Bytes | None:
    for _ in range(len(_spare)):
        try:
            memory = _spare.popleft()
        except IndexError:
            return None
        if size <= len(memory) <= 2 * size:
            return memory
        _spare.append(memory)
    return None


def _keep(memory: Bytes) -> None:
    if len(memory) > _KEPT_BYTES:
        return
    _spare.append(memory)
    while sum(map(len, list(_spare))) > _KEPT_BYTES:
        with suppress(IndexError):  # others take from it, too
            _spare.popleft()
