"""The reply to a call on a connected socket, taken by who waits for it."""

from __future__ import annotations

import select
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.transport.sockets.call_link import CallLink
from tensorloom.transport.sockets.connection import Connection
from tensorloom.transport.wire import frames, packing, status

if TYPE_CHECKING:
    from tensorloom.transport.sockets.channel import AnyConnection, SocketChannel


class SocketReply:
    """The reply to a call that was sent: `take` waits for it."""

    def __init__(self, channel: SocketChannel, connection: AnyConnection) -> None:
        self._channel = channel
        self._connection = connection
        self._link: CallLink | None = None
        self._is_cancelled = False
        self._is_over = False
        self._lock = threading.Lock()

    def fileno(self) -> int:
        """The socket's number, for `select.poll`; -1 without one."""
        return self._connection.fileno()

    def link(self, step_id: int) -> CallLink:
        """This end of the call's connection, for tensors of the step."""
        connection = self._connection
        assert isinstance(connection, Connection)
        self._link = CallLink(connection.ends.open(), step_id, connection.hung_up)
        return self._link

    def is_there(self) -> bool:
        """Whether `take` would not wait."""
        try:
            if self._link is not None:
                return self._link.has_reply()
            return _is_readable(self._connection)
        except (OSError, frames.Closed):
            return True  # `take` raises it
        except errors.OpError as malformed:
            self._connection.hang_up(malformed.message)
            return True

    def take(self) -> tuple[bytes, list[Any]]:
        """Waits for the reply; returns its header and values.

        Raises:
          errors.OpError: what the task answered; CancelledError after `cancel`.
        """
        connection = self._connection
        try:
            frame = (self._link or connection.reader).read()
        except (OSError, frames.Closed) as error:
            connection.on_hangup = None
            with self._lock:
                self._is_over = True
            broken = self._channel.broken(connection, error)
            if self._is_cancelled:
                broken = errors.CancelledError(None, None, "The call was cancelled")
            raise broken from None
        connection.on_hangup = None
        with self._lock:
            self._is_over = True
        self._channel.give_back(connection)
        if frame.kind == frames.ERROR:
            raise status.from_wire(frame.code, frame.header.decode(errors="replace"))
        if self._link is not None and self._link.values is not None:
            return b"", self._link.values
        return frame.header, packing.unpack(frame.body) if len(frame.body) else []

    @property
    def lost(self) -> str:
        """Why the connection was given up, if it was."""
        return self._connection.lost

    def watch(self, callback: Callable[[], None]) -> None:
        """Calls back when the task hangs up before the reply is taken."""
        self._connection.on_hangup = callback

    def cancel(self) -> None:
        """Hangs up, unless the reply was taken."""
        with self._lock:
            self._is_cancelled = True
            if not self._is_over:
                self._connection.hang_up()


def _is_readable(connection: AnyConnection) -> bool:
    if connection.fileno() < 0:
        return False
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(0))
