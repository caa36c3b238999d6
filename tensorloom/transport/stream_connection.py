"""The caller's end of a connection that is a stream of gRPC messages.

A stream costs a fraction of a call in gRPC: it is made once, and then there are only
messages. Everything that gRPC does for calls holds for it: TLS, tokens, proxies.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors, threads
from tensorloom.framework.cancellation import CancellationManager, Deadline
from tensorloom.transport import frames, message_frames, status
from tensorloom.transport.socket_connection import NotConnected
from tensorloom.transport.socket_server import MAX_HELLO, PROTOCOL

if TYPE_CHECKING:
    from tensorloom.transport.packing import Buffer

#: How gRPC addresses the streams.
PATH: Final = "/tensorloom.Frames/Connect"

#: Endpoints begin with it; what follows tells the task from one that it replaced.
SCHEME: Final = "grpc:"

# Opens a stream: from the messages to be sent to gRPC's call.
Open = Callable[[Iterator[bytes]], Any]


class StreamConnection:
    """One stream with its reader and writer; as `socket_connection.Connection`."""

    def __init__(self, open_stream: Open, endpoint: str, timeout_s: float) -> None:
        """Opens a stream, and says hello.

        Raises:
          NotConnected: the task cannot be reached, or is not the one of the endpoint.
        """
        #: Why the connection was given up, if it was.
        self.lost = ""
        #: Called when the task hangs up while somebody waits for it elsewhere.
        self.on_hangup: Callable[[], None] | None = None
        self._call: Any = None
        self._is_late = False
        self._has_ended = False
        self._sent: threading.Event | None = None  # who waits until all was sent
        self._outbox: queue.SimpleQueue[bytes | _Large | None] = queue.SimpleQueue()
        self.reader = message_frames.MessageReader(self._receive)
        self.writer = self
        try:
            self._call = open_stream(self._requests())
            with self.within(timeout_s):
                self._greet(endpoint)
        except (OSError, ValueError, frames.Closed, errors.OpError) as error:
            self.close()
            raise NotConnected(f"{endpoint}: {error}") from None
        if not self._call.add_callback(self._ended):
            self._ended()

    def _greet(self, endpoint: str) -> None:
        name = endpoint.removeprefix(SCHEME).encode()
        self.write(frames.HELLO, header=PROTOCOL + b"\0" + name)
        answer = self.reader.read(0, MAX_HELLO)
        if answer.kind == frames.ERROR:
            raise status.from_wire(answer.code, answer.header.decode(errors="replace"))

    # --- messages --------------------------------------------------------------------

    def write(
        self,
        kind: int,
        method: int = 0,
        header: bytes = b"",
        body: Sequence[Buffer] = (),
        body_size: int = 0,
        code: int = 0,
    ) -> None:
        """Sends a frame. One thread at a time.

        Raises:
          OSError: the stream broke while a large body was being sent.
        """
        messages = message_frames.messages(kind, method, header, body, body_size, code)
        if message_frames.is_small(header, body_size):
            self._outbox.put(next(messages))
            return
        sent = self._sent = threading.Event()
        self._outbox.put(_Large(messages, sent))
        if self._has_ended:
            sent.set()
        sent.wait()
        self._sent = None
        if self._has_ended:
            raise OSError(self.lost or "the stream broke")

    def _requests(self) -> Iterator[bytes]:
        """What gRPC sends, in a thread of its own."""
        while True:
            message = self._outbox.get()
            if message is None:
                return
            if isinstance(message, bytes):
                yield message
            else:
                yield from message.messages
                message.sent.set()
            del message

    def _receive(self) -> bytes:
        import grpc

        try:
            message: bytes = next(self._call)
        except StopIteration:
            raise frames.Closed from None
        except grpc.RpcError as error:
            if self._is_late:
                raise TimeoutError from None
            raise OSError(error.details() or "it hung up") from None
        return message

    @contextmanager
    def within(self, timeout_s: float) -> Iterator[None]:
        """A block in which `write` and `read` raise TimeoutError when time is over."""
        clock = CancellationManager()

        def expire() -> None:
            self._is_late = True
            self.hang_up()

        clock.register(expire)
        with Deadline(clock, timeout_s):
            yield

    # --- the end ---------------------------------------------------------------------

    def _ended(self) -> None:
        """Called by gRPC, in the one thread that serves all streams."""
        self._has_ended = True
        self._outbox.put(None)
        sent, callback = self._sent, self.on_hangup
        if sent is not None:
            sent.set()
        if callback is not None:
            threads.start(callback)

    def fileno(self) -> int:
        """-1: there is no socket to wait at."""
        return -1

    def is_alive(self) -> bool:
        """False when the other side has hung up while nothing was said."""
        alive: bool = self._call.is_active()
        return alive

    def hang_up(self, reason: str = "it hung up") -> None:
        """Wakes who uses the connection, in another thread; that one closes it."""
        self.lost = self.lost or reason
        if self._call is not None:
            self._call.cancel()

    def close(self) -> None:
        """Hangs up; a call under way is cancelled at the other side."""
        self.on_hangup = None
        self._outbox.put(None)
        self.hang_up()


class _Large:
    """The messages of a frame, made as they are sent, and who waits for that."""

    __slots__ = ("messages", "sent")

    def __init__(self, messages: Iterator[bytes], sent: threading.Event) -> None:
        self.messages = messages
        self.sent = sent
