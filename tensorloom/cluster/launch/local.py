"""Tasks as processes of this machine."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Final

from tensorloom.cluster.launch.child import started_child
from tensorloom.cluster.launch.places import End, OnLine, Places, meaning

if TYPE_CHECKING:
    import subprocess

    from tensorloom.cluster.launch.job import Task

# Until the last lines of a process that has ended are read.
_LAST_LINES_S: Final = 5.0


class LocalPlaces(Places):
    """Processes, at ports of loopback that each task keeps for all its lives."""

    def __init__(self) -> None:
        self._addresses: dict[Task, str] = {}
        self._processes: dict[Task, subprocess.Popen[str]] = {}
        self._readers: dict[Task, threading.Thread] = {}
        self._changed = threading.Event()
        self._stack = ExitStack()
        self._on_line: OnLine = lambda task, line: None

    def open(self, on_line: OnLine) -> None:
        """See `Places`."""
        self._on_line = on_line

    def place(self, task: Task) -> str:
        """See `Places`."""
        if task not in self._addresses:
            # Held until all tasks have one: no two get the same.
            listener = self._stack.enter_context(socket.socket())
            listener.bind(("127.0.0.1", 0))
            self._addresses[task] = f"localhost:{listener.getsockname()[1]}"
        return self._addresses[task]

    def start(
        self, task: Task, command: Sequence[str], environment: Mapping[str, str]
    ) -> None:
        """See `Places`."""
        self._stack.close()
        process = started_child(command, environment)
        self._processes[task] = process
        reader = threading.Thread(target=self._read, args=(task, process), daemon=True)
        self._readers[task] = reader
        reader.start()

    def _read(self, task: Task, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                self._on_line(task, line)
        self._changed.set()  # the process is at its end

    def wait(self, timeout_s: float) -> list[End]:
        """See `Places`."""
        deadline = time.monotonic() + timeout_s
        while True:
            self._changed.clear()
            ended = [
                (task, process)
                for task, process in self._processes.items()
                if process.poll() is not None
            ]
            left = deadline - time.monotonic()
            if ended or left <= 0:
                break
            self._changed.wait(min(left, 0.2))
        ends = []
        for task, process in ended:
            del self._processes[task]
            # A process of its own may have the pipe still.
            self._readers.pop(task).join(_LAST_LINES_S)
            ends.append(End(task, process.returncode, meaning(process.returncode)))
        return ends

    def terminate(self, task: Task) -> None:
        """See `Places`."""
        with suppress(OSError, KeyError):
            self._processes[task].terminate()

    def kill(self, task: Task) -> None:
        """See `Places`."""
        with suppress(OSError, KeyError):
            self._processes[task].kill()

    def close(self) -> None:
        """See `Places`."""
        self._stack.close()
        for process in self._processes.values():
            with suppress(OSError):
                process.kill()
            process.wait()
