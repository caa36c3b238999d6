"""Requests in batches: sizes, padding, limits, and errors of one among many."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from tensorloom.framework import errors
from tensorloom.framework.interfaces import StepContext, StepOptions
from tensorloom.framework.runtime.cancellation import CancellationManager
from tensorloom.serving.batching.batcher import Batcher
from tensorloom.serving.batching.parameters import BatchingOptions
from tensorloom.serving.calls.outcome import Outcome
from tensorloom.serving.manager.engine import EngineLost


class _Model:
    """Doubles its rows; holds steps back until it is told to go on."""

    def __init__(self, is_open: bool = True) -> None:
        self.steps: list[np.ndarray[Any, Any]] = []
        self.go = threading.Event()
        self.entered = threading.Semaphore(0)
        if is_open:
            self.go.set()

    def run(
        self,
        feeds: Mapping[str, Any],
        fetches: Sequence[str],
        step: StepContext | None = None,
    ) -> list[Any]:
        x = feeds["x"]
        self.steps.append(x)
        self.entered.release()
        assert self.go.wait(10)
        if (x < 0).any():
            raise errors.InvalidArgumentError(None, None, "negative")
        return [x * 2 for _ in fetches]


class _Rig:
    def __init__(self, model: _Model, **options: Any) -> None:
        self.model = model
        self.reports: list[tuple[str, list[int], int]] = []
        self.batcher = Batcher(
            model.run,
            BatchingOptions(**options),
            lambda reason, rows, waits, padding: self.reports.append(
                (reason, rows, padding)
            ),
        )

    def run(self, x: Any, step: StepContext | None = None) -> Any:
        return self.batcher.run({"x": np.array(x)}, ["y"], step)[0]

    def start(self, x: Any, step: StepContext | None = None) -> _Started:
        return _Started(lambda: self.run(x, step))

    def wait_queued(self, count: int) -> None:
        for _ in range(1000):
            if self.batcher.waiting == count:
                return
            threading.Event().wait(0.005)
        raise AssertionError(self.batcher.waiting)


class _Started:
    """A request in a thread."""

    def __init__(self, run: Any) -> None:
        self._result: Any = None
        self._error: BaseException | None = None

        def call() -> None:
            try:
                self._result = run()
            except BaseException as error:
                self._error = error

        self._thread = threading.Thread(target=call)
        self._thread.start()

    def result(self) -> Any:
        self._thread.join(10)
        if self._error is not None:
            raise self._error
        return self._result.tolist()


def _occupied(**options: Any) -> tuple[_Rig, _Started]:
    """A batcher with a step under way: what comes now, waits together."""
    rig = _Rig(_Model(is_open=False), **options)
    first = rig.start([0])
    assert rig.model.entered.acquire(timeout=10)
    return rig, first


def test_requests_that_wait_run_together() -> None:
    rig, first = _occupied(allowed_sizes=(4, 8), max_batch_size=8)
    second = rig.start([1, 2])
    rig.wait_queued(1)
    third = rig.start([3, 4, 5])
    rig.wait_queued(2)
    rig.model.go.set()
    assert [r.result() for r in (first, second, third)] == [[0], [2, 4], [6, 8, 10]]
    assert [s.tolist() for s in rig.model.steps] == [
        [0, 0, 0, 0],
        [1, 2, 3, 4, 5, 3, 3, 3],
    ]
    assert rig.reports == [("timeout", [1], 3), ("timeout", [2, 3], 3)]


def test_a_full_batch_takes_no_more() -> None:
    rig, first = _occupied(max_batch_size=4)
    started = [rig.start([i, i]) for i in range(1, 4)]
    rig.wait_queued(3)
    rig.model.go.set()
    assert sorted(r.result() for r in started) == [[2, 2], [4, 4], [6, 6]]
    assert first.result() == [0]
    assert [r[0] for r in rig.reports[1:]] == ["full", "timeout"]


def test_a_batch_waits_for_its_timeout() -> None:
    rig = _Rig(_Model(), max_batch_size=4, timeout_s=5.0)
    started = [rig.start([i, i]) for i in range(2)]
    assert [r.result() for r in started] == [[0, 0], [2, 2]]
    assert [r[0] for r in rig.reports] == ["full"]


def test_rows_of_other_shapes() -> None:
    rig, _ = _occupied(pads_rows=False)
    started = [rig.start([[1, 2]]), rig.start([[3, 4, 5]])]
    rig.wait_queued(2)
    rig.model.go.set()
    assert [r.result() for r in started] == [[[2, 4]], [[6, 8, 10]]]
    assert len(rig.model.steps) == 3


def test_shorter_rows_are_filled() -> None:
    rig, _ = _occupied(pads_rows=True)
    started = [rig.start([[1, 2]])]
    rig.wait_queued(1)
    started.append(rig.start([[3, 4, 5]]))
    rig.wait_queued(2)
    rig.model.go.set()
    assert [r.result() for r in started] == [[[2, 4, 2]], [[6, 8, 10]]]
    assert rig.model.steps[1].tolist() == [[1, 2, 1], [3, 4, 5]]


def test_large_requests_are_split() -> None:
    rig = _Rig(_Model(), max_batch_size=8, max_execution_size=3, splits=True)
    assert rig.run([1, 2, 3, 4, 5, 6, 7]).tolist() == [2, 4, 6, 8, 10, 12, 14]
    assert [len(s) for s in rig.model.steps] == [3, 3, 1]
    with pytest.raises(errors.InvalidArgumentError, match="Task size 9 is larger"):
        rig.run(list(range(9)))


def test_what_has_no_rows_runs_alone() -> None:
    rig = _Rig(_Model())
    assert rig.run(3) == 6
    assert not rig.reports


def test_too_many_batches() -> None:
    rig, first = _occupied(max_batch_size=1, max_enqueued_batches=1)
    second = rig.start([1])
    rig.wait_queued(1)
    with pytest.raises(errors.UnavailableError, match="queue to which"):
        rig.run([2])
    rig.model.go.set()
    assert [first.result(), second.result()] == [[0], [2]]


def test_a_wrong_request_fails_alone() -> None:
    rig, _ = _occupied()
    fine, wrong = rig.start([1]), rig.start([-1])
    rig.wait_queued(2)
    rig.model.go.set()
    assert fine.result() == [2]
    with pytest.raises(errors.InvalidArgumentError, match="negative"):
        wrong.result()


def test_a_caller_that_is_gone_or_late() -> None:
    rig, _ = _occupied()
    cancellation = CancellationManager()
    opener = rig.start([1])
    rig.wait_queued(1)
    gone = rig.start([2], StepContext(StepOptions(), cancellation=cancellation))
    late = rig.start([3], StepContext(StepOptions(timeout_s=0.05)))
    with pytest.raises(errors.DeadlineExceededError):
        late.result()
    cancellation.cancel(errors.CancelledError(None, None, "gone"))
    with pytest.raises(errors.CancelledError):
        gone.result()
    rig.model.go.set()
    assert opener.result() == [2]
    assert 2 not in rig.model.steps[1]


def test_a_batch_ends_when_all_its_callers_are_gone() -> None:
    ended = threading.Event()
    begun = threading.Event()

    def run(feeds: Any, fetches: Any, step: StepContext | None = None) -> list[Any]:
        assert step is not None
        assert step.cancellation is not None
        step.cancellation.register(ended.set)
        begun.set()
        assert ended.wait(60)
        raise step.cancellation.error()

    rig = _Rig(_Model(), max_batch_size=2, timeout_s=60.0)
    rig.batcher = Batcher(run, BatchingOptions(max_batch_size=2, timeout_s=60.0))
    callers = [CancellationManager(), CancellationManager()]
    started = [
        rig.start([i], StepContext(StepOptions(), cancellation=caller))
        for i, caller in enumerate(callers)
    ]
    assert begun.wait(60)
    gone = errors.CancelledError(None, None, "gone")
    callers[0].cancel(gone)
    assert not ended.is_set()
    callers[1].cancel(gone)
    for request in started:
        with pytest.raises(errors.CancelledError):
            request.result()


class _Mortal:
    """A model whose engine ends with a negative number; it is back when asked again."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.is_there = True

    def run(
        self, feeds: Any, fetches: Any, step: StepContext | None = None
    ) -> list[Any]:
        x = feeds["x"]
        self.batches.append(sorted(x.tolist()))
        assert self.is_there
        if (x < 0).any():
            self.is_there = False
            raise EngineLost(None, None, "it ended")
        return [x * 2]

    def wait_up(self, timeout_s: float) -> bool:
        was_there, self.is_there = self.is_there, True
        return was_there


