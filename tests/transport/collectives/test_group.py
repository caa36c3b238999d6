"""Groups of several processes: here several groups of one process, in threads."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tensorloom.framework import errors
from tensorloom.framework.collective.process_group import ADASUM, Request
from tensorloom.framework.runtime.cancellation import CancellationManager
from tensorloom.transport.collectives.group import Group, LoneGroup
from tensorloom.transport.collectives.place import Place
from tensorloom.transport.collectives.store import LocalStore

Groups = list[Group]
TYPES = [np.float32, np.float64, np.float16, np.int32, np.int64, ml_dtypes.bfloat16]


def _joined(size: int, environment: dict[str, str]) -> Groups:
    store = LocalStore()
    host, _, port = store.address.rpartition(":")
    places = [Place(r, size, r, size, host, int(port)) for r in range(size)]
    with ThreadPoolExecutor(size) as pool:
        groups = list(pool.map(lambda place: Group(place, environment), places))
    groups[0].kept = store  # type: ignore[attr-defined]
    return groups


@pytest.fixture(scope="module", params=[2, 3])
def groups(request: pytest.FixtureRequest) -> Iterator[Groups]:
    made = _joined(request.param, {})
    yield made
    for group in made:
        group.close()


@pytest.fixture
def pair() -> Iterator[Groups]:
    made = _joined(2, {"HOROVOD_STALL_CHECK_TIME_SECONDS": "0.2"})
    yield made
    for group in made:
        group.close()


def _each(groups: Groups, run: Callable[[Group], Any]) -> list[Any]:
    with ThreadPoolExecutor(len(groups)) as pool:
        return list(pool.map(run, groups))


def _result(group: Group | LoneGroup, request: Request) -> Any:
    return group.submit(request).result(CancellationManager())


@pytest.mark.parametrize("dtype", TYPES)
def test_sum(groups: Groups, dtype: Any) -> None:
    def run(group: Group) -> Any:
        value = (np.arange(6).reshape(2, 3) + group.rank).astype(dtype)
        return _result(group, Request("x", "allreduce", value))

    n = len(groups)
    expected = (np.arange(6).reshape(2, 3) * n + n * (n - 1) // 2).astype(dtype)
    for found in _each(groups, run):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_processes_need_no_common_order(groups: Groups) -> None:
    """Each hands in many values of several dtypes and sizes, in an order of its own."""

    def run(group: Group) -> list[Any]:
        names = np.random.RandomState(group.rank).permutation(40)
        pending = {}
        for name in names:
            value = np.full([name % 7, 3], name, np.int32 if name % 3 else np.float32)
            request = Request(f"v{name}", "allreduce", value)
            pending[name] = group.submit(request)
        return [pending[k].result(CancellationManager()) for k in range(40)]

    for found in _each(groups, run):
        for name, value in enumerate(found):
            assert value.shape == (name % 7, 3)
            assert (value == name * len(groups)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.bool_, np.uint8])
def test_gathered_rows(groups: Groups, dtype: Any) -> None:
    def run(group: Group) -> Any:
        value = np.full([group.rank, 2], group.rank % 2, dtype)  # rank 0 has none
        return _result(group, Request("rows", "allgather", value))

    ranks = np.repeat(range(len(groups)), range(len(groups))) % 2
    for found in _each(groups, run):
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, np.stack([ranks, ranks], 1).astype(dtype))


def test_broadcast(groups: Groups) -> None:
    def run(group: Group) -> Any:
        value = np.full([2], group.rank + 5.0)
        return _result(group, Request("b", "broadcast", value, root=1))

    for found in _each(groups, run):
        np.testing.assert_array_equal(found, [6.0, 6.0])


def test_adaptive_sum(pair: Groups) -> None:
    """Of one direction it is the mean, of right angles the sum."""
    given = np.array([[3.0, 0.0], [0.0, 4.0], [3.0, 3.0]])

    def run(group: Group, numbers: tuple[int, int]) -> Any:
        value = given[numbers[group.rank]]
        return _result(group, Request("a", "allreduce", value, ADASUM))

    found = _each(pair, lambda group: run(group, (0, 0)))
    np.testing.assert_allclose(found, [[3.0, 0.0]] * 2)
    found = _each(pair, lambda group: run(group, (0, 1)))
    np.testing.assert_allclose(found, [[3.0, 4.0]] * 2)
    found = _each(pair, lambda group: run(group, (0, 2)))
    # 1 - 9 / 18 of the one, 1 - 9 / 36 of the other
    np.testing.assert_allclose(found, [[1.5 + 2.25, 2.25]] * 2)


BAD: list[tuple[str, list[Request]]] = [
    (
        "Mismatched allreduce tensor shapes in 'x': rank 0 has .2., rank 1 has .3.",
        [Request("x", "allreduce", np.zeros(n)) for n in (2, 3)],
    ),
    (
        "Mismatched dtype in collective 'x': rank 0 has float32, rank 1 has int32",
        [Request("x", "allreduce", np.zeros(1, t)) for t in (np.float32, np.int32)],
    ),
    (
        "Mismatched kind",
        [Request("x", k, np.zeros(1)) for k in ("allreduce", "allgather")],
    ),
    (
        "Mismatched root",
        [Request("x", "broadcast", np.zeros(1), root=n) for n in (0, 1)],
    ),
    (
        "root rank of broadcast 'x' is 2, of 2 processes",
        [Request("x", "broadcast", np.zeros(1), root=2)] * 2,
    ),
    ("must have rows", [Request("x", "allgather", np.zeros(()))] * 2),
    (
        "Mismatched allgather tensor shapes",
        [Request("x", "allgather", np.zeros((2, n))) for n in (1, 2)],
    ),
]


def test_what_does_not_fit_fails_everywhere(pair: Groups) -> None:
    """And the group goes on."""
    for text, requests in BAD:
        pending = [g.submit(r) for g, r in zip(pair, requests, strict=True)]
        for each in pending:
            with pytest.raises(errors.FailedPreconditionError, match=text):
                each.result(CancellationManager())
    one = Request("x", "allreduce", np.ones(1))
    assert _each(pair, lambda group: _result(group, one)) == [2.0, 2.0]


def test_one_name_twice(pair: Groups) -> None:
    one = Request("x", "allreduce", np.ones(1))
    first = pair[0].submit(one)
    with pytest.raises(errors.InvalidArgumentError, match="Duplicate tensor name 'x'"):
        _result(pair[0], one)
    assert _result(pair[1], one) == [2.0]
    assert first.result(CancellationManager()) == [2.0]


@pytest.mark.parametrize("leaver", [0, 1])
def test_who_leaves_ends_the_group(pair: Groups, leaver: int) -> None:
    stays = pair[1 - leaver]
    pending = stays.submit(Request("x", "allreduce", np.ones(1)))
    pair[leaver].close()
    with pytest.raises(errors.UnknownError, match="Horovod has been shut down"):
        pending.result(CancellationManager())
    with pytest.raises(errors.UnknownError, match="Horovod has been shut down"):
        _result(stays, Request("y", "allreduce", np.ones(1)))


def test_a_cancelled_step_waits_no_longer(pair: Groups) -> None:
    pending = pair[0].submit(Request("x", "allreduce", np.ones(1)))
    cancellation = CancellationManager()
    threading.Timer(0.05, cancellation.cancel, [ValueError("other")]).start()
    with pytest.raises(errors.CancelledError):
        pending.result(cancellation)


def test_who_waits_long_is_told_whom_for(
    pair: Groups, caplog: pytest.LogCaptureFixture
) -> None:
    told = threading.Event()

    class Tell(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "allreduce 'slow'" in record.getMessage():
                assert "Missing ranks: [1]" in record.getMessage()
                told.set()

    handler = Tell()
    logger = logging.getLogger("tensorloom")
    logger.addHandler(handler)
    try:
        one = Request("slow", "allreduce", np.ones(1))
        pending = pair[0].submit(one)
        assert told.wait(60)
        assert _result(pair[1], one) == [2.0]
        assert pending.result(CancellationManager()) == [2.0]
    finally:
        logger.removeHandler(handler)


def test_alone() -> None:
    group = LoneGroup()
    assert (group.rank, group.size, group.local_rank, group.local_size) == (0, 1, 0, 1)
    value = np.arange(3)
    for kind in ("allreduce", "allgather", "broadcast"):
        assert _result(group, Request("x", kind, value)) is value
    with pytest.raises(errors.FailedPreconditionError, match="root rank of 'x' is 1"):
        _result(group, Request("x", "broadcast", value, root=1))
    group.close()
