"""Tells running tasks where those have gone that were started again elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from tensorloom.framework import errors

if TYPE_CHECKING:
    from tensorloom.cluster.launch.job import Task

_AGAIN_S: Final = 0.5
_CALL_S: Final = 5.0


class Announcer:
    """A thread that brings each task's knowledge up to date, until the task knows.

    A task of a program that has not made its server yet is asked again; a task of
    TensorFlow cannot be told.
    """

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._addresses: dict[Task, str] = {}
        # What each running task knows.
        self._known: dict[Task, dict[Task, str]] = {}
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def started(self, task: Task, addresses: Mapping[Task, str]) -> None:
        """A task was started with these addresses, its own among them."""
        with self._mutex:
            self._addresses = dict(addresses)
            self._known[task] = dict(addresses)
            if self._thread is None and any(self._stale()):
                self._thread = threading.Thread(target=self._tell, daemon=True)
                self._thread.start()

    def ended(self, task: Task) -> None:
        """A task is gone: it is told nothing more."""
        with self._mutex:
            self._known.pop(task, None)

    def close(self) -> None:
        """Ends the thread."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join()

    def _stale(self) -> list[tuple[Task, dict[Task, str]]]:
        """Who does not know what."""
        found = []
        for task, known in self._known.items():
            news = {
                other: address
                for other, address in self._addresses.items()
                if other != task and known.get(other) != address
            }
            if news:
                found.append((task, news))
        return found

    def _tell(self) -> None:
        from tensorloom.cluster.control import update_server

        while not self._closed.wait(_AGAIN_S):
            with self._mutex:
                stale = self._stale()
            for task, news in stale:
                cluster: dict[str, dict[int, str]] = {}
                for other, address in news.items():
                    cluster.setdefault(other.job, {})[other.index] = address
                with suppress(errors.OpError):
                    update_server(self._addresses[task], cluster, _CALL_S)
                    with self._mutex:
                        if task in self._known:
                            self._known[task].update(news)
