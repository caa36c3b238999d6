"""Fewer threads for torch while other processes want the cores."""

from __future__ import annotations

import threading

import pytest

from tensorloom.worker.run.torch_threads import (
    FIRST_PAUSE_S,
    LAST_PAUSE_S,
    WINDOW_S,
    TorchThreads,
    once_in_each_thread,
)


class Machine:
    """A clock, a counter of lost cores, and torch's number of threads."""

    def __init__(self) -> None:
        self.now = 0.0
        self.lost = 0.0
        self.computed = 0.0
        self.count = 4
        self.threads = TorchThreads(
            4,
            self._set_count,
            lambda: int(self.lost),
            lambda: self.now,
            lambda: self.computed,
        )

    def _set_count(self, count: int) -> None:
        self.count = count

    def run(
        self,
        seconds: float,
        lost_per_s: float,
        step_of_all: float = 0.02,
        share: float = 1.0,
    ) -> dict[int, float]:
        """Steps for that long; how long each number of threads was used.

        A step takes 0.002 s on one thread. `share` of the time the process computes.
        """
        used = {1: 0.0, 4: 0.0}
        end = self.now + seconds
        while self.now < end:
            self.threads.adjust()
            step = 0.002 if self.count == 1 else step_of_all
            used[self.count] += step
            self.now += step
            self.computed += share * step
            self.lost += lost_per_s * step
        return used


@pytest.fixture
def machine() -> Machine:
    return Machine()


def test_alone_on_its_cores_nothing_changes(machine: Machine) -> None:
    assert machine.run(10.0, lost_per_s=50)[1] == 0.0


def test_mostly_one_thread_while_cores_are_lost(machine: Machine) -> None:
    used = machine.run(60.0, lost_per_s=300)
    assert used[1] > 0.9 * 60


def test_one_thread_where_the_process_hardly_gets_a_core(machine: Machine) -> None:
    used = machine.run(60.0, lost_per_s=100, share=0.25)
    assert used[1] > 0.9 * 60


def test_steps_of_all_threads_that_take_seconds_are_few(machine: Machine) -> None:
    used = machine.run(300.0, lost_per_s=300, step_of_all=3.0)
    assert used[4] < 0.15 * 300


def test_all_threads_where_one_is_no_faster(machine: Machine) -> None:
    used = machine.run(60.0, lost_per_s=300, step_of_all=0.001)
    assert used[4] > 0.45 * 60


def test_all_threads_again_when_the_neighbour_is_gone(machine: Machine) -> None:
    machine.run(60.0, lost_per_s=300)
    machine.run(2 * FIRST_PAUSE_S + WINDOW_S, lost_per_s=0)
    assert machine.run(10.0, lost_per_s=0)[1] == 0.0


def test_every_calling_thread_gets_its_threads_back(machine: Machine) -> None:
    machine.run(3 * WINDOW_S, lost_per_s=1000)
    other = threading.Thread(target=machine.threads.adjust)
    other.start()
    other.join()
    machine.run(LAST_PAUSE_S + WINDOW_S, lost_per_s=0)
    assert machine.count == 4


def test_determinism_means_all_threads(machine: Machine) -> None:
    machine.threads.stop()
    assert machine.run(1.0, lost_per_s=1000)[1] == 0.0


def test_each_thread_is_told_once() -> None:
    told: list[str] = []
    tell = once_in_each_thread(lambda: told.append(threading.current_thread().name))

    def steps() -> None:
        for _ in range(3):
            tell()

    for name in ("a", "b"):
        thread = threading.Thread(target=steps, name=name)
        thread.start()
        thread.join()
    assert told == ["a", "b"]
