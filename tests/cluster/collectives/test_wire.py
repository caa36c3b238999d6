"""What a task answers to messages about collectives that are wrong."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tensorloom.framework import errors
from tensorloom.framework.runtime.rendezvous_key import rendezvous_key
from tensorloom.transport.grpc.channel import GrpcChannel
from tensorloom.transport.wire.methods import worker_methods
from tests.cluster.clusters import cluster

CPU = "/job:worker/replica:0/task:%d/device:CPU:0"
STEP = 77
HUGE = (1 << 31) - 1


class _Task:
    """A server, and what calls it as any program may that reaches its port."""

    def __init__(self, server: Any) -> None:
        self.worker = server._worker
        self._channel = GrpcChannel(server.target.removeprefix("grpc://"))
        self.close = self._channel.close

    def call(self, name: str, **fields: Any) -> Any:
        method = worker_methods()[name]
        return self._channel.call(method, method.request(**fields))

    def start(self, name: str, **fields: Any) -> tuple[Any, list[Any]]:
        """The call under way, and its outcome once there is one."""
        method, outcome = worker_methods()[name], []
        done = threading.Event()

        def ended(response: Any, error: Any) -> None:
            outcome.append(error or response)
            done.set()

        call = self._channel.start(method, method.request(**fields), ended)
        return call, [done, outcome]

    @property
    def incarnation(self) -> int:
        return int(self.worker.devices()[0].incarnation) & 0xFFFFFFFFFFFFFFFF

    def leave(self, key: str, value: Any) -> None:
        """Has a step here leave a piece for another task."""
        name = rendezvous_key(CPU % 0, self.incarnation, CPU % 1, key)
        self.worker.steps.rendezvous(STEP).send(name, value)


@pytest.fixture(scope="module")
def task() -> Iterator[_Task]:
    with cluster(worker=2) as servers:
        made = _Task(servers["worker"][0])
        yield made
        made.close()


def piece(task: _Task, **more: Any) -> dict[str, Any]:
    """A request for a piece."""
    return {
        "step_id": STEP,
        "buf_rendezvous_key": "1:0:0:0",
        "num_bytes": 16,
        "src_device": CPU % 0,
        "src_incarnation": task.incarnation,
        "dst_device": CPU % 1,
        **more,
    }


def joining(**more: Any) -> dict[str, Any]:
    """A request to join a group."""
    return {
        "group_key": 900,
        "group_size": 2,
        "device_type": "CPU",
        "device_name": [CPU % 1],
        **more,
    }


def test_a_piece_comes_in_bytes(task: _Task) -> None:
    from tensorloom.protos.transport_options_pb2 import RecvBufRespExtra

    task.leave("1:0:0:0", np.arange(4, dtype=np.int32))
    answer = task.call("RecvBuf", **piece(task))
    extra = RecvBufRespExtra()
    assert answer.transport_options.Unpack(extra)
    assert b"".join(extra.tensor_content) == np.arange(4, dtype=np.int32).tobytes()


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        ({"src_device": ""}, errors.InvalidArgumentError),
        ({"src_device": CPU % 1}, errors.InvalidArgumentError),
        ({"src_device": "/job:x" * 1000}, errors.InvalidArgumentError),
        ({"src_incarnation": 1}, errors.FailedPreconditionError),
        ({"dst_device": "nobody"}, errors.InvalidArgumentError),
        ({"dst_device": ""}, errors.InvalidArgumentError),
        ({"buf_rendezvous_key": ""}, errors.InvalidArgumentError),
        ({"buf_rendezvous_key": "a;b"}, errors.InvalidArgumentError),
        ({"buf_rendezvous_key": ";" * 10_000}, errors.InvalidArgumentError),
    ],
    ids=str,
)
def test_a_piece_that_nobody_can_have(task: _Task, wrong: Any, kind: Any) -> None:
    with pytest.raises(kind):
        task.call("RecvBuf", **piece(task, **wrong))


@pytest.mark.parametrize("value", [np.array([b"a", b"b"], object), object()])
def test_addresses_are_not_told(task: _Task, value: Any) -> None:
    """Strings are pointers in this process; their names can be guessed."""
    task.leave("edge_5_text", value)
    with pytest.raises(errors.InvalidArgumentError, match="no bytes to send"):
        task.call("RecvBuf", **piece(task, buf_rendezvous_key="edge_5_text"))


def test_who_hangs_up_waits_no_more(task: _Task) -> None:
    """The wait for a piece, and for a group, ends with the call."""
    for name, fields in (
        ("RecvBuf", piece(task, step_id=78)),
        ("CompleteGroup", joining(group_key=901)),
    ):
        call, (done, outcome) = task.start(name, **fields)
        call.cancel()
        assert done.wait(60)
        assert isinstance(outcome[0], errors.CancelledError)


@pytest.mark.parametrize(
    "wrong",
    [
        {"group_size": 0},
        {"group_size": -HUGE},
        {"device_name": []},
        {"device_name": [""]},
        {"device_name": ["CPU:0"]},
        {"device_name": [CPU % 1 + "/task:0"]},
        {"device_name": ["/job:worker/task:1/replica:0/device:CPU:0"]},
    ],
    ids=str,
)
def test_who_cannot_join(task: _Task, wrong: Any) -> None:
    with pytest.raises(errors.InvalidArgumentError):
        task.call("CompleteGroup", **joining(**wrong))


def test_a_group_of_any_size_costs_nothing(task: _Task) -> None:
    """Who comes next with another size has the error, and so has the first."""
    _, (done, outcome) = task.start(
        "CompleteGroup", **joining(group_key=902, group_size=HUGE)
    )
    # It may come before the other, which then fails with it.
    _, (other, told) = task.start(
        "CompleteGroup", **joining(group_key=902, device_name=[CPU % 0])
    )
    assert done.wait(60)
    assert other.wait(60)
    for error in (outcome[0], told[0]):
        assert isinstance(error, errors.InternalError)
        assert "size" in error.message


@pytest.mark.parametrize(
    "shape", [[-1], [HUGE, HUGE], [1] * 1000], ids=["negative", "huge", "long"]
)
def test_the_terms_of_an_instance_are_only_compared(task: _Task, shape: Any) -> None:
    """Nothing is made of their size."""
    fields = {
        "group_key": 903,
        "group_size": 1,
        "device_type": "CPU",
        "device": CPU % 1,
        "instance_key": len(shape),
        "data_type": 10_000,
        "type": 10_000,
        "shape": {"dim": [{"size": size} for size in shape]},
    }
    assert task.call("CompleteInstance", **fields).source_rank == -1
    with pytest.raises(errors.InternalError, match="DataType"):
        task.call("CompleteInstance", **{**fields, "data_type": 1})


def test_step_ids_are_in_range(task: _Task) -> None:
    """Also of graphs and failed steps that there are not."""
    keys = [0, -1, (1 << 63) - 1, -(1 << 63)]
    answer = task.call("GetStepSequence", graph_key=keys, failed_step_id=-5)
    assert [found.graph_key for found in answer.step_sequence] == keys
    for found in answer.step_sequence:
        assert 0 < found.next_step_id < 1 << 57


def test_a_restarted_task_gets_another_id(task: _Task) -> None:
    """And what waits in the step that it was in ends."""
    asking = {"graph_key": [31], "task": "/job:worker/replica:0/task:1"}

    def next_id(incarnation: int) -> int:
        answer = task.call("GetStepSequence", incarnation=incarnation, **asking)
        return int(answer.step_sequence[0].next_step_id)

    first = next_id(1)
    assert next_id(1) == first
    _, (done, outcome) = task.start("RecvBuf", **piece(task, step_id=first))
    assert next_id(2) != first
    assert done.wait(60)
    assert isinstance(outcome[0], errors.AbortedError)


@pytest.mark.parametrize("more", [-HUGE, 0, 2, HUGE])
def test_steps_that_end_together(task: _Task, more: int) -> None:
    """As many as a failure can concern, whatever the message says."""
    first = 1000
    task.call("CleanupGraph", step_id=first, more=more)
    with pytest.raises(errors.AbortedError):
        task.worker.steps.rendezvous(first + max(0, min(more, 200)))
    if more < HUGE:
        task.worker.steps.rendezvous(first + max(0, more) + 1)
