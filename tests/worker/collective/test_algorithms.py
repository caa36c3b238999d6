"""Rings, trees and small values, among threads that pass pieces in memory."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest

from tensorloom.framework.collective.requests import (
    BROADCAST,
    GATHERING,
    REDUCTION,
    CollectiveRequest,
)
from tensorloom.worker.collective import direct, ring, tree


def devices_of(*per_task: int) -> list[str]:
    """The devices of tasks that have so many each."""
    return [
        f"/job:worker/replica:0/task:{task}/device:CPU:{number}"
        for task, count in enumerate(per_task)
        for number in range(count)
    ]


class Pieces:
    """An `Exchange` of one member."""

    def __init__(self, rank: int, devices: Sequence[str], queues: Any) -> None:
        self.rank, self.devices, self.size = rank, devices, len(devices)
        self.asked: set[tuple[int, str]] = set()
        self.sent = 0
        self._queues = queues

    def send(self, rank: int, part: str, value: Any) -> None:
        self.sent += value.nbytes
        self._queues[self.rank, rank, part].put(value)

    def expect(self, rank: int, pieces: Sequence[tuple[str, int]], dtype: Any) -> None:
        self.asked |= {(rank, part) for part, _ in pieces}

    def recv(self, rank: int, part: str, count: int, dtype: Any) -> Any:
        assert (rank, part) in self.asked
        self.asked.remove((rank, part))
        value = self._queues[rank, self.rank, part].get(timeout=60)
        assert value.size == count
        assert value.dtype == dtype
        return value.reshape(-1)


def run(
    devices: Sequence[str], member: Callable[[Any, int], Any]
) -> tuple[list[Any], list[Pieces]]:
    """What each member gets; nothing that was asked for or sent is left over."""
    queues: Any = defaultdict(SimpleQueue)
    for a in range(len(devices)):
        for b in range(len(devices)):
            queues[a, b, ""]  # threads must not make the same one twice
    lock = threading.Lock()

    class Guarded(dict[Any, Any]):
        def __getitem__(self, key: Any) -> Any:
            with lock:
                return queues[key]

    members = [Pieces(rank, devices, Guarded()) for rank in range(len(devices))]
    results: list[Any] = [None] * len(devices)

    def work(rank: int) -> None:
        results[rank] = member(members[rank], rank)

    threads = [threading.Thread(target=work, args=(r,)) for r in range(len(devices))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(m.asked for m in members)
    assert all(queue.empty() for queue in queues.values())
    return results, members


def request(kind: int, value: Any, size: int, **more: Any) -> CollectiveRequest:
    dtype, shape = more.pop("like", None) or (value.dtype, value.shape)
    return CollectiveRequest(
        kind, size, 1, 2, "device", "node", dtype, shape, value, **more
    )


def values_of(size: int, shape: tuple[int, ...], dtype: Any = np.float32) -> list[Any]:
    random = np.random.default_rng(0)
    return [random.integers(-9, 9, shape).astype(dtype) for _ in range(size)]


@pytest.mark.parametrize("tasks", [(1, 1), (1, 1, 1), (2, 1), (2, 2, 3)], ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (5, 9), (1000,)], ids=str)
@pytest.mark.parametrize("offsets", [(0,), (), (0, -1, 1)], ids=str)
def test_a_ring_sums(
    tasks: tuple[int, ...], shape: tuple[int, ...], offsets: tuple[int, ...]
) -> None:
    devices = devices_of(*tasks)
    values = values_of(len(devices), shape)
    rings = ring.lanes_of(devices, offsets, values[0].nbytes)
    results, _ = run(
        devices,
        lambda pieces, rank: ring.reduce(
            pieces, request(REDUCTION, values[rank], len(devices)), rings
        ),
    )
    for found in results:
        np.testing.assert_array_equal(found, sum(values))
        assert found.shape == shape


@pytest.mark.parametrize(
    ("merge", "reference"),
    [(b"Mul", np.prod), (b"Min", np.min), (b"Max", np.max), (b"Add", np.mean)],
)
@pytest.mark.parametrize("dtype", [np.float64, np.int64])
@pytest.mark.parametrize("small", [True, False])
def test_other_reductions(
    merge: bytes, reference: Any, dtype: Any, small: bool
) -> None:
    devices = devices_of(1, 1, 1)
    values = [v * 3 for v in values_of(3, (20,), dtype)]
    divides = merge == b"Add"

    def member(pieces: Any, rank: int) -> Any:
        asked = request(REDUCTION, values[rank], 3, merge=merge, divides=divides)
        if small:
            return direct.combine(pieces, asked)
        return ring.reduce(pieces, asked, ring.own_lanes(3, 100_000_000))

    results, members = run(devices, member)
    for found in results:
        np.testing.assert_allclose(found, reference(values, axis=0))
        assert found.dtype == dtype
    if not small:
        # Twice (n - 1) / n of the value, and what rounding to parts adds.
        assert max(m.sent for m in members) <= 2 * values[0].nbytes


@pytest.mark.parametrize("combine", [ring.gather, direct.combine])
@pytest.mark.parametrize("shape", [(1,), (3, 2), (0, 2)], ids=str)
def test_gathering(combine: Any, shape: tuple[int, ...]) -> None:
    devices = devices_of(1, 2, 1)
    values = values_of(4, shape)
    results, _ = run(
        devices,
        lambda pieces, rank: combine(pieces, request(GATHERING, values[rank], 4)),
    )
    for found in results:
        np.testing.assert_array_equal(found, np.concatenate(values))


@pytest.mark.parametrize("tasks", [(1, 1), (5,), (1, 1, 1, 1, 1), (3, 1, 4)], ids=str)
def test_a_broadcast_reaches_all(tasks: tuple[int, ...]) -> None:
    devices = devices_of(*tasks)
    size = len(devices)
    value = np.arange(6.0).reshape(2, 3)
    for source in range(size):
        like = value.dtype, value.shape

        def member(
            pieces: Any, rank: int, source: int = source, like: Any = like
        ) -> Any:
            given = value if rank == source else None
            asked = request(BROADCAST, given, size, like=like)
            return tree.broadcast(pieces, asked, source)

        results, _ = run(devices, member)
        for found in results:
            np.testing.assert_array_equal(found, value)


def test_trees_are_those_of_tensorflow() -> None:
    """The first member of a task is between tasks, unless the source is beside it."""
    trees = tree.trees_of(devices_of(3, 2), source=1)
    assert [(t.number, t.ranks, t.source) for t in trees] == [
        (0, (1, 3), 0),
        (1, (0, 1, 2), 1),
        (2, (3, 4), 0),
    ]
    seven = tree.Tree(0, tuple(range(7)), 3)
    assert [tree.children(seven, place) for place in range(7)] == [
        [2],
        [4, 5],
        [6],
        [0, 1],
        [],
        [],
        [],
    ]


@pytest.mark.parametrize(
    ("offsets", "expected"),
    [
        ([0], [[0, 1, 2, 3]]),
        ([1], [[1, 0, 3, 2]]),
        ([0, -1], [[0, 1, 2, 3], [0, 1, 2, 3]]),
        ([-0], [[0, 1, 2, 3]]),
    ],
)
def test_lanes_turn_the_devices_of_each_task(
    offsets: list[int], expected: list[list[int]]
) -> None:
    assert ring.lanes_of(devices_of(2, 2), offsets, 100) == expected


def test_how_many_lanes_a_size_wants() -> None:
    two = devices_of(1, 1)
    assert len(ring.lanes_of(two, (), 8 << 20)) == 1
    assert len(ring.lanes_of(two, (), 9 << 20)) == 2
    assert len(ring.lanes_of(two, (), 900 << 20)) == 2
    assert len(ring.own_lanes(2, 900 << 20)) > 2
