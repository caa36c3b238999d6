"""Exchanges a step's tensors on the connection of the call that runs a part of it.

The remote part and the caller's own part exchange tensors. If each of them waits in one
thread only, that thread reads the tensors from the call's connection itself. On a
separate connection they would wake its reader thread first, which would wake the thread
that waits.

A sender must not block on the receiver, which may wait for a third task. So only
tensors that certainly fit into the connection's buffers go this way; large bodies are
in shared memory. Before the first tensor that does not fit, an empty frame says that
all later tensors are pushed as to any other task.
"""

from __future__ import annotations

import os
import select
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.transport.wire import frames, packing, value_methods

if TYPE_CHECKING:
    from tensorloom.transport.wire.value_methods import Sent

# The most bytes in flight, of what the connection's buffer holds.
_ROOM: Final = 64 * 1024
# What a frame takes of it beside its own bytes, at most.
_FRAME: Final = 1024


class ConnectionEnd:
    """The state of one end of a connection that links use."""

    def __init__(
        self,
        connection: socket.socket,
        reader: frames.FrameReader,
        writer: frames.FrameWriter,
    ) -> None:
        self.reader = reader
        self.writer = writer
        self.room = 0
        self._connection = connection
        self._lock = threading.Lock()
        self._is_open = False

    def open(self) -> ConnectionEnd:
        """Makes ready for a link; one thread at a time, before `close`."""
        if not self._is_open:
            buffer = self._connection.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
            self.room = min(_ROOM, buffer // 2)
            self._waker = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
            self._poll = select.poll()
            self._poll.register(self._connection, select.POLLIN)
            self._poll.register(self._waker, select.POLLIN)
            self._is_open = True
        return self

    def wait_readable(self) -> bool:
        """Waits; False when there may be nothing, but `wake` was called."""
        if self.reader.has_more:
            return True
        ready = [number for number, _ in self._poll.poll()]
        if self._waker in ready:
            with suppress(BlockingIOError):
                os.eventfd_read(self._waker)
        return ready != [self._waker]

    def is_readable(self) -> bool:
        """Whether something is there, or the end."""
        return self.reader.has_more or any(
            number != self._waker for number, _ in self._poll.poll(0)
        )

    def wake(self) -> None:
        """Wakes who waits, or who will wait next."""
        with self._lock:  # the number may be another file's once it is closed
            if self._is_open:
                os.eventfd_write(self._waker, 1)

    def close(self) -> None:
        """Lets go of the files; the connection stays its owner's."""
        with self._lock:
            if self._is_open:
                self._is_open = False
                os.close(self._waker)


class CallLink:
    """One end of a call's connection while the call is under way.

    One thread sends and takes; `wake` is for others.
    """

    def __init__(
        self, ends: ConnectionEnd, step_id: int, hung_up: Callable[[], None]
    ) -> None:
        """Makes an end.

        Args:
          ends: of the connection.
          step_id: of the call.
          hung_up: called when the other side has closed the connection.
        """
        self._ends = ends
        self._step_id = value_methods.STEP_ID.pack(step_id)
        self._hung_up = hung_up
        self._room = ends.room
        #: Whether more tensors may come this way.
        self.is_open = True
        self._reply: frames.Frame | None = None  # to the call, once it was met
        #: The reply's values without the tensors that `take` gave, if it met it.
        self.values: list[Any] | None = None

    @property
    def sends(self) -> bool:
        """Whether the other side still looks here for tensors."""
        return self._room > 0

    def push(self, tensors: Sequence[Sent]) -> bool:
        """Sends tensors of the step; False if they, and all later ones, go elsewhere.

        Raises:
          errors.OpError: a value cannot be sent.
        """
        if not self.sends:
            return False
        body, size = packing.pack([value for _, value, _ in tensors])
        header = self._step_id + value_methods.packed_keys(tensors)
        writer = self._ends.writer
        try:
            taken = writer.write_small(
                value_methods.PUSH, header, body, size, self._room
            )
            if taken:
                self._room = max(0, self._room - taken - _FRAME)
                if self.sends:
                    return True
            self._room = 0
            writer.write(frames.VALUES, value_methods.PUSH_ELSEWHERE)
        except OSError:
            self._room = 0  # the thread that takes the reply gets the error
            return False
        return bool(taken)

    def take(self) -> list[Sent]:
        """Waits for tensors: none when it was woken, or when no more will come.

        Raises:
          errors.OpError: what came is malformed.
        """
        try:
            if not self._ends.wait_readable():
                return []
            frame = self._ends.reader.read()
        except (OSError, frames.Closed):
            self.is_open = False
            self._hung_up()
            return []
        try:
            if frame.kind == frames.VALUES and frame.method == value_methods.PUSH:
                return self._pushed(frame)
            self.is_open = False
            if frame.kind in (frames.REPLY, frames.ERROR):
                return self._ended(frame)
        except ValueError as error:
            raise _malformed(str(error)) from None
        if frame.method != value_methods.PUSH_ELSEWHERE:
            raise _malformed(f"frame {frame.kind}, {frame.method} within a call")
        return []

    def _pushed(self, frame: frames.Frame) -> list[Sent]:
        if not frame.header.startswith(self._step_id):
            raise ValueError("tensors of another step")
        keys = frame.header[len(self._step_id) :]
        return value_methods.sent(keys, packing.unpack(frame.body))

    def _ended(self, frame: frames.Frame) -> list[Sent]:
        """Keeps the reply for `read`; returns the tensors that came with it."""
        self._reply = frame
        if frame.kind == frames.ERROR:
            return []
        values = packing.unpack(frame.body) if len(frame.body) else []
        count = len(values) - len(value_methods.unpacked_keys(frame.header))
        self.values = values[:count]
        return value_methods.sent(frame.header, values[count:])

    def has_reply(self) -> bool:
        """Whether `read` would not wait. Tensors that are there are dropped.

        Raises:
          OSError, frames.Closed, errors.OpError: as `read`.
        """
        while self._reply is None and self._ends.is_readable():
            self._read_one()
        return self._reply is not None

    def read(self) -> frames.Frame:
        """Waits for the reply; tensors that nobody has waited for are dropped.

        Raises:
          OSError, frames.Closed: the connection broke.
          errors.OpError: what came is malformed.
        """
        while self._reply is None:
            self._read_one()
        return self._reply

    def _read_one(self) -> None:
        frame = self._ends.reader.read()
        if frame.kind in (frames.REPLY, frames.ERROR):
            self._reply = frame

    def wake(self) -> None:
        """Makes `take` return: the step is over."""
        self._ends.wake()


def _malformed(what: str) -> errors.OpError:
    return errors.InvalidArgumentError(None, None, f"Malformed message: {what}")
