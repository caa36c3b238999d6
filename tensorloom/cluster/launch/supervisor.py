"""Runs the tasks of a job together, starts again those that die, and ends them."""

from __future__ import annotations

import signal
import threading
import time
from typing import TYPE_CHECKING, Any, Final

from tensorloom.cluster.launch.announcer import Announcer
from tensorloom.cluster.launch.job import Job, Task, as_cluster
from tensorloom.cluster.launch.log import TaskLog, say
from tensorloom.cluster.launch.progress import Progress
from tensorloom.cluster.launch.running import JobFile
from tensorloom.framework import errors

if TYPE_CHECKING:
    from tensorloom.cluster.launch.places import End, Places

# How long to wait for an end before other things are looked at.
_LOOK_S: Final = 0.2


class Supervisor:
    """The life of one job.

    A task that ends with an error, is killed, or whose machine is lost, is started
    again after a pause, at another place if need be; then the others are told where it
    is. When the chief has ended well the training is over: nobody is started again.
    When all that are no servers have ended, the servers are told to end.

    Args:
      job: what to run.
      places: where.
      log: takes the lines of the tasks.
    """

    def __init__(self, job: Job, places: Places, log: TaskLog | None = None) -> None:
        self._job = job
        self._places = places
        self._log = log or TaskLog(job.tasks)
        self._addresses: dict[Task, str] = dict(job.others)
        self._running: set[Task] = set()
        self._done: set[Task] = set()
        self._restarts = dict.fromkeys(job.tasks, 0)
        # When a task is to be started again, `time.monotonic()`.
        self._due: dict[Task, float] = {}
        self._announcer = Announcer()
        self._file = JobFile(job.program)
        self._progress = Progress(lambda line: say(f"progress: {line}"), job.progress_s)
        self._interrupted = 0

    def run(self) -> int:
        """Runs the job.

        Returns:
          0, or the exit status of the task that it failed with; 128 and the number of
          the signal when it was interrupted.
        """
        restore = self._stop_at_signals()
        status = 1
        try:
            self._places.open(self._log.write)
            status = self._start_all()
            if status == 0:
                status = self._watch()
        except errors.OpError as error:
            say(error.message)
        finally:
            self._progress.close()
            self._announcer.close()
            self._end()
            self._file.remove()
            self._places.close()
            self._log.close()
            restore()
        return status

    # --- starting ---------------------------------------------------------------------

    def _start_all(self) -> int:
        for task in self._job.tasks:
            self._addresses[task] = self._places.place(task)
        for task in self._job.tasks:
            if status := self._start(task):
                return status
        return 0

    def _start(self, task: Task) -> int:
        """Starts a task; the status to end with, or 0."""
        cluster = as_cluster(self._addresses)
        command = self._job.command(task, cluster)
        environment = self._job.environment_of(task, cluster)
        try:
            self._places.start(task, command, environment)
        except errors.UnavailableError as error:
            return self._died(task, 1, error.message)
        self._running.add(task)
        self._file.write(self._addresses, self._restarts)
        self._tell_progress()
        self._announcer.started(task, self._addresses)
        return 0

    def _start_again(self, task: Task) -> int:
        del self._due[task]
        try:
            self._addresses[task] = self._places.place(task)
        except errors.UnavailableError as error:
            return self._died(task, 1, error.message)
        say(f"{task.name} is started again, at {self._addresses[task]}")
        return self._start(task)

    # --- watching ---------------------------------------------------------------------

    def _watch(self) -> int:
        while True:
            if self._interrupted:
                return self._interrupted
            for end in self._places.wait(_LOOK_S):
                if status := self._ended(end):
                    return status
            if all(t in self._done for t in self._job.tasks if not t.is_server):
                return 0
            for task, at in list(self._due.items()):
                if time.monotonic() >= at and (status := self._start_again(task)):
                    return status

    def _ended(self, end: End) -> int:
        """What becomes of a task that has ended; the status to end with, or 0."""
        self._running.discard(end.task)
        self._announcer.ended(end.task)
        self._tell_progress()
        if end.status == 0:
            self._done.add(end.task)
            return 0
        if end.status is None:
            return self._died(end.task, 1, end.reason)
        status = end.status if end.status > 0 else 128 - end.status
        return self._died(end.task, status, end.reason)

    def _tell_progress(self) -> None:
        self._progress.running(
            {task.name: self._addresses[task] for task in sorted(self._running)}
        )

    def _died(self, task: Task, status: int, reason: str) -> int:
        if self._job.chief in self._done and task.is_server:
            self._done.add(task)
            say(f"{task.name}: {reason}; the chief is done, so it is not started again")
            return 0
        self._restarts[task] += 1
        restarts = self._job.restarts
        chief_is_done = self._job.chief in self._done
        if self._restarts[task] > restarts.limit or chief_is_done:
            when = f" after {restarts.limit} restarts" if restarts.limit else ""
            when = " when the chief was done" if chief_is_done else when
            say(f"{task.name} failed{when}: {reason}; stopping the others")
            return status
        pause = restarts.pause_s(self._restarts[task])
        say(
            f"{task.name}: {reason}; restart {self._restarts[task]} of at most "
            f"{restarts.limit} in {pause:g} s"
        )
        self._due[task] = time.monotonic() + pause
        return 0

    # --- the end ----------------------------------------------------------------------

    def _stop_at_signals(self) -> Any:
        """Ends the job at SIGTERM and Ctrl-C; what takes that back."""
        if threading.current_thread() is not threading.main_thread():
            return lambda: None
        numbers = (signal.SIGTERM, signal.SIGINT)
        before = [signal.signal(number, self._interrupt) for number in numbers]

        def restore() -> None:
            for number, handler in zip(numbers, before, strict=True):
                signal.signal(number, handler)

        return restore

    def _interrupt(self, number: int, frame: Any) -> None:
        self._interrupted = 128 + number

    def _end(self) -> None:
        """Ends what still runs: asks, then terminates, then kills."""
        if not self._interrupted:
            for task in sorted(self._running):
                self._ask_to_stop(task)
            self._wait_for_ends()
        for act in (self._places.terminate, self._places.kill):
            for task in sorted(self._running):
                act(task)
            self._wait_for_ends()

    def _wait_for_ends(self) -> None:
        deadline = time.monotonic() + self._job.grace_s
        while self._running and time.monotonic() < deadline:
            for end in self._places.wait(_LOOK_S):
                self._running.discard(end.task)

    def _ask_to_stop(self, task: Task) -> None:
        """Lets `server.join` of a parameter server return."""
        if not task.is_server:
            self._places.terminate(task)
            return
        from tensorloom.cluster.control import stop_server

        try:
            stop_server(
                self._addresses[task], "the workers are done", self._job.grace_s
            )
        except errors.OpError:
            self._places.terminate(task)
