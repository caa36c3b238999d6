"""Detects tasks that stopped answering, by pinging them while calls wait for them.

The connections of a task that was killed are closed, and its callers notice at once. A
task that was stopped, or whose network was cut, sends nothing. So a caller that has
waited for a while pings the task. A task that does not answer within the limit counts
as lost, and the calls that wait for it fail.

The same rounds close idle connections that a burst of calls has left behind.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Hashable, Sequence
from typing import Final, Protocol
from weakref import WeakSet

from tensorloom.framework.runtime import threads

#: How long a task may be silent, in seconds; 0: without limit, as TensorFlow's tasks.
TIMEOUT_VARIABLE: Final = "TENSORLOOM_TASK_TIMEOUT_S"
_DEFAULT_TIMEOUT_S: Final = 60.0
# Channels are looked at so often, or more often if the limit is short.
_PERIOD_S: Final = 5.0


def task_timeout_s() -> float:
    """How long a task may be silent.

    Raises:
      ValueError: the environment variable is no number.
    """
    return float(os.environ.get(TIMEOUT_VARIABLE, _DEFAULT_TIMEOUT_S))


class Watched(Protocol):
    """A way to a task, with the calls that are under way on it."""

    def in_flight(self) -> set[Hashable]:
        """The calls in flight."""
        ...

    def answers_ping(self, timeout_s: float) -> bool:
        """Pings the task; True if it answers within the time."""
        ...

    def lose(self, reason: str) -> None:
        """Fails the calls that are under way."""
        ...

    def close_unused(self) -> None:
        """Closes connections that no call has needed for a while."""
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
        with self._lock:
            self._watched.add(watched)
            if self._is_running:
                return
            self._is_running = True
        threading.Thread(
            target=self._run, args=(limit_s,), name="tensorloom-liveness", daemon=True
        ).start()

    def _run(self, limit_s: float) -> None:
        asks = _Asks(limit_s) if limit_s > 0 else None
        period_s = min(limit_s / 4, _PERIOD_S) if limit_s > 0 else _PERIOD_S
        while True:
            time.sleep(period_s)
            with self._lock:
                watched = list(self._watched)
                if not watched:
                    self._is_running = False
                    return
            for one in watched:
                one.close_unused()
            if asks is not None:
                asks.look(watched)
            del watched, one


class _Asks:
    """Pings the tasks that calls have waited for since the last round."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._seen: dict[int, set[Hashable]] = {}
        self._asked: set[int] = set()

    def look(self, watched: Sequence[Watched]) -> None:
        """Looks at the calls under way."""
        now = {id(one): one.in_flight() for one in watched}
        for one in watched:
            waits = not now[id(one)].isdisjoint(self._seen.get(id(one), ()))
            if waits and id(one) not in self._asked:
                self._asked.add(id(one))
                threads.start(lambda w=one: self._ask(w))  # type: ignore[misc]
        self._seen = now

    def _ask(self, watched: Watched) -> None:
        suspects = watched.in_flight()
        try:
            if not watched.answers_ping(self._limit_s / 2) and (
                not suspects.isdisjoint(watched.in_flight())
            ):
                watched.lose(f"it has not answered for {self._limit_s:g} s")
        finally:
            self._asked.discard(id(watched))


watch: Final = _Watch()
