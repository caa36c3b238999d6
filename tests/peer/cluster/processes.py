"""Processes of tasks and clients, forked from one of each system that imported it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from tests.peer.peers import REPOSITORY, python_of

FORKS = Path(__file__).with_name("forks.py")
OURS = "tensorloom"


def python_for(system: str) -> str | None:
    """The interpreter of a system; None if it is not installed."""
    if system == OURS:
        return sys.executable
    found = python_of(system)
    return str(found) if found else None


def environment(system: str) -> dict[str, str]:
    """What a process of a system sees."""
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    if system == OURS:
        variables["PYTHONPATH"] = str(REPOSITORY)
    return variables


class Processes:
    """Runs modules of this folder; `close` ends all processes."""

    def __init__(self) -> None:
        self._ends = ExitStack()
        self._forking: dict[str, socket.socket] = {}

    def close(self) -> None:
        """Ends the processes."""
        self._ends.close()

    @contextmanager
    def running(
        self, errors: IO[bytes] | int, system: str, module: str, *arguments: str
    ) -> Iterator[IO[bytes]]:
        """A process, killed at the end; yields its standard output.

        Args:
          errors: where its standard error goes to.
        """
        forking = self._forking.get(system) or self._start(system)
        ours, theirs = os.pipe()
        with open(ours, "rb") as output:
            try:
                process = asked(forking, [module, *arguments], theirs, errors)
            finally:
                os.close(theirs)
            try:
                yield output
            finally:
                asked(forking, process)

    def _start(self, system: str) -> socket.socket:
        python = python_for(system)
        assert python is not None
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(
                [python, FORKS, system],
                stdin=theirs,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment(system),
            )
        self._ends.callback(process.wait)
        self._forking[system] = self._ends.enter_context(ours)
        return ours


def asked(forking: socket.socket, request: Any, *files: IO[bytes] | int) -> int:
    """The answer to a request of `forks.py`."""
    descriptors = [f if isinstance(f, int) else f.fileno() for f in files]
    socket.send_fds(forking, [json.dumps(request).encode()], descriptors)
    answer = forking.recv(32)
    assert answer, "the system could not be imported"
    return int(answer)
