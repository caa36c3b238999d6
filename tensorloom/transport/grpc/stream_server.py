"""Answers calls between tensorloom's tasks, on streams of gRPC messages."""

from __future__ import annotations

import queue
import secrets
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.runtime import threads
from tensorloom.transport import traffic
from tensorloom.transport.grpc.stream_connection import SCHEME
from tensorloom.transport.sockets.frame_answers import (
    Caller,
    FrameAnswers,
    TensorStream,
)
from tensorloom.transport.sockets.server import MAX_HELLO, NO_PEER, PROTOCOL
from tensorloom.transport.wire import frames, message_frames, value_methods

if TYPE_CHECKING:
    import grpc


def new_endpoint() -> str:
    """An endpoint beside the gRPC server's address: it tells a task from its next."""
    return SCHEME + secrets.token_hex(12)


class StreamServer:
    """Serves the streams of a gRPC server, which has told strangers from peers."""

    def __init__(self, endpoint: str, answers: FrameAnswers) -> None:
        """Makes a server.

        Args:
          endpoint: what callers must know, from `new_endpoint`.
          answers: what is answered.
        """
        self._answers = answers
        self._hello = PROTOCOL + b"\0" + endpoint.removeprefix(SCHEME).encode()
        self._lock = threading.Lock()
        self._streams: dict[grpc.ServicerContext, Caller] = {}

    def end_idle(self) -> None:
        """Ends the streams on which no call is under way."""
        with self._lock:
            idle = [c for c, caller in self._streams.items() if not caller.is_calling]
        for context in idle:
            context.cancel()

    def serve(
        self, messages: Iterator[bytes], context: grpc.ServicerContext
    ) -> Iterator[bytes]:
        """Handles one stream: messages in, messages out."""
        caller = Caller()
        with self._lock:
            self._streams[context] = caller
        # gRPC has one thread that tells, for all its streams.
        if not context.add_callback(lambda: threads.start(caller.cancel)):
            caller.cancel()  # the stream has ended already
        reader = message_frames.MessageReader(_receiver(messages))
        sent = traffic.Sent()
        try:
            for reply in self._replies(reader, caller):
                begin = time.perf_counter()
                yield reply  # gRPC asks for the next one when it has sent this
                sent.add(traffic.GRPC_STREAM, len(reply), time.perf_counter() - begin)
        except (frames.Closed, errors.OpError):
            return  # the caller is gone, or no peer of ours
        finally:
            sent.close()
            with self._lock:
                self._streams.pop(context, None)
            self._answers.end(caller)

    def _replies(
        self, reader: message_frames.MessageReader, caller: Caller
    ) -> Iterator[bytes]:
        hello = reader.read(0, MAX_HELLO)
        if hello.header != self._hello:
            code = errors.UNAUTHENTICATED
            yield from message_frames.messages(frames.ERROR, header=NO_PEER, code=code)
            return
        yield from message_frames.messages(frames.HELLO, header=PROTOCOL)
        replies: list[Iterator[bytes]] = []

        def write(*parts: Any, **named: Any) -> None:
            replies.append(message_frames.messages(*parts, **named))

        while True:
            frame = reader.read()
            if frame.method == value_methods.TENSORS:
                yield from self._tensors(frame, reader)
                return
            self._answers.answer(frame, caller, write, _push_nothing)
            for reply in replies:
                yield from reply
            replies.clear()

    def _tensors(
        self, frame: frames.Frame, reader: message_frames.MessageReader
    ) -> Iterator[bytes]:
        """Answers requests for tensors, the only calls of this stream."""
        outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

        def write(*parts: Any, **named: Any) -> None:
            # A tensor may change once it was sent, so it is copied now.
            for message in message_frames.messages(*parts, **named):
                outbox.put(message)

        push = TensorStream(write).push

        def read(frame: frames.Frame) -> None:
            try:
                while True:
                    self._answers.answer(frame, Caller(), write, push)
                    frame = reader.read()
            except (frames.Closed, errors.OpError):
                outbox.put(None)

        threads.start(lambda: read(frame))
        return iter(outbox.get, None)


def _receiver(messages: Iterator[bytes]) -> Any:
    def receive() -> bytes:
        try:
            return next(messages)
        except Exception:  # StopIteration, and gRPC's when the caller gave up
            raise frames.Closed from None

    return receive


def _push_nothing(*_: Any) -> None:
    raise errors.InvalidArgumentError(None, None, "Tensors have a stream of their own")
