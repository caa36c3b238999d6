"""The caller's end of a connection between tensorloom's tasks."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from tensorloom.framework import errors
from tensorloom.transport.memory import media
from tensorloom.transport.peers.hangups import hangups
from tensorloom.transport.sockets import address as socket_address
from tensorloom.transport.sockets.call_link import ConnectionEnd
from tensorloom.transport.sockets.server import MAX_HELLO, PROTOCOL
from tensorloom.transport.wire import frames, status


class NotConnected(Exception):
    """The endpoint cannot be reached; nothing was sent."""


class Connection:
    """One connection with its reader."""

    __slots__ = (
        "_is_closed",
        "ends",
        "idle_since",
        "is_local",
        "lost",
        "on_hangup",
        "reader",
        "socket",
        "writer",
    )

    def __init__(self, endpoint: str, token: bytes, timeout_s: float) -> None:
        """Connects, and says hello.

        Raises:
          NotConnected: the endpoint cannot be reached.
          errors.OpError: the task does not want to speak with us.
        """
        try:
            self.socket = socket_address.connect(endpoint, timeout_s)
        except (OSError, ValueError) as error:
            raise NotConnected(f"{endpoint}: {error}") from None
        self.reader = frames.FrameReader(self.socket)
        self.writer = frames.FrameWriter(self.socket)
        #: For links.
        self.ends = ConnectionEnd(self.socket, self.reader, self.writer)
        try:
            self._greet(token)
        except (OSError, frames.Closed) as error:
            self.socket.close()
            raise NotConnected(f"{endpoint}: {error}") from None
        except errors.OpError:
            self.socket.close()
            raise
        self.socket.settimeout(None)
        self._is_closed = False
        #: When it was last given back, on the clock `time.monotonic`.
        self.idle_since = 0.0
        #: Whether the other side is on this host.
        self.is_local = self.socket.family == socket.AF_UNIX
        #: Why the connection was given up, if it was.
        self.lost = ""
        #: Called when the task hangs up while a thread waits for it elsewhere.
        self.on_hangup: Callable[[], None] | None = None
        hangups.watch(self.socket, self.hung_up)

    def _greet(self, token: bytes) -> None:
        end = media.meet(self.socket)
        try:
            self.writer.write(
                frames.HELLO,
                frames.MEETS if end is not None else 0,
                PROTOCOL + b"\0" + token,
            )
            answer = self.reader.read(0, MAX_HELLO)
            if answer.kind == frames.ERROR:
                message = answer.header.decode(errors="replace")
                raise status.from_wire(answer.code, message)
            if end is not None and answer.method == frames.MEETS:
                self.writer.write(frames.HELLO, header=end.address)
                end.join(answer.header.removeprefix(PROTOCOL))
                self.reader.use(end)
                self.writer.use(end)
                end = None  # the writer's
        finally:
            if end is not None:
                end.close()

    def fileno(self) -> int:
        """The socket's number, for `select.poll`."""
        return self.socket.fileno()

    @contextmanager
    def within(self, timeout_s: float) -> Iterator[None]:
        """A block in which `write` and `read` raise TimeoutError when time is over."""
        self.socket.settimeout(timeout_s)
        yield
        self.socket.settimeout(None)

    def hung_up(self) -> None:
        """Tells who waits elsewhere that the task has hung up."""
        self.writer.hung_up()
        callback = self.on_hangup
        if callback is not None:
            callback()

    def write_only(self) -> None:
        """Says that nothing will be read: a hang-up wakes who writes."""
        self.on_hangup = self.hang_up

    def is_alive(self) -> bool:
        """False when the other side has hung up while nothing was said.

        On one host only what this side knows: there `write` fails if it has.
        """
        if self.is_local:
            return not self.lost
        try:
            self.socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False  # the end, or bytes that nobody asked for

    def hang_up(self, reason: str = "it hung up") -> None:
        """Wakes who uses the connection, in another thread; that one closes it."""
        self.lost = self.lost or reason
        with suppress(OSError):  # not connected any more
            self.socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Hangs up; a call under way is cancelled at the other side."""
        if self._is_closed:
            return
        self._is_closed = True
        hangups.forget(self.socket)
        self.hang_up()
        self.socket.close()
        self.reader.close()
        self.writer.close()
        self.ends.close()
