"""An input service of one test: its servers, and programs that read from it."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import tensorloom as tf
from tensorloom.data.service.client import ask
from tests.cluster.clusters import free_ports

service = tf.data.experimental.service
#: Longer than any test takes, however busy the machine is.
LONG_S = 300.0


class Service:
    """A dispatcher and workers in this process."""

    def __init__(
        self, directory: Path | None = None, places: list[str] | None = None
    ) -> None:
        (port,) = free_ports(1)
        self.config = service.DispatcherConfig(
            port=port,
            worker_addresses=places,
            work_dir=None if directory is None else str(directory),
            fault_tolerant_mode=directory is not None,
        )
        self.workers: list[Any] = []
        self.start_dispatcher()

    def start_dispatcher(self) -> None:
        """Starts it, perhaps again: at the same port."""
        self.dispatcher = service.DispatchServer(self.config)

    @property
    def target(self) -> str:
        """What `distribute` takes."""
        return str(self.dispatcher.target)

    def add_worker(self, port: int = 0) -> Any:
        """Starts one more worker."""
        address = self.target.removeprefix("grpc://")
        worker = service.WorkerServer(service.WorkerConfig(address, port=port))
        self.workers.append(worker)
        return worker

    def distribute(self, mode: str = "distributed_epoch", **how: Any) -> Any:
        """For `Dataset.apply`."""
        return service.distribute(mode, self.target, **how)

    def wait_for_consumers(self, job: str, count: int) -> None:
        """Waits until a job has so many."""
        until = time.monotonic() + LONG_S
        address = self.target.removeprefix("grpc://")
        found = -1
        while found != count:
            assert time.monotonic() < until, found
            time.sleep(0.002)
            jobs = ask(address, "Describe", {})[0]["jobs"]
            (found,) = [each["consumers"] for each in jobs if each["name"] == job]

    def close(self) -> None:
        """Stops all servers."""
        for worker in self.workers:
            worker.stop()
        self.dispatcher.stop()


@contextmanager
def serving(
    workers: int, directory: Path | None = None, places: list[str] | None = None
) -> Iterator[Service]:
    """A service; behind it no thread of it is left."""
    before = set(threading.enumerate())
    found = Service(directory, places)
    try:
        for _ in range(workers):
            found.add_worker()
        yield found
    finally:
        found.close()
    until = time.monotonic() + LONG_S
    while (left := _threads(before)) and time.monotonic() < until:
        gc.collect()  # iterators that a test dropped
        time.sleep(0.01)
    assert not left


def _threads(before: set[threading.Thread]) -> list[str]:
    names = [thread.name for thread in set(threading.enumerate()) - before]
    return [name for name in names if name.startswith("tensorloom-input-")]


class Program:
    """A session that reads a dataset."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._graph = tf.Graph()
        with self._graph.as_default():
            iterator = make().make_initializable_iterator()
            self._next = iterator.get_next()
            self._session = tf.Session(graph=self._graph)
            self._begin = iterator.initializer
        self._session.run(self._begin)

    def again(self) -> None:
        """Begins the next iteration."""
        self._session.run(self._begin)

    def next(self) -> Any:
        """The next element."""
        return self._session.run(self._next)

    def rest(self) -> list[Any]:
        """All elements that are left."""
        found = []
        with suppress(tf.errors.OutOfRangeError):
            while True:
                found.append(self.next())
        return found

    def close(self) -> None:
        """Ends the session."""
        self._session.close()


@contextmanager
def reading(make: Callable[[], Any]) -> Iterator[Program]:
    """A program, whose session is closed behind."""
    program = Program(make)
    try:
        yield program
    finally:
        program.close()


def in_threads(*work: Callable[[], Any]) -> list[Any]:
    """What functions return that run beside one another; raises what one raised."""
    found: list[Any] = [None] * len(work)

    def run(index: int) -> None:
        try:
            found[index] = work[index]()
        except BaseException as error:
            found[index] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(work))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for each in found:
        if isinstance(each, BaseException):
            raise each
    return found
