"""`ModelProcess`: one process with one version of a model, as the server sees it."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.serving.manager.engine import EngineLost
from tensorloom.serving.process import boot, protocol
from tensorloom.serving.process.protocol import Report, Task
from tensorloom.serving.security.api_keys import VARIABLE
from tensorloom.transport.sockets.channel import SocketChannel, SocketPending
from tensorloom.transport.sockets.connection import NotConnected
from tensorloom.transport.wire import status

if TYPE_CHECKING:
    from tensorloom.framework.interfaces import StepContext
    from tensorloom.serving.process.spawner import Spawner

# The process ends a step itself; after so much more it is not waited for.
_SLACK_S: Final = 1.0


class ModelProcess:
    """Starts a process, and speaks with it."""

    def __init__(
        self,
        spawner: Spawner,
        name: str,
        version: int,
        path: str,
        options: Mapping[str, Any],
    ) -> None:
        """Starts it; `wait_loaded` is next.

        Args:
          spawner: starts processes.
          name, version, path: of the model.
          options: the fields of `ServerOptions`.

        Raises:
          OSError: it cannot be started.
        """
        self._task = f"The process of model {name} version {version}"
        self.path = path
        self._token = secrets.token_hex(16)
        self._channel: SocketChannel | None = None
        self._report, pipe = os.pipe()
        try:
            self._process: subprocess.Popen[bytes] = spawner.call(lambda: _start(pipe))
        except BaseException:
            os.close(self._report)
            raise
        finally:
            os.close(pipe)
        task = Task(name, version, path, dict(options), self._token, pipe, os.getpid())
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(task.to_json())
            self._process.stdin.flush()
        except OSError:
            pass  # it ended at once: the report says so

    def wait_loaded(self) -> Report:
        """Waits until it runs steps; any thread may `kill` it meanwhile.

        Raises:
          errors.OpError: the load failed; UnavailableError: the process ended in it.
        """
        with os.fdopen(self._report, "rb") as pipe:
            line = pipe.readline()
        if not line.endswith(b"\n"):
            self.kill()
            raise errors.UnavailableError(
                None, None, f"{self._task} ended while it loaded: {self.how_it_ended()}"
            )
        report = Report.from_json(line)
        if report.code:
            self.kill()
            raise status.from_wire(report.code, report.message)
        self._channel = SocketChannel(report.endpoint, self._task, self._token.encode())
        return report

    # --- steps -----------------------------------------------------------------------

    def run(
        self,
        feeds: tuple[str, ...],
        fetches: tuple[str, ...],
        values: Sequence[Any],
        step: StepContext | None,
    ) -> list[Any]:
        """As `Engine.run`.

        Raises:
          EngineLost: the process ended.
          errors.OpError: the step failed.
        """
        rest_s = None if step is None else step.options.timeout_s
        header = protocol.pack_header(rest_s, feeds, fetches)
        pending = SocketPending()
        cancellation = None if step is None else step.cancellation
        token = None
        if cancellation is not None:
            token = cancellation.register(pending.cancel)
            if token is None:
                raise cancellation.error()
        wait_s = None if rest_s is None else rest_s + _SLACK_S
        assert self._channel is not None
        try:
            _, found = self._channel.call_values(
                protocol.RUN, header, values, wait_s, pending
            )
        except NotConnected:
            raise self._gone() from None
        except errors.UnavailableError as error:
            if error.message.startswith(self._task):
                raise self._gone() from None
            raise
        finally:
            if token is not None and cancellation is not None:
                cancellation.deregister(token)
        return [_host_value(value) for value in found]

    def _gone(self) -> EngineLost:
        return EngineLost(None, None, f"{self._task} ended: {self.how_it_ended()}")

    def answers(self, timeout_s: float) -> bool:
        """Whether it gives a sign of life."""
        assert self._channel is not None
        return self._channel.answers_ping(timeout_s)

    # --- its end ---------------------------------------------------------------------

    @property
    def number(self) -> int:
        """The system's number of the process."""
        return self._process.pid

    def wait(self, timeout_s: float | None) -> bool:
        """Waits for its end; whether that came in time."""
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def how_it_ended(self) -> str:
        """Why it ended, in words."""
        if not self.wait(_SLACK_S):
            return "it does not answer"
        code = self._process.returncode
        if code >= 0:
            hung = " (a step did not end)" if code == protocol.HUNG else ""
            return f"exit status {code}{hung}"
        return signal.Signals(-code).name

    def kill(self) -> None:
        """Ends it at once; its memory is the system's again when this returns."""
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
        if self._channel is not None:
            self._channel.close()

    def resident_bytes(self) -> int:
        """Its memory that is in use; 0 once it has ended."""
        try:
            pages = Path(f"/proc/{self.number}/statm").read_text().split()[1]
        except (OSError, IndexError):
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _start(pipe: int) -> subprocess.Popen[bytes]:
    environment = dict(os.environ)
    environment.pop(VARIABLE, None)  # the keys of callers are no model's business
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    return subprocess.Popen(
        [sys.executable, "-P", str(boot.__file__)],
        stdin=subprocess.PIPE,
        env=environment,
        pass_fds=(pipe,),
        # Signals of a terminal are for the server.
        start_new_session=True,
    )


def _host_value(value: Any) -> Any:
    """A received value as a session returns it: a string scalar is bytes."""
    if isinstance(value, np.ndarray) and value.dtype == object and not value.ndim:
        return value.item()
    return value
