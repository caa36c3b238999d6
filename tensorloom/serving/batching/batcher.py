"""`Batcher`: requests for the same tensors run as one step.

Each signature of each version has a queue of its own, so that no model waits for
another. No thread is kept for it: the request that opens a batch waits for others and
runs it, and those that join it wait for their part. So a batch of one costs no more
than a step, and a model that runs for ever holds the threads of its own callers alone.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.framework.interfaces import StepContext, StepOptions
from tensorloom.serving.batching import merging

if TYPE_CHECKING:
    from tensorloom.serving.batching.parameters import BatchingOptions
    from tensorloom.serving.manager.servable import Runner

# What a wrong request may cause.
_OF_ONE_REQUEST: Final = (
    errors.InvalidArgumentError,
    errors.OutOfRangeError,
    errors.FailedPreconditionError,
    errors.NotFoundError,
    errors.InternalError,
    errors.UnknownError,
)

#: (reason, rows of each request, seconds each waited, rows of padding)
Report = Callable[[str, list[int], list[float], int], None]


@dataclass(eq=False, slots=True)
class _Task:
    """One request, or a part of one."""

    feeds: Mapping[str, Any]
    rows: int
    deadline: float | None
    cancellation: Any
    since: float
    done: threading.Event = field(default_factory=threading.Event)
    outputs: list[Any] | None = None
    error: BaseException | None = None

    @property
    def is_cancelled(self) -> bool:
        return self.cancellation is not None and self.cancellation.cancelled

    def result(self) -> list[Any]:
        """What came of it; raises what went wrong."""
        if self.error is not None:
            raise self.error
        assert self.outputs is not None
        return self.outputs


@dataclass(eq=False, slots=True)
class _Batch:
    """Tasks that run together."""

    shapes: merging.Shapes
    closes_at: float
    tasks: list[_Task] = field(default_factory=list)
    rows: int = 0
    #: Why no more join; "" while some may.
    closed: str = ""


class _Queue:
    """The batches of the same feeds and fetches."""

    def __init__(
        self,
        run: Runner,
        fetches: Sequence[str],
        options: BatchingOptions,
        report: Report,
    ) -> None:
        self._run, self._fetches, self._report = run, fetches, report
        self._options = options
        self._most = (
            options.max_execution_size if options.splits else options.max_batch_size
        )
        self._changed = threading.Condition()
        # Those that wait, in order; the last one may be open.
        self._waiting: list[_Batch] = []
        self._running = 0

    def __len__(self) -> int:
        """How many requests wait."""
        return sum(len(batch.tasks) for batch in list(self._waiting))

    def submit(self, task: _Task) -> list[Any]:
        """Runs a task in a batch; returns its outputs.

        Raises:
          errors.UnavailableError: too many batches wait.
          errors.DeadlineExceededError, errors.CancelledError: of the task.
          errors.OpError: the step failed.
        """
        batch, is_opener = self._join(task)
        if is_opener:
            self._drive(batch)
            return task.result()
        token = None
        if task.cancellation is not None:
            token = task.cancellation.register(task.done.set)
        try:
            rest = None
            if task.deadline is not None:
                rest = max(0.0, task.deadline - time.monotonic())
            if not task.done.wait(rest):
                raise errors.DeadlineExceededError(
                    None, None, "The deadline of the request is over"
                )
            if task.outputs is None and task.error is None:
                task.cancellation.check()
            return task.result()
        finally:
            if token is not None:
                task.cancellation.deregister(token)

    def _join(self, task: _Task) -> tuple[_Batch, bool]:
        """The task's batch, and whether it has opened it."""
        shapes = merging.shapes_of(task.feeds, self._options.pads_rows)
        with self._changed:
            batch = self._waiting[-1] if self._waiting else None
            if batch is not None and not batch.closed:
                if batch.shapes != shapes:
                    self._close(batch, "shapes")
                elif batch.rows + task.rows > self._most:
                    self._close(batch, "full")
            is_opener = batch is None or bool(batch.closed)
            if is_opener:
                if len(self._waiting) >= self._options.max_enqueued_batches:
                    raise errors.UnavailableError(
                        None,
                        None,
                        "The batch scheduling queue to which this task was submitted "
                        f"is full; current queue size = {len(self._waiting)}",
                    )
                batch = _Batch(shapes, task.since + self._options.timeout_s)
                self._waiting.append(batch)
            assert batch is not None
            batch.tasks.append(task)
            batch.rows += task.rows
            if batch.rows >= self._most:
                self._close(batch, "full")
            return batch, is_opener

    def _close(self, batch: _Batch, reason: str) -> None:
        batch.closed = reason
        self._changed.notify_all()

    def _drive(self, batch: _Batch) -> None:
        """Waits until the batch may start, and runs it."""
        with self._changed:
            while not batch.closed:
                rest = batch.closes_at - time.monotonic()
                if rest <= 0:
                    break
                self._changed.wait(rest)
            # While others run, it may still grow.
            while (
                self._waiting[0] is not batch
                or self._running >= self._options.parallel_batches
            ):
                self._changed.wait()
            self._waiting.remove(batch)
            batch.closed = batch.closed or "timeout"
            self._running += 1
            self._changed.notify_all()  # the next one is the first now
        try:
            self._run_batch(batch)
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def _run_batch(self, batch: _Batch) -> None:
        tasks = [task for task in batch.tasks if not task.is_cancelled]
        left = [task for task in batch.tasks if task.is_cancelled]
        try:
            if tasks:
                self._run_tasks(batch, tasks)
        except BaseException as error:
            if len(tasks) > 1 and isinstance(error, _OF_ONE_REQUEST):
                self._run_each(batch, tasks)
            else:
                for task in tasks:
                    # It is raised in several threads: each has one of its own.
                    task.error = _copy(error)
        for task in left:
            task.error = task.cancellation.error()
        for task in batch.tasks:
            task.done.set()

    def _run_each(self, batch: _Batch, tasks: list[_Task]) -> None:
        """Runs the tasks one by one: what is wrong with one is not its neighbours'."""
        for task in tasks:
            try:
                self._run_tasks(batch, [task])
            except Exception as error:
                task.error = error

    def _run_tasks(self, batch: _Batch, tasks: list[_Task]) -> None:
        rows = [task.rows for task in tasks]
        total = sum(rows)
        padding = self._allowed_size(total) - total
        now = time.monotonic()
        self._report(batch.closed, rows, [now - t.since for t in tasks], padding)
        feeds = merging.merge([task.feeds for task in tasks], padding)
        outputs = self._run(feeds, self._fetches, _limits(tasks, now))
        parts = merging.split(outputs, rows, padding)
        for task, part in zip(tasks, parts, strict=True):
            task.outputs = part

    def _allowed_size(self, rows: int) -> int:
        for size in self._options.allowed_sizes:
            if size >= rows:
                return size
        return rows


