"""Threads that wait for disks: parts of large tensors are read and written by them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")

_THREADS = 4

_pool: ThreadPoolExecutor | None = None
_lock = threading.Lock()


def submit(function: Callable[..., T], *arguments: Any) -> Future[T]:
    """Calls a function in one of the threads, which may not wait for another of them.

    At the interpreter's end, where no thread takes anything on, it is called at once.
    """
    try:
        return _threads().submit(function, *arguments)
    except RuntimeError:
        return _call(function, *arguments)


def _call(function: Callable[..., T], *arguments: Any) -> Future[T]:
    future: Future[T] = Future()
    try:
        future.set_result(function(*arguments))
    except Exception as error:
        future.set_exception(error)
    return future


def _threads() -> ThreadPoolExecutor:
    """The threads; kept, since starting them costs more than a small read."""
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
