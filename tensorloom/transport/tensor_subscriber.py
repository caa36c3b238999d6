"""Subscribes to the tensors of another task's steps, on one connection."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.transport.wire import frames, packing, status, value_methods

if TYPE_CHECKING:
    from tensorloom.transport.sockets.channel import AnyConnection

# Called with (value, is_dead, error).
TensorDone = Callable[[Any, bool, "errors.OpError | None"], None]


class TensorSubscriber:
    """One connection on which a task's tensors come, as they come to be."""

    def __init__(self, connection: AnyConnection, task: str) -> None:
        self._connection = connection
        self._task = task
        self._lock = threading.Lock()
        self._send_lock = threading.Lock()
        self._waiting: dict[int, dict[str, TensorDone]] = {}
        self.is_broken = False
        threading.Thread(
            target=self._receive, name="tensorloom-tensors", daemon=True
        ).start()

    def ask(
        self, step_id: int, keys: Sequence[str], done: Callable[[str], TensorDone]
    ) -> None:
        """Asks for tensors of a step."""
        with self._lock:
            waiting = self._waiting.setdefault(step_id, {})
            waiting.update({key: done(key) for key in keys})
        header = value_methods.STEP_ID.pack(step_id) + b"".join(
            key.encode() + b"\0" for key in keys
        )
        try:
            with self._send_lock:
                self._connection.writer.write(
                    frames.VALUES, value_methods.TENSORS, header
                )
        except OSError as error:
            self._fail(str(error))

    @property
    def is_waiting(self) -> bool:
        """Whether a receiver waits for a tensor."""
        return bool(self._waiting)

    def lose(self, reason: str) -> None:
        """Gives the task up."""
        self._connection.hang_up(reason)

    def forget(self, step_id: int) -> None:
        """Nobody waits any more for the tensors of a step."""
        with self._lock:
            self._waiting.pop(step_id, None)

    def close(self) -> None:
        """Hangs up."""
        self._connection.close()

    def _receive(self) -> None:
        try:
            while True:
                self._deliver(self._connection.reader.read())
        except (OSError, frames.Closed, errors.InvalidArgumentError) as error:
            self._fail(self._connection.lost or str(error) or "it hung up")

    def _deliver(self, frame: frames.Frame) -> None:
        size = value_methods.STEP_ID.size
        (step_id,) = value_methods.STEP_ID.unpack_from(frame.header)
        is_dead = bool(frame.header[size])
        name, _, message = frame.header[size + 1 :].partition(b"\0")
        key = name.decode()
        with self._lock:
            waiting = self._waiting.get(step_id, {})
            done = waiting.pop(key, None)
            if not waiting:
                self._waiting.pop(step_id, None)
        if done is None:
            return
        if frame.kind == frames.ERROR:
            text = message.decode(errors="replace")
            done(None, False, status.from_wire(frame.code, text))
            return
        try:
            (value,) = packing.unpack(frame.body)
        except (errors.OpError, ValueError) as error:
            done(None, False, errors.InternalError(None, None, str(error)))
        else:
            done(value, is_dead, None)

    def _fail(self, reason: str) -> None:
        self.is_broken = True
        self._connection.close()
        with self._lock:
            waiting = [d for step in self._waiting.values() for d in step.values()]
            self._waiting.clear()
        error = errors.UnavailableError(
            None, None, f"The connection to {self._task} broke: {reason}"
        )
        for done in waiting:
            done(None, False, error)
