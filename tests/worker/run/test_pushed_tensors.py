"""When tensors for other tasks leave: how often a part flushes, and what goes then."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tensorloom.framework import errors
from tensorloom.framework.partition.graph_partition import DEFERRABLE
from tensorloom.framework.types import dtypes
from tensorloom.worker.run.step_table import StepRendezvous, StepTable
from tests.worker.small_graphs import (
    CPU0,
    TASK,
    arg,
    graph,
    node,
    register,
    retval,
)

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Node

PS = "/job:ps/replica:0/task:0"
OTHER = "/job:ps/replica:0/task:1"
KEY = f"{CPU0};0000000000000001;{PS}/device:CPU:0;edge_%s;0:0"


def send(of: str, held: bool) -> Node:
    attrs: dict[str, Any] = {
        "tensor_name": b"edge_" + of.encode(),
        "send_device": CPU0.encode(),
        "send_device_incarnation": 1,
        "recv_device": f"{PS}/device:CPU:0".encode(),
        "client_terminated": False,
    }
    if held:
        attrs[DEFERRABLE] = True
    return node(f"send_{of}", "_Send", [of], outputs=0, **attrs)


SMALL, LARGE = (4,), (1000, 1000)


@pytest.mark.parametrize(
    ("shape", "held", "between", "flushes"),
    [
        (SMALL, False, "Neg", 2),
        (SMALL, True, "Neg", 1),
        # What may wait for another task, or take any time.
        (SMALL, True, "RandomShuffle", 2),
        # The transfer of a large one is to go on beside the computation.
        (LARGE, True, "Neg", 2),
        (LARGE, False, "Identity", 1),
    ],
)
def test_how_often_a_part_sends(
    shape: tuple[int, ...], held: bool, between: str, flushes: int
) -> None:
    extra = {"seed": 1, "seed2": 1} if between == "RandomShuffle" else {}
    piece = register(
        graph(
            arg("x", 0, shape),
            node("a", "Neg", ["x"], shape=shape),
            send("a", held),
            node("b", between, ["a"], shape=shape, **extra),
            send("b", held),
        )
    )
    found = [m.start() for m in re.finditer(r"\.(flush|finish)\(\)", piece.source)]
    assert len(found) == flushes
    assert piece.source.index("send_later(") < found[0]
    assert piece.source[found[-1] :].startswith(".finish()")


class Peers:
    """Notes what is pushed."""

    def __init__(self) -> None:
        self.pushed: list[tuple[str, list[str]]] = []

    def push_tensors(self, task: str, step_id: int, tensors: Sequence[Any]) -> None:
        self.pushed.append((task, [key for key, _, _ in tensors]))

    def recv_tensors(self, *args: Any) -> Any:
        raise errors.InternalError(None, None, "nothing is pulled")

    def push_failure(self, *args: Any) -> None:
        raise errors.InternalError(None, None, "nothing fails")


def test_one_message_for_all_that_waits() -> None:
    peers = Peers()
    rendezvous = StepRendezvous(TASK, 7, peers)
    rendezvous.pushes = True
    keys = [KEY % name for name in "abc"]
    small = np.ones(3)
    rendezvous.send_later(keys[0], small)
    rendezvous.send_later(keys[1], np.ones(100_000))
    rendezvous.send_later(keys[2], small)
    assert peers.pushed == []
    rendezvous.flush()
    assert peers.pushed == [(PS, keys)]
    rendezvous.flush()
    assert len(peers.pushed) == 1


def test_a_part_that_only_gives_is_in_no_table() -> None:
    peers = Peers()
    table = StepTable(TASK, peers)
    rendezvous = table.independent(7)
    rendezvous.pushes = True
    carried = rendezvous.carry(PS)
    keys = [KEY % name for name in "abc"]
    rendezvous.send_later(keys[0], np.ones(3))
    rendezvous.send_later(keys[1], np.ones(100_000))
    rendezvous.send_later(keys[2].replace(PS, OTHER), np.ones(3))
    rendezvous.finish()
    assert [key for key, _, _ in carried] == keys[:1]
    assert peers.pushed == [
        (PS, keys[1:2]),
        (OTHER, [keys[2].replace(PS, OTHER)]),
    ]
    assert len(table) == 0


@pytest.mark.parametrize(
    ("source", "received"), [(PS, "received_host"), (TASK, "received_tensor")]
)
def test_what_other_tasks_send_comes_in_host_memory(source: str, received: str) -> None:
    piece = register(
        graph(
            node(
                "a",
                "_Recv",
                shape=(1000, 1000),
                tensor_type=dtypes.float32,
                tensor_name=b"edge_a",
                send_device=f"{source}/device:CPU:0".encode(),
                send_device_incarnation=1,
                recv_device=CPU0.encode(),
                client_terminated=False,
            ),
            retval("a", 0),
        )
    )
    assert f"= {received}(" in piece.source
