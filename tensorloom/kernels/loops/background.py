"""The thread that imports numba and compiles loops, while Python serves them.

It begins once loops have computed for a while as Python, ends when all that was asked
for is compiled, and is begun again for more. At the end of the program it is stopped
between two steps of numba; a fork waits until it is between two loops, as the child
would find numba's locks taken.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Final

#: Seconds that loops compute as Python before numba is worth its import.
WORTH_NUMBA_S: Final = 0.05
# A fork does not wait longer: with a disk that hangs it goes on, and compiles nothing.
_MOST_WAIT_S: Final = 30.0

_state = threading.Lock()
# Held while numba works.
_working = threading.Lock()
_wanted: deque[Callable[[], None]] = deque()
_thread: threading.Thread | None = None
_spent_s = 0.0
_is_over = False
_is_held_by_fork = False


def ask(compile_loop: Callable[[], None]) -> None:
    """Wants something compiled."""
    _wanted.append(compile_loop)
    _start_if_worth()


def spent(seconds: float) -> None:
    """Says that a loop computed as Python."""
    global _spent_s
    _spent_s += seconds
    _start_if_worth()


def _start_if_worth() -> None:
    global _thread
    if not _wanted or _spent_s < WORTH_NUMBA_S or _thread is not None or _is_over:
        return
    with _state:
        if _thread is None:
            _thread = threading.Thread(
                target=_work, name="tensorloom-loops", daemon=True
            )
            _thread.start()


def wait() -> None:
    """Waits until all that was wanted so far is compiled, if a thread is at it."""
    thread = _thread
    if thread is not None:
        thread.join()


def _work() -> None:
    global _thread
    while True:
        with _state:
            if not _wanted or _is_over:
                _thread = None
                return
            compile_loop = _wanted.popleft()
        with _working:
            compile_loop()


def _stop() -> None:
    global _is_over
    _is_over = True
    thread = _thread
    if thread is not None and thread.ident is not None:
        # A thread that ran on while the interpreter is taken down would crash in LLVM.
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit)
        )
        thread.join(_MOST_WAIT_S)


def _before_fork() -> None:
    global _is_held_by_fork
    _is_held_by_fork = _working.acquire(timeout=_MOST_WAIT_S)


def _after_in_parent() -> None:
    if _is_held_by_fork:
        _working.release()


def _after_in_child() -> None:
    global _state, _working, _thread, _is_over
    _is_over = _is_over or not _is_held_by_fork
    _state, _working, _thread = threading.Lock(), threading.Lock(), None


atexit.register(_stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_in_parent,
        after_in_child=_after_in_child,
    )
