"""The steps of a task that other tasks take part in."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tensorloom.framework import errors
from tensorloom.framework.runtime.resource import ResourceManager
from tensorloom.worker.run.step_table import StepTable
from tensorloom.worker.run.worker import Worker

HERE = "/job:ps/replica:0/task:0"
THERE = "/job:worker/replica:0/task:%d"
KEY = "%s/device:CPU:0;0000000000000001;%s/device:CPU:0;edge_%d;0:0"


def key_from(index: int, edge: int = 0) -> str:
    return KEY % (THERE % index, HERE, edge)


def received(table: StepTable, step_id: int, key: str) -> list[Any]:
    """What comes, or why nothing does."""
    outcome: list[Any] = []
    rendezvous = table.rendezvous(step_id)
    rendezvous.pushes = True
    rendezvous.recv_async(key, lambda value, _: outcome.append(value))
    return outcome


def test_who_waits_for_a_lost_task_hears_of_it() -> None:
    table = StepTable(HERE)
    waits = received(table, 1, key_from(0))
    other = received(table, 2, key_from(1))
    table.lose(THERE % 0)
    (error,) = waits
    assert isinstance(error, errors.UnavailableError)
    assert f"{THERE % 0} has hung up on {HERE}" in error.message
    assert not other
    # The second step comes to what it needs of the lost task only now.
    (error,) = received(table, 2, key_from(0))
    assert isinstance(error, errors.UnavailableError)


def test_what_came_before_is_kept() -> None:
    table = StepTable(HERE)
    table.rendezvous(1).deliver(key_from(0), "value", False)
    table.lose(THERE % 0)
    assert received(table, 1, key_from(0)) == ["value"]
    # A step that begins later gets what the task pushes on its next connection.
    waits = received(table, 2, key_from(0))
    table.rendezvous(2).deliver(key_from(0), "value", False)
    assert waits == ["value"]


def test_what_is_asked_for_is_not_lost() -> None:
    """Only who is pushed to depends on the connection that has ended."""
    table = StepTable(HERE, peers=_Asked())
    outcome: list[Any] = []
    table.rendezvous(1).recv_async(key_from(0), lambda value, _: outcome.append(value))
    table.lose(THERE % 0)
    assert not outcome


@pytest.mark.parametrize("end", [StepTable.fail, StepTable.abort])
def test_a_step_that_begins_after_its_end_is_cancelled(end: Any) -> None:
    """A caller may hang up, or a peer fail, while the step is about to begin."""
    table = StepTable(HERE)
    if end is StepTable.abort:
        table.rendezvous(1)  # it ends only what is known here
    error = errors.UnavailableError(None, None, "gone")
    end(table, 1, error)
    step = table.begin(1, ResourceManager())
    assert step.cancellation.cause is error
    assert table.begin(2, ResourceManager()).cancellation.cause is None


def test_a_worker_is_told_of_the_end_before_the_step_begins() -> None:
    worker = Worker(HERE, [])
    error = errors.AbortedError(None, None, "the master has hung up")
    worker.abort_step(1, error)
    assert worker.steps.begin(1, ResourceManager()).cancellation.cause is error


class _Asked:
    """A peer that is asked for tensors, and never has them."""

    def recv_tensors(self, *_: Any) -> Any:
        return lambda: None

    def push_tensors(self, *_: Any) -> None:
        raise AssertionError

    def push_failure(self, *_: Any) -> None:
        raise AssertionError


@pytest.mark.parametrize("repeat", range(20))
def test_a_loss_beside_a_receive(repeat: int) -> None:
    """Whichever comes first, the receiver hears of the loss or of the value."""
    table = StepTable(HERE)
    table.rendezvous(1).pushes = True
    table.rendezvous(1)
    heard = threading.Event()
    start = threading.Barrier(2)

    def lose() -> None:
        start.wait()
        table.lose(THERE % 0)

    thread = threading.Thread(target=lose)
    thread.start()
    start.wait()
    table.rendezvous(1).recv_async(key_from(0), lambda *_: heard.set())
    thread.join()
    assert heard.is_set()
