"""Servers of the input service, in this process."""

from __future__ import annotations

import contextlib
import os
import threading
import time
import uuid
from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.program import program_log
from tensorloom.coordination.writers import job_coordinator
from tensorloom.data.service import calls
from tensorloom.data.service.config import (
    DispatcherConfig,
    WorkerConfig,
    check_protocol,
)
from tensorloom.data.service.dispatcher import Dispatcher, Limits
from tensorloom.data.service.journal import Journal
from tensorloom.data.service.worker import Worker
from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.framework.graph import graph_def
from tensorloom.framework.registry.op_policy import OpPolicy
from tensorloom.transport.grpc.channel import GrpcChannel
from tensorloom.transport.grpc.server import GrpcServer
from tensorloom.transport.peers import host_port

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tensorloom.coordination.lock import Lock

_SILENCE_MS: Final = 60_000
_UNUSED_MS: Final = 300_000
_CHECKS_MS: Final = 1_000
_BEAT_MS: Final = 1_000
_WAIT_MS: Final = 3_600_000
_LAST_WORDS_S: Final = 2.0


class _Server:
    """What both kinds of server have: an address, a thread, an end."""

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._server: GrpcServer | None = None
        self._thread: threading.Thread | None = None
        self._stopping = threading.Lock()

    def join(self) -> None:
        """Waits until the server has stopped."""
        self._stopped.wait()

    def _listen(self, answers: Any, host: str, port: int) -> int:
        listens_on = host if host_port.is_loopback(host) else "0.0.0.0"
        address = host_port.join(listens_on, port)
        self._server = GrpcServer(calls.handlers(answers), address)
        self._server.start()
        return self._server.port

    def _every(self, period_s: float, work: Callable[[], None], name: str) -> None:
        def run() -> None:
            while not self._stopped.wait(period_s):
                work()

        self._thread = threading.Thread(target=run, name=name, daemon=True)
        self._thread.start()

    def _end(self) -> bool:
        """Ends what is common; False if that was done before."""
        with self._stopping:
            was_stopped = self._stopped.is_set()
            self._stopped.set()
        if was_stopped:
            return False
        if self._server is not None:
            self._server.stop()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()
        return True

    def __del__(self) -> None:
        if getattr(self, "_stopped", None) is not None and not self._stopped.is_set():
            self._stopped.set()
            if self._server is not None:
                self._server.stop()


@export("data.experimental.service.DispatchServer")
class DispatchServer(_Server):
    """A dispatcher of an input service in this process."""

    def __init__(
        self,
        config: Any = None,
        start: bool = True,
        *,
        host: str = "localhost",
        deny_ops: Sequence[str] = (),
    ) -> None:
        """Makes a dispatcher, and starts it unless `start` is false.

        Args:
          config: a `DispatcherConfig`.
          start: whether to answer at once.
          host: how others reach it; it listens on all interfaces unless that is
            loopback.
          deny_ops: ops that no dataset may have, as of `tf.train.Server`.

        Raises:
          ValueError: fault_tolerant_mode without work_dir.
          errors.FailedPreconditionError: another dispatcher has the directory.
          errors.DataLossError: its journal is damaged.
          errors.UnknownError: the port cannot be listened on.
        """
        super().__init__()
        self._config = config = config or DispatcherConfig()
        if config.fault_tolerant_mode and not config.work_dir:
            raise ValueError(
                "Cannot enable fault tolerant mode without configuring a work dir. "
                "Make sure to set `work_dir` in the `config` object passed to "
                "`DispatcherServer`."
            )
        check_protocol(config.protocol)
        self._host, self._policy = host, OpPolicy(deny_ops)
        self._port = config.port
        self._journal: Journal | None = None
        self._lock: Lock | None = None
        self._lost = ""
        self._dispatcher: Dispatcher | None = None
        if start:
            self.start()

    def start(self) -> None:
        """Reads the journal, and begins to answer."""
        if self._dispatcher is not None:
            return
        config = self._config
        try:
            if config.fault_tolerant_mode and config.work_dir:
                self._lock = _lock_of(config.work_dir)
                self._journal = Journal(config.work_dir, locks=self._lock is None)
            self._dispatcher = Dispatcher(
                self._journal,
                _limits(config),
                self._check,
                self._holds,
                places=config.worker_addresses or (),
            )
            self._port = self._listen(
                self._dispatcher.answers(), self._host, self._port
            )
        except BaseException:
            self._close()
            raise
        period_ms = config.job_gc_check_interval_ms or _CHECKS_MS
        self._every(period_ms / 1000, self._look_around, "tensorloom-input-dispatcher")

    @property
    def target(self) -> str:
        """`grpc://host:port`, for `distribute`."""
        return f"grpc://{host_port.join(self._host, self._port)}"

    def stop(self) -> None:
        """Stops. Started again with the same directory, it goes on from here."""
        if self._dispatcher is not None:
            self._dispatcher.stop()
        if self._end():
            self._close()

    @property
    def has_lost(self) -> str:
        """Why it has stopped by itself, if it has: another one has taken over."""
        return self._lost

    def _close(self) -> None:
        if self._journal is not None:
            self._journal.close()
        if self._lock is not None:
            with contextlib.suppress(errors.UnavailableError):  # the lease ends
                self._lock.release()

    def _look_around(self) -> None:
        assert self._dispatcher is not None
        if self._lock is not None and not self._lock.is_held:
            self._lost = self._lock.lost().message
            program_log.warning("This dispatcher ends: %s", self._lost)
            self.stop()
            return
        try:
            self._dispatcher.look_around()
        except errors.OpError:
            return  # who asks for something is told what is wrong

    def _check(self, graph: bytes) -> None:
        # Read here, so that no worker is handed what is none.
        self._policy.check(graph_def.from_proto(graph_def.parse(graph), internal=True))

    def _holds(self) -> None:
        if self._lock is not None and not self._lock.is_held:
            raise errors.UnavailableError(
                None, None, f"This dispatcher is none any more: {self._lock.lost()}"
            )


