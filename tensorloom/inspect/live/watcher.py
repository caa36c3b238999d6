"""Asks all tasks of a cluster what they do, again and again.

The tasks count nothing for it that they do not count anyway: how long somebody waits,
and how many steps a second there are, comes of looking twice.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from tensorloom.framework import errors

_ANSWER_S: Final = 5.0  # how long a task may take to answer

Ask = Callable[[], dict[str, Any]]


class Watcher:
    """Knows the last state of each task. Thread-safe."""

    def __init__(self, tasks: Mapping[str, Ask], period_s: float = 1.0) -> None:
        """Makes a watcher.

        Args:
          tasks: by name the function that asks for the task's state; it raises
            `errors.OpError` where the task does not answer.
          period_s: how often the tasks are asked.
        """
        self._tasks = dict(tasks)
        self._period_s = period_s
        # When each wait was seen first, and the last counts of steps and bytes.
        self._since: dict[tuple[Any, ...], float] = {}
        self._seen: set[tuple[Any, ...]] = set()  # at this look
        self._counts: dict[tuple[str, ...], tuple[float, float]] = {}
        self._state: dict[str, Any] = {"number": 0, "tasks": []}
        self._changed = threading.Condition()
        self._closed = threading.Event()
        self._thread = threading.Thread(
            target=self._watch, name="tensorloom-dashboard", daemon=True
        )

    def start(self) -> None:
        """Begins to ask."""
        self._thread.start()

    def close(self) -> None:
        """Ends the asking; who waits for a state gets the last one."""
        self._closed.set()
        with self._changed:
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def is_closed(self) -> bool:
        """Whether it asks no more."""
        return self._closed.is_set()

    def state_after(self, number: int, timeout_s: float) -> dict[str, Any]:
        """The state once it is newer than that of a number, or time is over."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._state["number"] > number or self._closed.is_set(),
                timeout_s,
            )
            return self._state

    def _watch(self) -> None:
        with ThreadPoolExecutor(max_workers=max(1, len(self._tasks))) as pool:
            while not self._closed.is_set():
                self.look(pool)
                self._closed.wait(self._period_s)

    def look(self, pool: ThreadPoolExecutor) -> None:
        """Asks all tasks once."""
        answers = dict(
            zip(self._tasks, pool.map(_asked, self._tasks.values()), strict=True)
        )
        now = time.monotonic()
        tasks = [self._told(name, answer, now) for name, answer in answers.items()]
        self._forget(now)
        with self._changed:
            number = self._state["number"] + 1
            self._state = {"number": number, "time": time.time(), "tasks": tasks}
            self._changed.notify_all()

    def _told(self, name: str, answer: dict[str, Any], now: float) -> dict[str, Any]:
        """A task's answer with what comes of earlier ones."""
        told = {"name": name, **answer}
        for session in told.get("sessions", ()):
            session["steps_per_s"] = self._rate(
                (name, "steps", session["session"]), session["steps"], now
            )
        told["bytes_per_s"] = {
            way: self._rate((name, "bytes", way), count, now)
            for way, count in told.get("sent_bytes", {}).items()
        }
        for wait in told.get("waits", ()):
            wait["for_s"] = self._age((name, wait["step"], wait["key"]), now)
        for queue in told.get("queues", ()):
            waits = queue["waiting_to_enqueue"] + queue["waiting_to_dequeue"]
            key = name, "queue", queue["container"], queue["name"]
            queue["for_s"] = self._age(key, now) if waits else 0.0
        for lock in told.get("locks", ()):
            holder = lock["holder"]
            if holder is not None and "for_s" not in holder:
                held = lock["container"], lock["name"], holder["step"], holder["node"]
                holder["for_s"] = self._age((name, "lock", *held), now)
        return told

    def _rate(self, key: tuple[str, ...], count: float, now: float) -> float:
        before, then = self._counts.get(key, (count, now))
        self._counts[key] = count, now
        return max(0.0, count - before) / (now - then) if now > then else 0.0

    def _age(self, key: tuple[Any, ...], now: float) -> float:
        """How long there was this wait at each look, in seconds."""
        first = self._since.get(key, now)
        self._since[key] = first
        self._seen.add(key)
        return now - first

    def _forget(self, now: float) -> None:
        """Forgets waits that are over, and counts that nobody asks for any more."""
        self._since = {k: v for k, v in self._since.items() if k in self._seen}
        self._seen = set()
        self._counts = {k: v for k, v in self._counts.items() if v[1] == now}


def _asked(ask: Ask) -> dict[str, Any]:
    try:
        return ask()
    except errors.OpError as error:
        return {"unreachable": f"{type(error).__name__}: {error.message}"}


def tasks_of(addresses: Mapping[str, str]) -> dict[str, Ask]:
    """How to ask tasks elsewhere, by their addresses."""
    from tensorloom.cluster.task_state import describe_task

    def asker(address: str) -> Ask:
        return lambda: describe_task(address, _ANSWER_S)

    return {name: asker(address) for name, address in addresses.items()}
