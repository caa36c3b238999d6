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
from tensorloom.framework.runtime import threads
from tensorloom.serving.batching import merging
from tensorloom.serving.batching.task import Task, copy_error, finish, step_of
from tensorloom.serving.manager.engine import EngineLost

if TYPE_CHECKING:
    from tensorloom.framework.interfaces import StepContext
    from tensorloom.serving.batching.parameters import BatchingOptions
    from tensorloom.serving.calls.outcome import Outcome
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

# How long those whose batch ended with its engine wait for another engine, and between
# two looks whether their callers still do.
_ENGINE_BACK_S: Final = 120.0
_LOOK_S: Final = 0.2

#: Waits so long until steps can run; whether they can.
WaitUp = Callable[[float], bool]
#: (reason, rows of each request, seconds each waited, rows of padding)
Report = Callable[[str, list[int], list[float], int], None]


@dataclass(eq=False, slots=True)
class _Batch:
    """Tasks that run together."""

    shapes: merging.Shapes
    closes_at: float
    tasks: list[Task] = field(default_factory=list)
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
        is_up: WaitUp,
    ) -> None:
        self._run, self._fetches, self._report = run, fetches, report
        self._is_up = is_up
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

    def submit(self, task: Task) -> list[Any]:
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
        task.wait()
        return task.result()

    def start(self, task: Task) -> None:
        """Has a task run in a batch; who waits for it is told.

        Raises:
          errors.UnavailableError: too many batches wait.
        """
        batch, is_opener = self._join(task)
        if is_opener:
            threads.start(lambda: self._drive(batch))

    def _join(self, task: Task) -> tuple[_Batch, bool]:
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
            is_of_one = isinstance(error, (*_OF_ONE_REQUEST, EngineLost))
            if len(tasks) > 1 and is_of_one:
                self._run_each(batch, tasks)
            else:
                for task in tasks:
                    # It is raised in several threads: each has one of its own.
                    task.error = copy_error(error)
        for task in left:
            assert task.cancellation is not None
            task.error = task.cancellation.error()
        finish(batch.tasks)

    def _run_each(self, batch: _Batch, tasks: list[Task]) -> None:
        """Runs the tasks one by one: what is wrong with one is not its neighbours'."""
        for task in tasks:
            try:
                self._wait_up(task)
                self._run_tasks(batch, [task])
            except Exception as error:
                task.error = error
            finish([task])

    def _wait_up(self, task: Task) -> None:
        """Waits until the engine is there, for as long as the task is wanted.

        Raises:
          errors.CancelledError, errors.DeadlineExceededError: it no longer is.
          errors.UnavailableError: the engine does not come back.
        """
        end = time.monotonic() + _ENGINE_BACK_S
        task.check()
        while not self._is_up(_LOOK_S):
            task.check()
            if time.monotonic() > end:
                raise errors.UnavailableError(
                    None, None, "The model ended in this batch, and is not back"
                )

    def _run_tasks(self, batch: _Batch, tasks: list[Task]) -> None:
        rows = [task.rows for task in tasks]
        total = sum(rows)
        padding = self._allowed_size(total) - total
        now = time.monotonic()
        self._report(batch.closed, rows, [now - t.since for t in tasks], padding)
        feeds = merging.merge([task.feeds for task in tasks], padding)
        with step_of(tasks, now) as step:
            outputs = self._run(feeds, self._fetches, step)
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
        is_up: WaitUp = lambda timeout_s: True,
        in_one_step: bool = False,
    ) -> None:
        """Puts requests together.

        Args:
          run: runs a step.
          options: which requests, and how many.
          report: is told of each batch.
          is_up: waits until steps can run again, after one whose engine was lost.
          in_one_step: has what would be split run as it is, alone.
        """
        self._run_step, self._options, self._report = run, options, report
        self._is_up, self._in_one_step = is_up, in_one_step
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
        rows = self._rows_of(feeds)
        if not rows:
            return self._run_step(feeds, fetches, step)
        queue = self._queue(tuple(sorted(feeds)), tuple(fetches))
        most = self._options.max_execution_size
        if not self._options.splits or rows <= most:
            return queue.submit(Task.of(feeds, rows, step))
        if self._in_one_step:
            return self._run_step(feeds, fetches, step)
        parts = [
            queue.submit(
                Task.of(_slice(feeds, start, most), min(most, rows - start), step)
            )
            for start in range(0, rows, most)
        ]
        return [_joined(values) for values in zip(*parts, strict=True)]

    def start(
        self,
        feeds: Mapping[str, Any],
        fetches: Sequence[str],
        step: StepContext | None,
        outcome: Outcome,
    ) -> bool:
        """Begins what `run` does, for a call that waits in an event loop.

        Returns:
          Whether it has begun; what is not of one batch, `run` has to do.

        Raises:
          errors.InvalidArgumentError: there are more rows than a batch may have.
          errors.UnavailableError: too many batches wait.
        """
        rows = self._rows_of(feeds)
        options = self._options
        if not rows or (options.splits and rows > options.max_execution_size):
            return False
        queue = self._queue(tuple(sorted(feeds)), tuple(fetches))
        queue.start(Task.of(feeds, rows, step, outcome))
        return True

    def _rows_of(self, feeds: Mapping[str, Any]) -> int | None:
        """The rows of a request; None or 0: it is of no batch."""
        rows = merging.rows_of(feeds)
        if rows and rows > self._options.max_batch_size:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Task size {rows} is larger than maximum input batch size "
                f"{self._options.max_batch_size}",
            )
        return rows

    def _queue(self, feeds: tuple[str, ...], fetches: tuple[str, ...]) -> _Queue:
        queue = self._queues.get((feeds, fetches))
        if queue is None:
            made = _Queue(
                self._run_step, fetches, self._options, self._report, self._is_up
            )
            queue = self._queues.setdefault((feeds, fetches), made)
        return queue


def _slice(feeds: Mapping[str, Any], start: int, count: int) -> dict[str, Any]:
    return {name: value[start : start + count] for name, value in feeds.items()}


def _joined(values: Sequence[Any]) -> Any:
    import numpy as np

    return np.concatenate(values)