class Batcher:
    """Takes the place of a servable's `run`."""

    def __init__(
        self,
        run: Runner,
        options: BatchingOptions,
        report: Report = lambda reason, rows, waits, padding: None,
    ) -> None:
        """Puts requests together for `run`; `report` is told of each batch."""
        self._run_step, self._options, self._report = run, options, report
        self._queues: dict[tuple[Any, ...], _Queue] = {}

    @property
    def waiting(self) -> int:
        """How many requests wait for their batch to start."""
        return sum(map(len, list(self._queues.values())))

    def run(
        self,
        feeds: Mapping[str, Any],
        fetches: Sequence[str],
        step: StepContext | None = None,
    ) -> list[Any]:
        """As `Servable.run`. What has no rows in common runs alone.

        Raises:
          errors.InvalidArgumentError: there are more rows than a batch may have.
          errors.UnavailableError: too many batches wait.
          errors.OpError: the step failed.
        """
        rows = merging.rows_of(feeds)
        if not rows:
            return self._run_step(feeds, fetches, step)
        if rows > self._options.max_batch_size:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Task size {rows} is larger than maximum input batch size "
                f"{self._options.max_batch_size}",
            )
        queue = self._queue(tuple(sorted(feeds)), tuple(fetches))
        most = self._options.max_execution_size
        if not self._options.splits or rows <= most:
            return queue.submit(_task(feeds, rows, step))
        parts = [
            queue.submit(
                _task(_slice(feeds, start, most), min(most, rows - start), step)
            )
            for start in range(0, rows, most)
        ]
        return [_joined(values) for values in zip(*parts, strict=True)]

    def _queue(self, feeds: tuple[str, ...], fetches: tuple[str, ...]) -> _Queue:
        queue = self._queues.get((feeds, fetches))
        if queue is None:
            made = _Queue(self._run_step, fetches, self._options, self._report)
            queue = self._queues.setdefault((feeds, fetches), made)
        return queue


def _slice(feeds: Mapping[str, Any], start: int, count: int) -> dict[str, Any]:
    return {name: value[start : start + count] for name, value in feeds.items()}


def _joined(values: Sequence[Any]) -> Any:
    import numpy as np

    return np.concatenate(values)


def _task(feeds: Mapping[str, Any], rows: int, step: StepContext | None) -> _Task:
    now = time.monotonic()
    timeout_s = None if step is None else step.options.timeout_s
    return _Task(
        feeds,
        rows,
        None if timeout_s is None else now + timeout_s,
        None if step is None else step.cancellation,
        now,
    )


def _limits(tasks: Sequence[_Task], now: float) -> StepContext | None:
    """The limits of a step for all: it ends when nobody waits for it any more."""
    if len(tasks) == 1:
        (task,) = tasks
        rest = None if task.deadline is None else max(1e-3, task.deadline - now)
        return StepContext(StepOptions(timeout_s=rest), cancellation=task.cancellation)
    deadlines = [task.deadline for task in tasks]
    if None in deadlines:
        return None
    latest = max(d for d in deadlines if d is not None)
    return StepContext(StepOptions(timeout_s=max(1e-3, latest - now)))


def _copy(error: BaseException) -> BaseException:
    """An equal error that another thread can raise."""
    if isinstance(error, errors.OpError):
        copy: BaseException = errors.make_exception(
            None, None, error.message, error.error_code or errors.UNKNOWN
        )
    else:
        copy = errors.InternalError(None, None, f"{type(error).__name__}: {error}")
    copy.__cause__ = error
    return copy
