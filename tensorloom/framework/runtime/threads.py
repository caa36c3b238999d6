"""Threads for pieces and segments: reused, and as many as wait at one time.

A fixed pool would deadlock: every thread of it could be waiting in a queue for what
the next task brings. An idle thread ends after a while.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import Final

IDLE_SECONDS: Final = 10.0

#: A thread's tasks; None ends it.
_Inbox = queue.SimpleQueue[Callable[[], None] | None]

_idle: queue.LifoQueue[_Inbox] = queue.LifoQueue()


def start(task: Callable[[], None]) -> None:
    """Runs `task` in another thread, an idle one if there is one.

    The task must not raise. At the end of the process nothing is run any more.
    """
    try:
        inbox = _idle.get_nowait()
    except queue.Empty:
        if sys.is_finalizing():  # a new thread would never say that it has begun
            return
        inbox = queue.SimpleQueue()
        inbox.put(task)
        threading.Thread(target=_serve, args=(inbox,), daemon=True).start()
    else:
        inbox.put(task)


def retire_idle() -> None:
    """Ends the threads that have no task; later tasks get new ones.

    A thread keeps the priority of the one that started it.
    """
    while True:
        try:
            _idle.get_nowait().put(None)
        except queue.Empty:
            return


def _serve(inbox: _Inbox) -> None:
    while True:
        try:
            task = inbox.get(timeout=IDLE_SECONDS)
        except queue.Empty:
            if _retire(inbox):
                return
            continue
        if task is None:
            return
        task()
        del task  # it may hold a step's values
        _idle.put(inbox)


def _retire(inbox: _Inbox) -> bool:
    """Takes an idle inbox out of the stack; False if another thread just took it."""
    with _idle.mutex:
        if inbox not in _idle.queue:
            return False
        _idle.queue.remove(inbox)
        return True


def _forget_threads() -> None:
    """A forked process has the inboxes, but not the threads."""
    global _idle
    _idle = queue.LifoQueue()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
