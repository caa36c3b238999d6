"""The model's side: loads the version, and runs its steps for the server."""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.framework.interfaces import StepContext, StepOptions
from tensorloom.framework.runtime import threads
from tensorloom.framework.runtime.cancellation import CancellationManager
from tensorloom.serving.calls.warm_up import warm_up_as_asked
from tensorloom.serving.manager import memory
from tensorloom.serving.manager.loader_options import make_loader
from tensorloom.serving.options import ServerOptions
from tensorloom.serving.process import protocol
from tensorloom.serving.process.protocol import Report, Task
from tensorloom.transport.sockets import address
from tensorloom.transport.sockets.frame_answers import FrameAnswers
from tensorloom.transport.sockets.server import SocketServer
from tensorloom.transport.wire import status

if TYPE_CHECKING:
    from tensorloom.serving.manager.servable import Servable

_WATCH_S: Final = 0.5


class _Child:
    """The one model of this process."""

    task: Task
    servable: Servable
    report = Report()


def load(line: bytes) -> None:
    """Loads what a task says; a load that fails is reported, and ends the process."""
    task = _Child.task = Task.from_json(line)
    if os.getppid() != task.server:  # it was killed before this process followed it
        os._exit(0)
    options = ServerOptions(**task.options)
    try:
        _limit_memory(options.model_process_memory_mb)
        import tensorloom  # noqa: F401 - models have any op

        loader = make_loader(options, lambda s: _warm_up(s, options))
        _Child.servable = loader.load(task.name, task.version, task.path)
    except BaseException as error:
        report = _Child.report
        report.code, report.message = status.to_wire(error)
        _send(report)
        os._exit(1)
    memory.give_back()
    # What is loaded by now stays: it need not be looked at for garbage.
    gc.freeze()


def _warm_up(servable: Servable, options: ServerOptions) -> None:
    def note(path: str, code: int, seconds: float) -> None:
        _Child.report.warm_ups.append((code, seconds))

    warm_up_as_asked(servable, options, note)


def _limit_memory(limit_mb: int) -> None:
    if limit_mb:
        import resource

        # Of what it allocates: files that are mapped, such as libraries, do not count.
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (limit_mb << 20, most))


def serve() -> None:
    """Begins to run steps, and reports that."""
    sys.setswitchinterval(0.001)
    threads.retire_idle()  # those of loading have its priority
    listener, endpoint = address.listen_locally()
    steps = _Steps(_Child.servable, _Child.task)
    answers = FrameAnswers({}, {protocol.RUN: steps.run}, _no_tensors, _NoPushes())
    SocketServer(listener, answers, _Child.task.token.encode()).start()
    report = _Child.report
    report.endpoint = endpoint
    report.signatures = _signatures(_Child.servable)
    _send(report)


def _send(report: Report) -> None:
    with os.fdopen(_Child.task.pipe, "wb") as pipe:
        pipe.write(report.to_json())


def _signatures(servable: Servable) -> bytes:
    from tensorloom.protos.meta_graph_pb2 import MetaGraphDef

    meta_graph: Any = MetaGraphDef()
    for key, signature_def in servable.signature_defs.items():
        meta_graph.signature_def[key].CopyFrom(signature_def)
    content: bytes = meta_graph.SerializeToString()
    return content


class _Steps:
    """Runs steps; ends the process if one cannot be ended."""

    def __init__(self, servable: Servable, task: Task) -> None:
        self._servable = servable
        self._about = f"{task.name} version {task.version}"
        self._hang_s = float(task.options["model_process_hang_seconds"])
        #: When each step that runs must have ended; None: there is no limit.
        self._due: dict[object, float | None] = {}
        threading.Thread(target=self._watch, daemon=True).start()

    def run(self, header: bytes, values: list[Any], call: Any) -> tuple[bytes, Any]:
        """The fetches of a step; see `protocol.RUN`."""
        rest_s, feeds, fetches = protocol.unpack_header(header)
        cancellation = CancellationManager()
        key = object()

        def cancel() -> None:
            if key in self._due:
                self._due[key] = time.monotonic() + self._hang_s
            cancellation.cancel(errors.CancelledError(None, None, "The caller is gone"))

        step = StepContext(StepOptions(timeout_s=rest_s), cancellation=cancellation)
        due = None if rest_s is None else time.monotonic() + rest_s + self._hang_s
        self._due[key] = due
        call.on_cancel(cancel)
        try:
            given = dict(zip(feeds, values, strict=True))
            return b"", self._servable.run(given, fetches, step)
        finally:
            del self._due[key]

    def _watch(self) -> None:
        while True:
            time.sleep(_WATCH_S)
            now = time.monotonic()
            if any(due is not None and due < now for due in list(self._due.values())):
                print(f"A step of {self._about} does not end", file=sys.stderr)
                os._exit(protocol.HUNG)


class _NoPushes:
    """There are no other tasks."""

    def take_pushed(self, step_id: int, tensors: Any) -> None:
        raise _unexpected()

    def take_failure(self, step_id: int, error: Any) -> None:
        raise _unexpected()

    def lose_pusher(self, task: str) -> None:
        pass


def _no_tensors(step_id: int, keys: Any, push: Any) -> None:
    raise _unexpected()


def _unexpected() -> errors.OpError:
    return errors.UnimplementedError(None, None, "A model's process runs steps alone")
