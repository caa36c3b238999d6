"""What peers ask of a task's steps: who may ask, what they get, what they hear."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tensorloom.framework import errors
from tensorloom.framework.runtime.rendezvous_key import rendezvous_key
from tensorloom.transport.wire import tensors
from tensorloom.transport.wire.methods import worker_methods
from tensorloom.transport.wire.request_ids import RecentRequests
from tensorloom.worker.run.peer_tensors import PeerTensors
from tensorloom.worker.run.step_table import StepTable

HERE = "/job:ps/replica:0/task:0"
THERE = "/job:worker/replica:0/task:0/device:CPU:0"
CPU0 = f"{HERE}/device:CPU:0"
INCARNATION = -3  # keys have it as 64 bits without a sign
STEP = 7
KEY = rendezvous_key(CPU0, INCARNATION, THERE, "edge_0_x")
VALUE = np.array([1.0, 2.0], np.float32)


class _Waiting:
    """A call whose caller hangs up when asked to."""

    def __init__(self) -> None:
        self.waits = threading.Event()
        self.hang_up: Callable[[], None] = lambda: None

    def on_cancel(self, callback: Callable[[], None]) -> None:
        self.hang_up = callback
        self.waits.set()


@pytest.fixture
def steps() -> StepTable:
    return StepTable(HERE)


@pytest.fixture
def peer_tensors(steps: StepTable) -> PeerTensors:
    device = SimpleNamespace(name=CPU0, incarnation=INCARNATION)
    worker: Any = SimpleNamespace(task=HERE, steps=steps, devices=lambda: [device])
    return PeerTensors(worker, RecentRequests())


def _request(key: str = KEY, request_id: int = 0) -> Any:
    message = worker_methods()["RecvTensor"].request
    return message(step_id=STEP, rendezvous_key=key, request_id=request_id)


@pytest.mark.parametrize(
    ("key", "error", "says"),
    [
        (
            rendezvous_key(f"{HERE}/device:CPU:1", INCARNATION, THERE, "e"),
            errors.InvalidArgumentError,
            rf"source device '{HERE}/device:CPU:1' to be one of {HERE}",
        ),
        (
            rendezvous_key(CPU0, 5, THERE, "e"),
            errors.AbortedError,
            r"incarnation: 5 vs\. 18446744073709551613\. Your worker job "
            rf'\("{HERE}"\) was probably restarted',
        ),
        ("no key", errors.InvalidArgumentError, "Invalid rendezvous key: no key"),
    ],
)
def test_who_asks_the_wrong_task_hears_so(
    peer_tensors: PeerTensors, key: str, error: type[errors.OpError], says: str
) -> None:
    with pytest.raises(error, match=says):
        peer_tensors.recv_tensor(_request(key), _Waiting())
    pushed: list[Any] = []
    peer_tensors.send_tensors(STEP, [key], lambda *tensor: pushed.append(tensor))
    ((step_id, of, value, is_dead, told),) = pushed
    assert (step_id, of, value, is_dead) == (STEP, key, None, False)
    with pytest.raises(error, match=says):
        raise told


def test_a_tensor_is_pushed_once_it_is_there(
    peer_tensors: PeerTensors, steps: StepTable
) -> None:
    pushed: list[Any] = []
    peer_tensors.send_tensors(STEP, [KEY], lambda *tensor: pushed.append(tensor))
    assert not pushed
    steps.rendezvous(STEP).deliver(KEY, VALUE, False)
    ((step_id, key, value, is_dead, error),) = pushed
    assert (step_id, key, is_dead, error) == (STEP, KEY, False, None)
    assert value.tolist() == VALUE.tolist()


def test_a_message_brings_what_is_there(
    peer_tensors: PeerTensors, steps: StepTable
) -> None:
    steps.rendezvous(STEP).deliver(KEY, VALUE, False)
    response = peer_tensors.recv_tensor(_request(), _Waiting())
    assert not response.is_dead
    assert tensors.decode(response.tensor).tolist() == VALUE.tolist()


def test_a_request_runs_once(peer_tensors: PeerTensors, steps: StepTable) -> None:
    steps.rendezvous(STEP).deliver(KEY, VALUE, False)
    peer_tensors.recv_tensor(_request(request_id=9), _Waiting())
    with pytest.raises(errors.AbortedError, match=r"RecvTensor .* received twice"):
        peer_tensors.recv_tensor(_request(request_id=9), _Waiting())


def test_who_hangs_up_waits_no_longer(peer_tensors: PeerTensors) -> None:
    call, failures = _Waiting(), []

    def ask() -> None:
        try:
            peer_tensors.recv_tensor(_request(), call)
        except errors.CancelledError as error:
            failures.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    assert call.waits.wait(60)
    call.hang_up()
    asking.join(60)
    assert not asking.is_alive()
    (error,) = failures
    assert "The receiver gave up" in error.message


def test_the_failure_of_a_step_reaches_who_waits(
    peer_tensors: PeerTensors,
) -> None:
    pushed: list[Any] = []
    peer_tensors.send_tensors(STEP, [KEY], lambda *tensor: pushed.append(tensor))
    peer_tensors.take_failure(STEP, errors.DataLossError(None, None, "torn"))
    ((_, key, value, _, error),) = pushed
    assert (key, value) == (KEY, None)
    assert "torn" in error.message
