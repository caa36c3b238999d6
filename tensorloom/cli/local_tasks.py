"""Processes that run together, and end together."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rich.console import Console

_COLOURS: Final = ("cyan", "green", "yellow", "magenta", "blue", "bright_red")
_PR_SET_PDEATHSIG: Final = 1


@dataclass(frozen=True)
class Task:
    """A process to be."""

    name: str  # before each of its lines
    command: Sequence[str]
    environment: Mapping[str, str]  # beside this process's own
    address: str  # where it serves
    is_server: bool  # whether it ends only when it is told to


class LocalTasks:
    """Runs tasks until those that are no servers have ended, or one has failed."""

    def __init__(self, tasks: Sequence[Task], grace_s: float) -> None:
        """Makes the tasks; `run` starts them.

        Args:
          tasks: what to run.
          grace_s: how long a task may take to end before it is killed.
        """
        self._tasks = tasks
        self._grace_s = grace_s
        self._processes: list[subprocess.Popen[str]] = []
        self._changed = threading.Event()
        self._interrupted = 0

    def run(self) -> int:
        """Runs the tasks; returns the exit status of the first that failed, or 0."""
        prepare = _dies_with(os.getpid())
        for task in self._tasks:
            self._processes.append(
                subprocess.Popen(
                    task.command,
                    env={**os.environ, **task.environment},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    errors="replace",
                    # Ctrl-C is for us; we stop them.
                    start_new_session=True,
                    preexec_fn=prepare,
                )
            )
        printers = self._print_lines()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._interrupt)
        try:
            status = self._wait()
        finally:
            self._end()
        for printer in printers:
            printer.join(self._grace_s)
        return status

    def _interrupt(self, number: int, frame: Any) -> None:
        self._interrupted = 128 + number
        self._changed.set()

    def _print_lines(self) -> list[threading.Thread]:
        from rich.console import Console

        console = Console(highlight=False, markup=False, soft_wrap=True)
        threads = []
        for i, (task, process) in enumerate(
            zip(self._tasks, self._processes, strict=True)
        ):
            assert process.stdout is not None
            arguments = (console, task.name, _COLOURS[i % len(_COLOURS)])
            threads.append(
                threading.Thread(
                    target=self._copy, args=(process.stdout, *arguments), daemon=True
                )
            )
            threads[-1].start()
        return threads

    def _copy(self, lines: IO[str], console: Console, name: str, colour: str) -> None:
        from rich.text import Text

        for line in lines:
            text = Text.assemble((f"[{name}] ", colour), line.rstrip("\n"))
            console.print(text)
        self._changed.set()  # the process is at its end

    def _wait(self) -> int:
        """Waits for the end of the workers, or for the first failure."""
        pairs = list(zip(self._tasks, self._processes, strict=True))
        while True:
            self._changed.clear()
            if self._interrupted:
                return self._interrupted
            statuses = [(task, process.poll()) for task, process in pairs]
            for task, status in statuses:
                if status:
                    _say(f"{task.name} failed: {_meaning(status)}; stopping the others")
                    return status if status > 0 else 128 - status
            if all(status == 0 for task, status in statuses if not task.is_server):
                return 0
            self._changed.wait(0.2)

    def _end(self) -> None:
        """Ends what still runs: asks, then terminates, then kills."""
        if not self._interrupted:
            self._each(self._ask_to_stop)
        self._each(lambda task, process: process.terminate())
        self._each(lambda task, process: process.kill())

    def _each(self, act: Callable[[Task, subprocess.Popen[str]], None]) -> None:
        running = [
            (task, process)
            for task, process in zip(self._tasks, self._processes, strict=True)
            if process.poll() is None
        ]
        for task, process in running:
            with suppress(OSError):
                act(task, process)
        deadline = time.monotonic() + self._grace_s
        for _, process in running:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, deadline - time.monotonic()))

    def _ask_to_stop(self, task: Task, process: subprocess.Popen[str]) -> None:
        """Lets `server.join` of a parameter server return."""
        if not task.is_server:
            process.terminate()
            return
        from tensorloom.cluster.control import stop_server
        from tensorloom.framework import errors

        try:
            stop_server(task.address, "the workers are done", self._grace_s)
        except errors.OpError:
            process.terminate()


def _dies_with(parent: int) -> Callable[[], None] | None:
    """What makes a child end with its parent, however that one ends."""
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)

    def prepare() -> None:
        library.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    return prepare


def _meaning(status: int) -> str:
    if status > 0:
        return f"exit status {status}"
    return f"killed by {signal.Signals(-status).name}"


def _say(message: str) -> None:
    print(f"tensorloom cluster: {message}", file=sys.stderr, flush=True)
