"""Clusters of real processes that tests kill, stop and start again."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tensorloom.transport.peers.liveness import TIMEOUT_VARIABLE
from tests.cluster.clusters import free_ports

#: How long a task may be silent in these clusters. A busy machine may need seconds to
#: import what a first step needs.
LIMIT_S = 5.0
_SERVER = [sys.executable, "-m", "tensorloom", "server", "--cluster"]


class Processes:
    """Tasks of one cluster, each a `tensorloom server`."""

    def __init__(self, environment: dict[str, str], **jobs: int) -> None:
        ports = iter(free_ports(sum(jobs.values())))
        self.cluster = {
            job: [f"localhost:{next(ports)}" for _ in range(count)]
            for job, count in jobs.items()
        }
        self._environment = {
            **os.environ,
            TIMEOUT_VARIABLE: str(LIMIT_S),
            **environment,
        }
        self._running: dict[tuple[str, int], subprocess.Popen[str]] = {}

    def start(self, job: str, index: int = 0, cluster: Any = None, *more: str) -> None:
        """Starts a task and waits until it serves; `cluster` as it sees it."""
        self._begin(job, index, cluster, *more)
        self._wait_until_ready(job, index)

    def start_all(self) -> None:
        """Starts all tasks."""
        tasks = [(job, i) for job, a in self.cluster.items() for i in range(len(a))]
        for job, index in tasks:
            self._begin(job, index, None)
        for job, index in tasks:
            self._wait_until_ready(job, index)

    def _begin(self, job: str, index: int, cluster: Any, *more: str) -> None:
        jobs = (cluster or self.cluster).items()
        spec = ";".join(f"{name}={','.join(tasks)}" for name, tasks in jobs)
        self._running[job, index] = subprocess.Popen(
            [
                *self.prefix(job, index),
                *[*_SERVER, spec, "--job", job, "--task", str(index), *more],
            ],
            env=self._environment,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )

    def prefix(self, job: str, index: int) -> list[str]:
        """What stands before the command of a task."""
        return []

    def _wait_until_ready(self, job: str, index: int) -> None:
        process = self._running[job, index]
        assert process.stderr is not None
        line = process.stderr.readline()
        while line and " is at grpc://" not in line:
            line = process.stderr.readline()
        assert line, f"{job} {index} ended with {process.wait()}"

    def pid(self, job: str, index: int = 0) -> int:
        """A task's process."""
        return self._running[job, index].pid

    def target(self, job: str, index: int = 0) -> str:
        """What a session takes."""
        return f"grpc://{self.cluster[job][index]}"

    def send(self, number: int, job: str, index: int = 0) -> None:
        """Sends a signal to a task."""
        self._running[job, index].send_signal(number)

    def kill(self, job: str, index: int = 0) -> None:
        """Kills a task and waits for its end."""
        self.send(signal.SIGKILL, job, index)
        self.wait(job, index)

    def wait(self, job: str, index: int = 0) -> int:
        """Waits for a task's end; returns its status."""
        process = self._running.pop((job, index))
        assert process.stderr is not None
        status = process.wait(60)
        process.stderr.close()
        return status

    def close(self) -> None:
        """Kills what is left."""
        for job, index in list(self._running):
            self.send(signal.SIGCONT, job, index)
            self.kill(job, index)


@contextmanager
def processes(environment: dict[str, str], **jobs: int) -> Iterator[Processes]:
    """A cluster whose tasks all run."""
    cluster = Processes(environment, **jobs)
    try:
        cluster.start_all()
        yield cluster
    finally:
        cluster.close()


def eventually(condition: Callable[[], bool], within_s: float = 60.0) -> bool:
    """Whether a condition comes true."""
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def threads_of(pid: int) -> int:
    """How many threads a process has."""
    return len(os.listdir(f"/proc/{pid}/task"))


def files_of(pid: int) -> list[str]:
    """What a process's descriptors are."""
    found = []
    for number in os.listdir(f"/proc/{pid}/fd"):
        with suppress(OSError):
            found.append(os.readlink(f"/proc/{pid}/fd/{number}"))
    return found


class Proxy:
    """A port whose traffic can be cut, without anybody being told, and healed."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._to = host, int(port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"localhost:{self._listener.getsockname()[1]}"
        self._flows = threading.Event()
        self._flows.set()
        self._sockets: list[socket.socket] = [self._listener]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Nothing gets through from now on."""
        self._flows.clear()

    def heal(self) -> None:
        """What was held back, and all that comes, gets through."""
        self._flows.set()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                caller, _ = self._listener.accept()
                threading.Thread(
                    target=self._serve, args=(caller,), daemon=True
                ).start()

    def _serve(self, caller: socket.socket) -> None:
        self._flows.wait()
        try:
            task = socket.create_connection(self._to)
        except OSError:
            caller.close()
            return
        self._sockets += [caller, task]
        with suppress(OSError, ValueError):
            while True:
                for source in select.select([caller, task], [], [])[0]:
                    content = source.recv(65536)
                    self._flows.wait()
                    if not content:
                        raise OSError("the end")
                    (task if source is caller else caller).sendall(content)
        caller.close()
        task.close()

    def close(self) -> None:
        """Ends all connections."""
        self._flows.set()
        for one in self._sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