@export("data.experimental.service.WorkerServer")
class WorkerServer(_Server):
    """A worker of an input service in this process."""

    def __init__(self, config: Any, start: bool = True) -> None:
        """Makes a worker, and starts it unless `start` is false.

        Args:
          config: a `WorkerConfig`.
          start: whether to answer at once.

        Raises:
          ValueError: the address of the dispatcher is missing.
          errors.UnavailableError: the dispatcher does not answer.
          errors.UnknownError: the port cannot be listened on.
        """
        super().__init__()
        if config.dispatcher_address is None:
            raise ValueError(
                "Must specify a `dispatcher_address` in the `config` passed to "
                "`WorkerServer`."
            )
        check_protocol(config.protocol)
        check_protocol(config.data_transfer_protocol)
        self._config: WorkerConfig = config
        self._name = uuid.uuid4().hex
        self._address = ""
        self._channel = GrpcChannel(config.dispatcher_address)
        self._worker = Worker(self._channel)
        self._is_started = False
        if start:
            self.start()

    def start(self) -> None:
        """Begins to answer, and tells the dispatcher."""
        if self._is_started:
            return
        self._is_started = True
        config = self._config
        given = config.worker_address or "localhost:%port%"
        host, _, number = given.rpartition(":")
        port = config.port or (int(number) if number.isdigit() else 0)
        port = self._listen(self._worker.answers(), host.strip("[]"), port)
        self._address = given.replace("%port%", str(port))
        if number.isdigit() and int(number) == 0:
            self._address = f"{host}:{port}"
        try:
            self._meet((config.dispatcher_timeout_ms or _WAIT_MS) / 1000)
        except BaseException:
            self.stop()
            raise
        period_ms = config.heartbeat_interval_ms or _BEAT_MS
        self._every(period_ms / 1000, self._beat, "tensorloom-input-worker")

    @property
    def address(self) -> str:
        """Where consumers reach it: `host:port`."""
        return self._address

    def stop(self) -> None:
        """Stops. What it was making is made by others."""
        if self._is_started and not self._stopped.is_set():
            try:
                fields = {"worker": self._name}
                calls.call(self._channel, "WorkerLeave", fields, b"", _LAST_WORDS_S)
            except errors.OpError:
                pass  # the dispatcher notices that it is silent
        self._worker.stop()
        self._end()
        self._channel.close()

    def _meet(self, timeout_s: float) -> None:
        until = time.monotonic() + timeout_s
        while True:
            try:
                self._tell()
                return
            except calls.GONE:
                if time.monotonic() > until or self._stopped.wait(0.1):
                    raise

    def _tell(self) -> None:
        fields = {
            "worker": self._name,
            "address": self._address,
            "jobs": self._worker.jobs(),
        }
        found, _ = calls.call(
            self._channel, "WorkerBeat", fields, b"", _SILENCE_MS / 1e3
        )
        self._worker.forget(found.get("forget", []))

    def _beat(self) -> None:
        try:
            self._tell()
        except errors.OpError:
            return  # it is started again, or is not: the next beat tells


def _limits(config: DispatcherConfig) -> Limits:
    silence_ms = config.worker_timeout_ms or _SILENCE_MS
    unused_ms = config.job_gc_timeout_ms
    if unused_ms is None:
        unused_ms = _UNUSED_MS
    return Limits(silence_ms / 1000, None if unused_ms < 0 else unused_ms / 1000)


def _lock_of(directory: str) -> Lock | None:
    """The lock of a directory, taken, where the job has a lock service.

    The one before may have been on another machine, and hang: when its lease has ended
    it answers nobody any more.
    """
    coordinator = job_coordinator()
    if coordinator is None:
        return None
    lock = coordinator.lock(f"input dispatcher of {os.path.realpath(directory)}")
    lock.acquire(
        note="the dispatcher of an input service",
        on_wait=lambda holder: program_log.info(
            "Waiting for the directory %s: %s is the dispatcher.", directory, holder
        ),
    )
    return lock
