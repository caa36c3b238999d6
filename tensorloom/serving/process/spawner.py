"""A thread that starts processes.

A process has the priority of the thread that started it, and ends with that thread, as
`boot.py` asks the system. The threads that load have a low priority; this one has the
server's, and lives as long.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any


class Spawner:
    """Runs calls in one thread, which it starts for the first of them."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        # Made now, by a thread of the usual priority.
        self._thread = threading.Thread(
            target=self._serve, name="tensorloom-spawn", daemon=True
        )
        self._thread.start()

    def call(self, function: Callable[[], Any]) -> Any:
        """What `function` returns, or raises, in the thread."""
        future: Future[Any] = Future()

        def run() -> None:
            try:
                future.set_result(function())
            except BaseException as error:
                future.set_exception(error)

        self._calls.put(run)
        return future.result()

    def stop(self) -> None:
        """Ends the thread, and what it started."""
        self._calls.put(None)
        self._thread.join()

    def _serve(self) -> None:
        while True:
            call = self._calls.get()
            if call is None:
                return
            call()
            del call
