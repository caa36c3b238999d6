"""`Task`: a request in a batch; and the limits of a step that several wait for."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tensorloom.framework import errors
from tensorloom.framework.interfaces import StepContext, StepOptions
from tensorloom.framework.runtime.cancellation import CancellationManager
from tensorloom.serving.calls.outcome import Outcome, tell


@dataclass(eq=False, slots=True)
class Task:
    """One request, or a part of one."""

    feeds: Mapping[str, Any]
    rows: int
    #: `time.monotonic()` at its end; None: there is none.
    deadline: float | None
    cancellation: CancellationManager | None
    since: float
    done: threading.Event = field(default_factory=threading.Event)
    outputs: list[Any] | None = None
    error: BaseException | None = None
    #: Where an event loop waits for it; None: a thread does.
    outcome: Outcome | None = None

    @staticmethod
    def of(
        feeds: Mapping[str, Any],
        rows: int,
        step: StepContext | None,
        outcome: Outcome | None = None,
    ) -> Task:
        """The task of a request that comes now."""
        now = time.monotonic()
        timeout_s = None if step is None else step.options.timeout_s
        return Task(
            feeds,
            rows,
            None if timeout_s is None else now + timeout_s,
            None if step is None else step.cancellation,
            now,
            outcome=outcome,
        )

    @property
    def is_cancelled(self) -> bool:
        """Whether its caller is gone."""
        return self.cancellation is not None and self.cancellation.cancelled

    def check(self) -> None:
        """Checks that somebody still waits for it.

        Raises:
          errors.CancelledError, errors.DeadlineExceededError: nobody does.
        """
        if self.cancellation is not None:
            self.cancellation.check()
        if self.deadline is not None and self.deadline <= time.monotonic():
            raise _too_late()

    def wait(self) -> None:
        """Waits until it is done.

        Raises:
          errors.CancelledError, errors.DeadlineExceededError: nobody waits any more.
        """
        token = None
        if self.cancellation is not None:
            token = self.cancellation.register(self.done.set)
            if token is None:
                raise self.cancellation.error()
        try:
            rest = None
            if self.deadline is not None:
                rest = max(0.0, self.deadline - time.monotonic())
            if not self.done.wait(rest):
                raise _too_late()
            if self.cancellation is not None and not self._has_result:
                self.cancellation.check()
        finally:
            if token is not None and self.cancellation is not None:
                self.cancellation.deregister(token)

    @property
    def _has_result(self) -> bool:
        return self.outputs is not None or self.error is not None

    def result(self) -> list[Any]:
        """What came of it; raises what went wrong."""
        if self.error is not None:
            raise self.error
        assert self.outputs is not None
        return self.outputs


def finish(tasks: Sequence[Task]) -> None:
    """Wakes those that wait for tasks, which have their outputs or errors."""
    outcomes = []
    for task in tasks:
        task.done.set()
        if task.outcome is not None:
            task.outcome.values, task.outcome.error = task.outputs, task.error
            outcomes.append(task.outcome)
    tell(outcomes)


@contextlib.contextmanager
def step_of(tasks: Sequence[Task], now: float) -> Iterator[StepContext]:
    """The limits of a step for all tasks: it ends when nobody waits for it any more."""
    deadlines = [task.deadline for task in tasks]
    ends = [d for d in deadlines if d is not None]
    rest = max(1e-3, max(ends) - now) if len(ends) == len(tasks) else None
    options = StepOptions(timeout_s=rest)
    given = [t.cancellation for t in tasks if t.cancellation is not None]
    if len(tasks) == 1 or len(given) < len(tasks):
        alone = given[0] if len(tasks) == 1 and given else None
        yield StepContext(options, cancellation=alone)
        return
    all_gone = CancellationManager()
    left = set(given)
    lock = threading.Lock()

    def leave(one: CancellationManager) -> None:
        with lock:
            left.discard(one)
            is_last = not left
        if is_last:
            error = errors.CancelledError(None, None, "The callers are gone")
            all_gone.cancel(error)

    tokens = [(one, one.register(lambda one=one: leave(one))) for one in given]  # type: ignore[misc]
    try:
        for one, token in tokens:
            if token is None:
                leave(one)
        yield StepContext(options, cancellation=all_gone)
    finally:
        for one, token in tokens:
            if token is not None:
                one.deregister(token)


def copy_error(error: BaseException) -> BaseException:
    """An equal error that another thread can raise."""
    if isinstance(error, errors.OpError):
        copy: BaseException = errors.make_exception(
            None, None, error.message, error.error_code or errors.UNKNOWN
        )
    else:
        copy = errors.InternalError(None, None, f"{type(error).__name__}: {error}")
    copy.__cause__ = error
    return copy


def _too_late() -> errors.OpError:
    return errors.DeadlineExceededError(
        None, None, "The deadline of the request is over"
    )
