"""Streams are read ahead of those who use them, when these are late.

Who waits for a stream polls it. A thread that did it always would have to be woken, and
wake the other, with each message; so it comes only after a while.
"""

from __future__ import annotations

import threading
import time
from typing import Final, Protocol

from tensorloom.framework import threads

#: A thread comes to a stream whose user has turned to something else for so long.
LATE_S: Final = 0.05


class Unread(Protocol):
    """A stream that somebody is to read later."""

    def read_ahead(self) -> None:
        """Polls it until there is something, or tells of its end."""
        ...


class _Late:
    """One thread that looks who is late."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watched: dict[Unread, float] = {}
        self._is_running = False

    def add(self, stream: Unread) -> None:
        """Watches a stream until `forget`."""
        with self._lock:
            self._watched[stream] = time.monotonic()
            if not self._is_running:
                self._is_running = True
                threads.start(self._run)

    def forget(self, stream: Unread) -> None:
        """Somebody reads from it again."""
        with self._lock:
            self._watched.pop(stream, None)

    def _run(self) -> None:
        idle_since = time.monotonic()
        while True:
            time.sleep(LATE_S)
            now = time.monotonic()
            with self._lock:
                is_watching = bool(self._watched)
                late = [s for s, at in self._watched.items() if now - at > LATE_S]
                for stream in late:
                    del self._watched[stream]
                if is_watching:
                    idle_since = now
                elif now - idle_since > threads.IDLE_SECONDS:
                    self._is_running = False
                    return
            for stream in late:
                threads.start(stream.read_ahead)
            late.clear()


late: Final = _Late()
