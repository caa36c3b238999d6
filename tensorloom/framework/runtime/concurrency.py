"""Threads, locks, the clock and random bits, as the code of a cluster takes them.

What waits, or asks for the time, in masters, workers, clients and locks does it through
this module: `concurrency.Lock()`, `concurrency.monotonic()`. The names are those of
Python. A simulation (`tensorloom/simulate`) puts its own in their place while it runs;
so the names are to be looked up when they are used, not kept.
"""

from __future__ import annotations

import os
import queue
import re
import threading
import time as _time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from _thread import RLock as _RLock
else:
    _RLock = type(threading.RLock())

Condition = threading.Condition
Event = threading.Event
Lock = threading.Lock
RLock = threading.RLock
Semaphore = threading.Semaphore
SimpleQueue = queue.SimpleQueue
Thread = threading.Thread


def randbits(count: int) -> int:
    """A random number of so many bits, as `secrets.randbits`, which loads OpenSSL."""
    drawn = int.from_bytes(os.urandom((count + 7) // 8))
    return drawn >> (-count % 8)


monotonic = _time.monotonic
sleep = _time.sleep
time = _time.time


@contextmanager
def replaced(names: Mapping[str, Any]) -> Iterator[None]:
    """Puts others in the place of some names of this module, within the block."""
    before = {name: globals()[name] for name in names}
    globals().update(names)
    try:
        yield
    finally:
        globals().update(before)


# Python tells the thread that holds a lock to others only so.
_OWNER: Final = re.compile(r"owner=(\d+) ")


class WatchedLock(_RLock):  # type: ignore[misc]
    """A reentrant lock. `with` costs who need not wait hardly more than without it."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: dict[int, float] = {}

    def __enter__(self) -> bool:  # type: ignore[override]
        if self.acquire(False):
            return True
        thread = threading.get_ident()
        self._waiting[thread] = monotonic()
        try:
            return self.acquire()
        finally:
            del self._waiting[thread]

    def holder(self) -> int:
        """The thread that holds it; 0: none does."""
        found = _OWNER.search(repr(self))
        return int(found[1]) if found else 0

    def waiting(self) -> dict[int, float]:
        """The threads that wait, each since when (`monotonic`)."""
        return dict(self._waiting)


def new_lock() -> threading.RLock:
    """A reentrant lock: watched, unless a simulation has put its own in the place."""
    if RLock is threading.RLock:
        return WatchedLock()
    return RLock()
