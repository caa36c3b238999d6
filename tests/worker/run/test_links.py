"""A step's rendezvous that exchanges tensors on the connection of a call."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tensorloom.framework import errors
from tensorloom.framework.runtime.cancellation import CancellationManager
from tensorloom.worker.run.step_table import StepRendezvous

if TYPE_CHECKING:
    from tensorloom.transport.wire.value_methods import Sent

PS = "/job:ps/replica:0/task:0"
WORKER = "/job:worker/replica:0/task:0"
FROM = f"{PS}/device:CPU:0;0000000000000001;{WORKER}/device:CPU:0;edge_%s;0:0"
TO = f"{WORKER}/device:CPU:0;0000000000000001;{PS}/device:CPU:0;edge_%s;0:0"
CANCELLED = errors.CancelledError(None, None, "it was cancelled")


class Link:
    """A link whose other end is the test."""

    def __init__(self) -> None:
        self.is_open = True
        self.takes = 1000  # how many pushes it takes
        self.sends = True
        self.pushed: list[Sent] = []
        self.coming: queue.SimpleQueue[list[Sent] | None] = queue.SimpleQueue()
        self.waits = threading.Event()

    def push(self, tensors: Sequence[Sent]) -> bool:
        self.takes -= 1
        if self.takes < 0:
            return False
        self.pushed += tensors
        return True

    def take(self) -> list[Sent]:
        self.waits.set()
        came = self.coming.get()
        if came is None:
            self.is_open = False
            return []
        return came

    def wake(self) -> None:
        self.coming.put([])


class Peers:
    """Notes what is pushed past the link."""

    def __init__(self) -> None:
        self.pushed: list[Sent] = []

    def push_tensors(self, task: str, step_id: int, tensors: Sequence[Sent]) -> None:
        assert task == PS
        self.pushed += tensors


def rendezvous(peers: Any = None) -> tuple[StepRendezvous, Any]:
    if peers is None:
        peers = Peers()
    made = StepRendezvous(WORKER, 7, peers)
    made.pushes = True
    link: Any = Link()
    made.link(PS, link)
    return made, link


def test_tensors_are_taken_by_who_waits() -> None:
    step, link = rendezvous()
    link.coming.put([(FROM % "b", 2, False)])
    link.coming.put([])
    link.coming.put([(FROM % "a", 1, False), (FROM % "c", 3, False)])
    assert [step.recv(FROM % name) for name in "abc"] == [1, 2, 3]


def test_the_rest_comes_as_pushes_do() -> None:
    step, link = rendezvous()
    link.coming.put(None)
    thread = threading.Thread(target=lambda: step.deliver(FROM % "a", 1, False))
    thread.start()
    assert step.recv(FROM % "a") == 1
    thread.join()


def test_what_others_send_is_not_looked_for_at_the_link() -> None:
    step, link = rendezvous()
    other = FROM.replace("task:0/", "task:1/", 1) % "a"
    step.deliver(other, 1, False)
    assert step.recv(other) == 1
    assert not link.waits.is_set()


def _abort(step: StepRendezvous, cancellation: CancellationManager) -> None:
    step.abort(CANCELLED)


def _cancel(step: StepRendezvous, cancellation: CancellationManager) -> None:
    cancellation.cancel(CANCELLED)


@pytest.mark.parametrize("end", [_abort, _cancel])
@pytest.mark.parametrize("before", [True, False])
def test_the_step_ends_while_it_is_waited_for(
    end: Callable[[StepRendezvous, CancellationManager], None], before: bool
) -> None:
    step, link = rendezvous()
    cancellation = CancellationManager()

    def run() -> None:
        if not before:
            link.waits.wait()
        end(step, cancellation)

    thread = threading.Thread(target=run)
    thread.start()
    if before:
        thread.join()
    with pytest.raises(errors.CancelledError):
        step.recv(FROM % "a", cancellation)
    thread.join()


def test_an_unlinked_rendezvous_leaves_the_connection_alone() -> None:
    step, link = rendezvous()
    step.unlink()
    step.abort(CANCELLED)
    assert link.coming.empty()


def test_pushes() -> None:
    peers: Any = Peers()
    step, link = rendezvous(peers)
    link.takes = 2
    for name in "abc":
        step.send_later(TO % name, np.float32(1))
        step.flush()
    assert [key for key, _, _ in link.pushed] == [TO % "a", TO % "b"]
    assert [key for key, _, _ in peers.pushed] == [TO % "c"]


def test_what_the_caller_gets_last_goes_with_the_reply() -> None:
    peers: Any = Peers()
    step = StepRendezvous(WORKER, 7, peers)
    step.pushes = True
    link: Any = Link()
    carried = step.link_caller(PS, link)
    step.send_later(TO % "a", np.float32(1))
    step.flush()
    step.send_later(TO % "b", np.float32(2))
    step.send_later(TO % "large", np.zeros(100_000))
    step.finish()
    assert [key for key, _, _ in link.pushed] == [TO % "a", TO % "large"]
    assert [key for key, _, _ in carried] == [TO % "b"]


def test_a_caller_that_looks_elsewhere_finds_nothing_in_the_reply() -> None:
    peers: Any = Peers()
    step = StepRendezvous(WORKER, 7, peers)
    step.pushes = True
    link: Any = Link()
    link.takes, link.sends = 0, False
    carried = step.link_caller(PS, link)
    step.send_later(TO % "a", np.float32(1))
    step.finish()
    assert carried == []
    assert [key for key, _, _ in peers.pushed] == [TO % "a"]


def test_without_a_link_the_end_is_a_flush() -> None:
    peers: Any = Peers()
    step = StepRendezvous(WORKER, 7, peers)
    step.pushes = True
    step.send_later(TO % "a", np.float32(1))
    step.finish()
    assert [key for key, _, _ in peers.pushed] == [TO % "a"]
