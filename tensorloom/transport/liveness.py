"""Tasks that stopped answering are found by asking them, while calls wait for them.

A task that was killed hangs up, and its callers hear of it at once. One that was
stopped, or whose network was cut, says nothing. So whoever has waited for a task for a
while asks it for a sign of life; one that gives none within the limit is lost, and the
calls that wait for it fail.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Hashable
from typing import Final, Protocol
from weakref import WeakSet

from tensorloom.framework import threads

#: How long a task may be silent, in seconds; 0: for ever, as TensorFlow's tasks.
TIMEOUT_VARIABLE: Final = "TENSORLOOM_TASK_TIMEOUT_S"
_DEFAULT_TIMEOUT_S: Final = 60.0


def task_timeout_s() -> float:
    """How long a task may be silent.

    Raises:
      ValueError: the environment variable is no number.
    """
    return float(os.environ.get(TIMEOUT_VARIABLE, _DEFAULT_TIMEOUT_S))


class Watched(Protocol):
    """A way to a task, with the calls that are under way on it."""

    def under_way(self) -> set[Hashable]:
        """What stands for the calls."""
        ...

    def gives_sign_of_life(self, timeout_s: float) -> bool:
        """Asks the task anything that it answers at once."""
        ...

    def lose(self, reason: str) -> None:
        """Fails the calls that are under way."""
        ...


class _Watch:
    """One thread for all that is watched."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watched: WeakSet[Watched] = WeakSet()
        self._is_running = False

    def add(self, watched: Watched) -> None:
        """Watches as long as the object lives."""
        limit_s = task_timeout_s()
        if limit_s <= 0:
            return
        with self._lock:
            self._watched.add(watched)
            if self._is_running:
                return
            self._is_running = True
        threading.Thread(
            target=self._run, args=(limit_s,), name="tensorloom-liveness", daemon=True
        ).start()

    def _run(self, limit_s: float) -> None:
        seen: dict[int, set[Hashable]] = {}
        asked: set[int] = set()
        while True:
            time.sleep(min(limit_s / 4, 5.0))
            with self._lock:
                watched = list(self._watched)
                if not watched:
                    self._is_running = False
                    return
            now = {id(one): one.under_way() for one in watched}
            for one in watched:
                waits = not now[id(one)].isdisjoint(seen.get(id(one), ()))
                if waits and id(one) not in asked:
                    asked.add(id(one))
                    threads.start(lambda w=one: _ask(w, limit_s, asked))  # type: ignore[misc]
            seen = now
            del watched, one


def _ask(watched: Watched, limit_s: float, asked: set[int]) -> None:
    suspects = watched.under_way()
    try:
        if not watched.gives_sign_of_life(limit_s / 2) and (
            not suspects.isdisjoint(watched.under_way())
        ):
            watched.lose(f"it has not answered for {limit_s:g} s")
    finally:
        asked.discard(id(watched))


watch: Final = _Watch()
