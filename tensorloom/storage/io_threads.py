"""Threads that wait for disks: parts of large tensors are read and written by them."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

_THREADS = 4

_pool: ThreadPoolExecutor | None = None
_lock = threading.Lock()


def io_threads() -> ThreadPoolExecutor:
    """The threads; kept, since starting them costs more than a small read.

    What is handed to them may not wait for anything else that is.
    """
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(_THREADS, "tensorloom-io")
        return _pool


def _forget_pool() -> None:
    """A forked process has the object, but not the threads."""
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


os.register_at_fork(after_in_child=_forget_pool)
