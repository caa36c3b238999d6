"""Threads that work when nobody else wants the cores."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import threading
from collections.abc import Callable
from typing import Final

_logger = logging.getLogger("tensorloom.serving")
#: What Linux is told; on other systems the whole process would become nicer.
NICENESS: Final = 10


class LowPriorityThreads:
    """Runs tasks in order of their coming, in threads of their own."""

    def __init__(self, count: int, name: str) -> None:
        self._tasks: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._serve, name=f"{name}-{i}", daemon=True)
            for i in range(max(1, count))
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, task: Callable[[], None]) -> None:
        """Runs `task` later; it must not raise."""
        self._tasks.put(task)

    @property
    def has_more(self) -> bool:
        """Whether further tasks wait."""
        return not self._tasks.empty()

    def stop(self, timeout_s: float) -> None:
        """Ends the threads after what is under way; waits for that so long."""
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join(timeout_s)

    def _serve(self) -> None:
        if hasattr(os, "sched_getscheduler"):  # where a thread has its own niceness
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
        while True:
            task = self._tasks.get()
            if task is None:
                return
            try:
                task()
            except Exception:
                _logger.exception(
                    "A task of %s failed", threading.current_thread().name
                )
            del task  # it may hold a model
