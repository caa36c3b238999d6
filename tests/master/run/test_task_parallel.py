"""Steps whose parts run on several tasks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from tensorloom.framework import errors
from tensorloom.master.run.task_parallel import Part, TaskParallelStep

if TYPE_CHECKING:
    from tensorloom.framework.interfaces import StepContext


class Worker:
    """Notes what it is told of steps."""

    def __init__(self) -> None:
        self.aborted: list[int] = []
        self.over: list[int] = []
        self.settled: list[int] = []

    def abort_step(self, step_id: int, error: errors.OpError) -> None:
        self.aborted.append(step_id)

    def cleanup_step(self, step_id: int) -> None:
        self.over.append(step_id)

    def end_abandoned_step(self, step_id: int, done: Callable[[], None]) -> None:
        def settle() -> None:
            self.settled.append(step_id)
            done()

        self.over.append(step_id)
        threading.Timer(0.05, settle).start()


class Waiting:
    """A part that waits for a tensor that will not come."""

    may_block = False

    def run(self, feeds: Sequence[Any], step: StepContext) -> list[Any]:
        cancelled = threading.Event()
        assert step.cancellation is not None
        if step.cancellation.register(cancelled.set) is not None:
            assert cancelled.wait(60)
        raise step.cancellation.error()


class Unreachable:
    """A part on a task that is gone."""

    def begin(
        self, feeds: Sequence[Any], step: StepContext, is_linked: bool = False
    ) -> None:
        raise errors.UnavailableError(None, None, "it is gone")


def test_the_own_part_does_not_wait_for_one_that_did_not_begin() -> None:
    here, there = Worker(), Worker()
    own, away = Waiting(), Unreachable()
    parts: list[Any] = [
        Part(here, own, None, [], []),  # type: ignore[arg-type]
        Part(there, away, away, [], []),  # type: ignore[arg-type]
    ]
    with pytest.raises(errors.UnavailableError, match="it is gone"):
        TaskParallelStep(parts).run([])
    assert len(here.aborted) == 1
    assert here.over == here.aborted == there.over
    assert here.settled == there.settled == here.over, "it did not wait for them"


class Reply:
    """Of a part that ends when it is aborted."""

    is_source = False

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def fileno(self) -> int:
        return -1

    def is_there(self) -> bool:
        return False

    def watch(self, lost: Any) -> None:
        pass

    def take(self) -> list[Any]:
        assert self._worker.aborted, "it would wait for ever"
        raise errors.CancelledError(None, None, "aborted")


class Late:
    """A part that begins after another one has failed."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def begin(
        self, feeds: Sequence[Any], step: StepContext, is_linked: bool = False
    ) -> Reply:
        self._worker.aborted.clear()  # what came before did not reach it
        return Reply(self._worker)


def test_a_part_that_begins_late_is_aborted() -> None:
    gone, there = Worker(), Worker()
    first, second = Unreachable(), Late(there)
    parts: list[Any] = [
        Part(gone, first, first, [], []),  # type: ignore[arg-type]
        Part(there, second, second, [], []),  # type: ignore[arg-type]
    ]
    for part in parts:
        part.registered.may_block = False
    with pytest.raises(errors.UnavailableError, match="it is gone"):
        TaskParallelStep(parts).run([])
    assert len(there.aborted) == 1


class Here:
    """A part that ends at once."""

    may_block = False

    def run(self, feeds: Sequence[Any], step: StepContext) -> list[Any]:
        return ["here"]


class Source(Here):
    """A part elsewhere that only gives its caller tensors."""

    is_source = True

    def begin(
        self, feeds: Sequence[Any], step: StepContext, is_linked: bool = False
    ) -> Source:
        return self

    def watch(self, lost: Any) -> None:
        pass

    def take(self) -> list[Any]:
        return ["there"]


def test_a_task_that_kept_nothing_is_not_told_of_the_end() -> None:
    here, there = Worker(), Worker()
    own, source = Here(), Source()
    parts: list[Any] = [
        Part(here, own, None, [], [1]),  # type: ignore[arg-type]
        Part(there, source, source, [], [0]),  # type: ignore[arg-type]
    ]
    assert TaskParallelStep(parts).run([]) == ["there", "here"]
    assert len(here.over) == 1
    assert there.over == []


def test_a_step_without_parts() -> None:
    assert TaskParallelStep([]).run([]) == []
