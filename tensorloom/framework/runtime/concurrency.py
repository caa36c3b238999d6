"""Threads, locks, the clock and random bits, as the code of a cluster takes them.

What waits, or asks for the time, in masters, workers, clients and locks does it through
this module: `concurrency.Lock()`, `concurrency.monotonic()`. The names are those of
Python. A simulation (`tensorloom/simulate`) puts its own in their place while it runs;
so the names are to be looked up when they are used, not kept.
"""

from __future__ import annotations

import queue
import secrets
import threading
import time as _time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

Condition = threading.Condition
Event = threading.Event
Lock = threading.Lock
RLock = threading.RLock
Semaphore = threading.Semaphore
SimpleQueue = queue.SimpleQueue
Thread = threading.Thread

monotonic = _time.monotonic
randbits = secrets.randbits
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
