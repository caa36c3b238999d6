"""A stream of gRPC messages, polled by the thread that uses it.

gRPC's own streams have two threads beside the user's: one takes the requests from an
iterator, and one waits for all events of the channel. Handing over to them costs two
thirds of a small exchange. gRPC's blocking calls poll for their events themselves; a
stream here is made of the same parts. They are no public interface of grpcio: where
they are missing `is_supported` says so, and tasks call each other as TensorFlow's do.
"""

from __future__ import annotations

import threading
import warnings
from collections import deque
from functools import cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    import grpc

#: How gRPC addresses the streams.
PATH: Final = "/tensorloom.Frames/Connect"

# What an event is about.
_STARTED: Final = 0
_SENT: Final = 1
_RECEIVED: Final = 2
_ENDED: Final = 3


class StreamEnded(OSError):
    """The stream has ended, or broke."""


@cache
def is_supported() -> bool:
    """Whether this grpcio has the parts that a stream needs; tried once."""
    import grpc

    nowhere = grpc.insecure_channel("localhost:1")
    try:
        GrpcStream(nowhere, None).close()
    except (ImportError, AttributeError, TypeError) as error:
        warnings.warn(
            f"With grpcio {grpc.__version__} tasks that use no sockets are slower: "
            f"their streams cannot be opened ({error})",
            RuntimeWarning,
            stacklevel=2,
        )
        return False
    finally:
        nowhere.close()
    return True


class GrpcStream:
    """One stream. Any thread may send; one thread at a time receives."""

    def __init__(
        self, channel: grpc.Channel, metadata: Sequence[tuple[str, str]] | None
    ) -> None:
        """Opens a stream.

        Raises:
          ValueError: the channel is closed.
        """
        from grpc._cython import cygrpc

        self._send_operation = cygrpc.SendMessageOperation
        self._receive = cygrpc.ReceiveMessageOperation
        self._cancelled = cygrpc.StatusCode.cancelled
        start = (
            cygrpc.SendInitialMetadataOperation(metadata, 0),
            cygrpc.ReceiveInitialMetadataOperation(0),
        )
        end = (cygrpc.ReceiveStatusOnClientOperation(0),)
        started = ((start, _STARTED), (end, _ENDED))
        self._call = channel._channel.segregated_call(
            0, PATH.encode(), None, None, metadata, None, started
        )
        #: Why the stream has ended; None before.
        self.ended: str | None = None
        self._due = len(started)  # events
        self._is_sending = False
        self._is_receiving = False
        self._outbox: deque[bytes] = deque()
        self._inbox: deque[bytes] = deque()
        self._lock = threading.Lock()
        self._polling = threading.Lock()

    def send(self, message: bytes) -> None:
        """Sends a message, or leaves it to who polls when another one is on its way.

        Raises:
          StreamEnded: it cannot be sent.
        """
        with self._lock:
            if self._is_sending:
                self._outbox.append(message)
            else:
                self._start_sending(message)

    def _start_sending(self, message: bytes) -> None:
        self._start(self._send_operation(message, 0), _SENT)
        self._is_sending = True

    def _start(self, operation: Any, about: int) -> None:
        if self.ended is not None or not self._call.operate((operation,), about):
            raise StreamEnded(self.ended or "the stream has ended")
        self._due += 1

    def wait_sent(self) -> None:
        """Waits until all was sent; a thread that receives does it for all others.

        Raises:
          StreamEnded: the stream broke.
        """
        while self._is_sending and self._polling.acquire(blocking=False):
            try:
                self._poll()
            finally:
                self._polling.release()
        if self.ended is not None:
            raise StreamEnded(self.ended)

    def receive(self) -> bytes:
        """Waits for a message.

        Raises:
          StreamEnded: there is none any more.
        """
        while True:
            with self._polling:
                if self._inbox:
                    return self._inbox.popleft()
                self._poll_for_message()

    def wait_message(self) -> None:
        """Waits until there is a message for `receive`, or another thread polls.

        Raises:
          StreamEnded: there is none any more.
        """
        while not self._inbox and self._polling.acquire(blocking=False):
            try:
                if not self._inbox:
                    self._poll_for_message()
            finally:
                self._polling.release()

    def _poll_for_message(self) -> None:
        if not self._is_receiving:
            with self._lock:
                self._start(self._receive(0), _RECEIVED)
            self._is_receiving = True
        self._poll()

    def _poll(self) -> None:
        """Waits for an event."""
        if self.ended is not None:
            return
        try:
            event = self._call.next_event()
        except BaseException:  # a signal's: gRPC has dropped the call
            self.ended = "interrupted"
            self._is_sending = False
            raise
        with self._lock:
            self._due -= 1
            if event.tag == _SENT and event.success:
                self._is_sending = False
                if self._outbox:
                    self._start_sending(self._outbox.popleft())
            elif event.tag == _SENT:  # the waiting caller gets the error
                self.cancel()
        if event.tag == _RECEIVED:
            self._take(event)
        elif event.tag == _ENDED:
            self._end(event.batch_operations[0].details() or "it hung up")

    def _take(self, event: Any) -> None:
        self._is_receiving = False
        message = event.batch_operations[0].message()
        if message is not None:
            self._inbox.append(message)

    def _end(self, reason: str) -> None:
        """Takes the last events: gRPC keeps what it has of a call until then."""
        while True:
            with self._lock:
                if not self._due:
                    self.ended = reason
                    self._is_sending = False
                    return
            event = self._call.next_event()
            with self._lock:
                self._due -= 1
            if event.tag == _RECEIVED:
                self._take(event)

    def cancel(self) -> None:
        """Ends the stream; its users get an error."""
        self._call.cancel(self._cancelled, "Locally cancelled")

    def close(self) -> None:
        """Ends the stream, and waits for that."""
        self.cancel()
        while self.ended is None:
            with self._polling:
                self._poll()
