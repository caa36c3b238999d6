"""The caller's end of a connection that is a stream of gRPC messages.

A stream costs a fraction of a call in gRPC: it is made once, and then there are only
messages. Everything that gRPC does for calls holds for it: TLS, tokens, proxies.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from tensorloom.framework import errors
from tensorloom.framework.runtime import threads
from tensorloom.framework.runtime.cancellation import CancellationManager, Deadline
from tensorloom.transport import traffic
from tensorloom.transport.grpc.stream import GrpcStream, StreamEnded
from tensorloom.transport.sockets.connection import NotConnected
from tensorloom.transport.sockets.server import MAX_HELLO, PROTOCOL
from tensorloom.transport.wire import frames, message_frames, status

if TYPE_CHECKING:
    from tensorloom.transport.wire.packing import Buffer

#: Endpoints begin with it; what follows tells the task from one that it replaced.
SCHEME: Final = "grpc:"

# Opens a stream to the task.
Open = Callable[[], GrpcStream]

# A stream that was used so recently is taken for alive.
_FRESH_S: Final = 0.1
# For so long it is waited for an answer from one that was not.
_ANSWER_S: Final = 0.25
# A thread comes to a stream whose user has turned to something else for so long.
_LATE_S: Final = 0.25


class _ReplyReader(message_frames.MessageReader):
    """Passes over what a task says only to show that it is there."""

    read_any = message_frames.MessageReader.read

    def read(
        self, max_body: int = frames.MAX_BODY, max_header: int = frames.MAX_HEADER
    ) -> frames.Frame:
        """Waits for a frame; see `frames.FrameReader.read`."""
        while True:
            frame = self.read_any(max_body, max_header)
            if frame.kind != frames.HELLO:
                return frame


class StreamConnection:
    """One stream with its reader and writer; as `socket_connection.Connection`."""

    is_local = False  # so far as is known

    def __init__(self, open_stream: Open, endpoint: str, timeout_s: float) -> None:
        """Opens a stream, and says hello.

        Raises:
          NotConnected: the task cannot be reached, or is not the one of the endpoint.
        """
        #: Why the connection was given up, if it was.
        self.lost = ""
        #: When it was last given back, on the clock `time.monotonic`.
        self.idle_since = 0.0
        # Called when the task hangs up while a thread waits for it elsewhere.
        self._on_hangup: Callable[[], None] | None = None
        self._used = time.monotonic()
        self._is_late = False
        self._stream: GrpcStream | None = None
        self._sent = traffic.Sent()
        self.reader = _ReplyReader(self._receive)
        self.writer = self
        try:
            self._stream = open_stream()
            with self.within(timeout_s):
                self._greet(endpoint)
        except (OSError, ValueError, frames.Closed, errors.OpError) as error:
            self.close()
            raise NotConnected(f"{endpoint}: {error}") from None

    def _greet(self, endpoint: str) -> None:
        name = endpoint.removeprefix(SCHEME).encode()
        self.write(frames.HELLO, header=PROTOCOL + b"\0" + name)
        answer = self.reader.read_any(0, MAX_HELLO)
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
          OSError: the stream broke.
        """
        stream = self._stream
        assert stream is not None
        begin, size = time.perf_counter(), 0
        for message in message_frames.messages(
            kind, method, header, body, body_size, code
        ):
            # While one message is on its way the next is made.
            stream.wait_sent()
            stream.send(message)
            size += len(message)
        stream.wait_sent()
        self._sent.add(traffic.GRPC_STREAM, size, time.perf_counter() - begin)
        self._used = time.monotonic()

    def _receive(self) -> bytes:
        assert self._stream is not None
        if self._on_hangup is not None:
            _late.forget(self)
        try:
            message = self._stream.receive()
        except StreamEnded:
            if self._is_late:
                raise TimeoutError from None
            raise
        self._used = time.monotonic()
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

    def fileno(self) -> int:
        """-1: there is no socket to wait at."""
        return -1

    @property
    def on_hangup(self) -> Callable[[], None] | None:
        """Called when the task hangs up while a thread waits for it elsewhere."""
        return self._on_hangup

    @on_hangup.setter
    def on_hangup(self, callback: Callable[[], None] | None) -> None:
        self._on_hangup = callback
        if callback is None:
            _late.forget(self)
        else:
            _late.add(self)

    def write_only(self) -> None:
        """Says that nothing will be read; a hang-up is found by who writes."""

    def read_ahead(self) -> None:
        """Polls the stream for who will read from it, until there is something."""
        assert self._stream is not None
        try:
            self._stream.wait_message()
        except StreamEnded:
            callback = self._on_hangup
            if callback is not None:
                callback()

    def is_alive(self) -> bool:
        """False when the other side has hung up while nothing was said.

        Nobody polls a stream that is not used, so after a while the task is asked. One
        that takes long to answer is there: whoever waits for it is told if it is not.
        """
        stream = self._stream
        if self.lost or stream is None:
            return False
        if time.monotonic() - self._used < _FRESH_S:
            return True
        answered = threading.Event()

        def listen() -> None:
            with suppress(StreamEnded):
                stream.wait_message()
            answered.set()

        try:
            self.write(frames.HELLO)
        except StreamEnded:
            return False
        threads.start(listen)
        answered.wait(_ANSWER_S)
        return stream.ended is None

    def hang_up(self, reason: str = "it hung up") -> None:
        """Wakes who uses the connection, in another thread; that one closes it."""
        self.lost = self.lost or reason
        if self._stream is not None:
            self._stream.cancel()
        callback = self._on_hangup
        if callback is not None:
            threads.start(callback)  # the caller may hold what it needs

    def close(self) -> None:
        """Hangs up; a call under way is cancelled at the other side."""
        self.on_hangup = None
        self.lost = self.lost or "it hung up"
        self._sent.close()
        if self._stream is not None:
            self._stream.close()


class _Late:
    """Reads ahead where somebody turned to something else for long.

    Who waits for a stream polls it. A thread that did it always would have to be
    woken, and wake the other, with each message; so it comes only after a while.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watched: dict[StreamConnection, float] = {}
        self._is_running = False

    def add(self, connection: StreamConnection) -> None:
        """Watches a connection until `forget`."""
        with self._lock:
            self._watched[connection] = time.monotonic()
            if not self._is_running:
                self._is_running = True
                threads.start(self._run)

    def forget(self, connection: StreamConnection) -> None:
        """Somebody reads from it again."""
        with self._lock:
            self._watched.pop(connection, None)

    def _run(self) -> None:
        idle_since = time.monotonic()
        while True:
            time.sleep(_LATE_S)
            now = time.monotonic()
            with self._lock:
                late = [
                    c for c, since in self._watched.items() if now - since > _LATE_S
                ]
                for connection in late:
                    del self._watched[connection]
                if self._watched or late:
                    idle_since = now
                elif now - idle_since > threads.IDLE_SECONDS:
                    self._is_running = False
                    return
            for connection in late:
                threads.start(connection.read_ahead)


_late: Final = _Late()
