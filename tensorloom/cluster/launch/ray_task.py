"""The actor of one task: a process of its own on a node of Ray."""

from __future__ import annotations

import os
import queue
import socket
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from tensorloom.cluster.launch.child import started_child

if TYPE_CHECKING:
    import subprocess

_MOST_LINES: Final = 1000
_LAST_LINES_S: Final = 5.0


class RayTask:
    """Runs a task's program in a process that ends with the actor, and its node."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        # None: no more lines come.
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._reader: threading.Thread | None = None

    def place(self) -> tuple[str, str]:
        """The address for the task's server, and the Python of this node."""
        import ray

        util: Any = ray.util
        host = str(util.get_node_ip_address())
        with socket.socket() as listener:
            listener.bind(("", 0))
            port = listener.getsockname()[1]
        return f"{'localhost' if host == '127.0.0.1' else host}:{port}", sys.executable

    def start(
        self, command: Sequence[str], environment: Mapping[str, str], folder: str
    ) -> None:
        """Starts the program in a folder of this node, this one if it has no such."""
        there = folder if os.path.isdir(folder) else None
        self._process = started_child(command, environment, there)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        with self._process.stdout:
            for line in self._process.stdout:
                self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def poll(self, timeout_s: float) -> tuple[list[str], int | None]:
        """Lines that are new, and the status of the process if it has ended.

        Waits so long for a first line, or the end.
        """
        assert self._process is not None
        lines: list[str] = []
        deadline = time.monotonic() + timeout_s
        while len(lines) < _MOST_LINES:
            left = 0.0 if lines else max(0.0, deadline - time.monotonic())
            try:
                line = self._lines.get(timeout=left)
            except queue.Empty:
                break
            if line is None:
                self._process.wait()
                return lines, self._process.returncode
            lines.append(line)
        return lines, None

    def signal(self, number: int) -> None:
        """Sends the process a signal."""
        if self._process is not None:
            with suppress(OSError):
                self._process.send_signal(number)