def test_a_request_that_ends_the_engine_fails_alone() -> None:
    model = _Mortal()
    rig = _Rig(_Model())
    options = BatchingOptions(max_batch_size=4, timeout_s=60.0)
    rig.batcher = Batcher(model.run, options, is_up=model.wait_up)
    started = [rig.start([x]) for x in (1, -1, 2, 3)]
    for request, expected in zip(started, (2, None, 4, 6), strict=True):
        if expected is None:
            with pytest.raises(errors.UnavailableError, match="it ended"):
                request.result()
        else:
            assert request.result() == [expected]
    assert model.batches[0] == [-1, 1, 2, 3]
    assert sorted(model.batches[1:]) == [[-1], [1], [2], [3]]
    assert model.is_there or model.batches[-1] == [-1]


def test_an_engine_that_does_not_come_back() -> None:
    model = _Mortal()
    rig = _Rig(_Model())
    options = BatchingOptions(max_batch_size=2, timeout_s=60.0)
    rig.batcher = Batcher(model.run, options, is_up=lambda timeout_s: False)
    step = StepContext(StepOptions(timeout_s=0.3))
    started = [rig.start([-1], step), rig.start([1], step)]
    for request in started:
        with pytest.raises(errors.DeadlineExceededError):
            request.result()


def test_outputs_without_their_rows() -> None:
    batcher = Batcher(lambda feeds, fetches, step: [np.zeros(5)], BatchingOptions())
    with pytest.raises(errors.FailedPreconditionError, match="0th dimension"):
        batcher.run({"x": np.zeros(2)}, ["y"])
    batcher = Batcher(lambda feeds, fetches, step: [1.0], BatchingOptions())
    with pytest.raises(errors.FailedPreconditionError, match="0 dimensions"):
        batcher.run({"x": np.zeros(2)}, ["y"])


