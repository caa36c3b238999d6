"""Pausing Python's cycle collector while many objects are made that all stay.

Preparing a step makes some dozens of objects for each node, and none of them is garbage
before the end. The collector would walk the whole program's objects again and again
meanwhile, which doubles the time of a first run.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_pauses = 0  # how many threads are inside of `collection_paused`
_was_enabled = False


@contextmanager
def collection_paused() -> Iterator[None]:
    """No collection in the `with` block, in any thread; then as it was before."""
    global _pauses, _was_enabled
    with _lock:
        if _pauses == 0:
            _was_enabled = gc.isenabled()
            gc.disable()
        _pauses += 1
    try:
        yield
    finally:
        with _lock:
            _pauses -= 1
            if _pauses == 0 and _was_enabled:
                gc.enable()
