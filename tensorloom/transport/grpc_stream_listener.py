"""The server's end of streams of gRPC messages, polled by the thread that answers.

In gRPC's own server one thread waits for the events of all streams and hands them to
the threads that answer: three hand-overs an exchange, all under Python's lock. But a
call's events may go to a queue of its own, which the thread that answers polls itself.
See `grpc_stream.py` for the parts of grpcio that this takes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from tensorloom.framework import threads
from tensorloom.transport.grpc_channel import prepare_grpc
from tensorloom.transport.grpc_stream import (
    ENDED,
    PATH,
    SENT,
    STARTED,
    MessageStream,
    StreamEnded,
)

if TYPE_CHECKING:
    import grpc


@cache
def is_supported() -> bool:
    """Whether this grpcio has the parts that a listener needs."""
    prepare_grpc()
    from grpc._cython import cygrpc

    needed = "register_completion_queue", "register_method", "request_registered_call"
    return all(hasattr(cygrpc.Server, name) for name in needed)


class IncomingStream(MessageStream):
    """A stream that a caller opened."""

    def __init__(self, arrival: Any, events: Any) -> None:
        """Takes a stream.

        Args:
          arrival: gRPC's event of the call.
          events: where those of the stream come.
        """
        from grpc._cython import cygrpc

        begun = (
            (cygrpc.SendInitialMetadataOperation(None, 0), STARTED),
            (cygrpc.ReceiveCloseOnServerOperation(0), ENDED),
        )
        super().__init__(0)
        self._call = arrival.call
        self._events = events
        self._status = cygrpc.SendStatusFromServerOperation
        self._codes = cygrpc.StatusCode
        #: What the caller said of itself: pairs of a key and a value.
        self.metadata = arrival.invocation_metadata
        for operation, about in begun:
            self._start(operation, about)

    def _operate(self, operation: Any, about: int) -> bool:
        return not self._call.start_server_batch((operation,), about)

    def _next_event(self) -> Any:
        return self._events.poll()

    def cancel(self) -> None:
        """Ends the stream; who uses it hears of it."""
        self._call.cancel()

    def close(self) -> None:
        """Ends the stream when all was sent, and waits for that."""
        self._finish(self._codes.ok, b"")

    def refuse(self, message: str) -> None:
        """Ends the stream: its caller may not use it."""
        self._finish(self._codes.unauthenticated, message.encode())

    def _finish(self, code: Any, message: bytes) -> None:
        while self._is_sending and self.ended is None:
            with self._polling:
                self._poll()
        try:
            with self._lock:
                self._start(self._status(None, code, message, 0), SENT)
        except StreamEnded:
            self.cancel()
        self._drain()


class StreamListener:
    """Takes the streams that come to a gRPC server."""

    def __init__(
        self, server: grpc.Server, serve: Callable[[IncomingStream], None]
    ) -> None:
        """Makes a listener, before the server starts.

        Args:
          server: where the streams come.
          serve: handles one, in a thread of its own.
        """
        from grpc._cython import cygrpc

        self._serve = serve
        self._new_queue = cygrpc.CompletionQueue
        self._server = server._state.server
        self._arrivals = self._new_queue()
        self._server.register_completion_queue(self._arrivals)
        self._server.register_method(PATH)

    def start(self) -> None:
        """Begins to take streams, once the server has started."""
        events = self._ask()
        threading.Thread(
            target=self._take, args=(events,), name="tensorloom-streams", daemon=True
        ).start()

    def _ask(self) -> Any:
        """Asks for the next stream; returns where its events will come."""
        events = self._new_queue()
        self._server.request_registered_call(events, self._arrivals, PATH, PATH)
        return events

    def _take(self, events: Any) -> None:
        while True:
            arrival = self._arrivals.poll()
            if not arrival.success:
                return  # the server stops
            threads.start(lambda a=arrival, e=events: self._open(a, e))  # type: ignore[misc]
            try:
                events = self._ask()
            except ValueError:
                return  # the server stops
            del arrival  # or its call stays until the next one comes

    def _open(self, arrival: Any, events: Any) -> None:
        try:
            stream = IncomingStream(arrival, events)
        except StreamEnded:
            return
        self._serve(stream)