# --- calls of an event loop ----------------------------------------------------------


def _start_in_loop(rig: _Rig, *values: Any) -> list[Any]:
    """What comes of requests that wait together in a loop, without a thread each."""

    async def run() -> list[Any]:
        loop = asyncio.get_running_loop()
        outcomes = [Outcome(loop) for _ in values]
        for value, outcome in zip(values, outcomes, strict=True):
            assert rig.batcher.start({"x": np.array(value)}, ["y"], None, outcome)
        waits = [outcome.wait(CancellationManager()) for outcome in outcomes]
        return await asyncio.gather(*waits, return_exceptions=True)

    return [
        found if isinstance(found, BaseException) else found[0].tolist()
        for found in asyncio.run(run())
    ]


def test_calls_of_an_event_loop() -> None:
    rig = _Rig(_Model(), max_batch_size=3, timeout_s=60.0)
    assert _start_in_loop(rig, [1], [2], [3]) == [[2], [4], [6]]
    assert rig.reports == [("full", [1, 1, 1], 0)]


def test_a_wrong_call_of_an_event_loop_fails_alone() -> None:
    rig = _Rig(_Model(), max_batch_size=3, timeout_s=60.0)
    one, wrong, other = _start_in_loop(rig, [1], [-1], [3])
    assert (one, other) == ([2], [6])
    assert isinstance(wrong, errors.InvalidArgumentError)


def test_what_an_event_loop_cannot_begin() -> None:
    rig = _Rig(_Model(), max_batch_size=8, max_execution_size=3, splits=True)
    outcome: Any = None
    assert not rig.batcher.start({"x": np.array(1)}, ["y"], None, outcome)
    assert not rig.batcher.start({"x": np.arange(4)}, ["y"], None, outcome)
    with pytest.raises(errors.InvalidArgumentError, match="Task size 9 is larger"):
        rig.batcher.start({"x": np.arange(9)}, ["y"], None, outcome)


def test_a_call_of_an_event_loop_that_is_gone() -> None:
    rig, first = _occupied()
    cancellation = CancellationManager()

    async def run() -> None:
        outcome = Outcome(asyncio.get_running_loop())
        step = StepContext(StepOptions(), cancellation=cancellation)
        assert rig.batcher.start({"x": np.array([5])}, ["y"], step, outcome)
        threading.Timer(
            0.01, cancellation.cancel, [errors.CancelledError(None, None, "gone")]
        ).start()
        await outcome.wait(cancellation)

    with pytest.raises(errors.CancelledError):
        asyncio.run(run())
    rig.model.go.set()
    assert first.result() == [0]
    assert rig.run([1]).tolist() == [2]
    assert 5 not in [x for step in rig.model.steps for x in step]
