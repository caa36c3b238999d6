"""Who is asked for a sign of life, and who is given up."""

from __future__ import annotations

import threading
from collections.abc import Hashable

import pytest

from tensorloom.transport.peers import liveness


class Task:
    """A way to a task that answers, or does not."""

    def __init__(self, is_alive: bool, calls: set[Hashable]) -> None:
        self._is_alive = is_alive
        self._calls = calls
        self.asked = threading.Event()
        self.lost = threading.Event()
        self.tidied = threading.Event()
        self.reason = ""

    def in_flight(self) -> set[Hashable]:
        return set(self._calls)

    def close_unused(self) -> None:
        self.tidied.set()

    def answers_ping(self, timeout_s: float) -> bool:
        self.asked.set()
        return self._is_alive

    def lose(self, reason: str) -> None:
        self.reason = reason
        self.lost.set()


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> liveness._Watch:
    monkeypatch.setattr(liveness, "task_timeout_s", lambda: 0.2)
    return liveness._Watch()


def test_a_silent_task_is_lost(watch: liveness._Watch) -> None:
    silent, alive, idle = Task(False, {1}), Task(True, {1}), Task(False, set())
    for task in (silent, alive, idle):
        watch.add(task)
    assert silent.lost.wait(60)
    assert "has not answered for 0.2 s" in silent.reason
    assert alive.asked.wait(60)
    assert not alive.lost.is_set()
    assert not idle.asked.is_set()  # nobody waits for it


def test_calls_that_have_ended_meanwhile(watch: liveness._Watch) -> None:
    """The task was slow to say so, but what was waited for has come."""

    class Slow(Task):
        def answers_ping(self, timeout_s: float) -> bool:
            self._calls = {object()}  # never the same, however often it is asked
            return super().answers_ping(timeout_s)

    task = Slow(False, {1})
    watch.add(task)
    assert task.asked.wait(60)
    task._calls = set()
    assert not task.lost.wait(0.3)


def test_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is asked; what nobody uses is closed all the same."""
    monkeypatch.setenv(liveness.TIMEOUT_VARIABLE, "0")
    monkeypatch.setattr(liveness, "_PERIOD_S", 0.02)
    watch, task = liveness._Watch(), Task(False, {1})
    watch.add(task)
    assert task.tidied.wait(60)
    assert not task.asked.wait(0.2)
