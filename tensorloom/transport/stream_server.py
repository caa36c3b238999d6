"""Answers calls between tensorloom's tasks, on streams of gRPC messages.

The thread that answers polls its stream (`grpc_stream_listener.py`). It does not while
it handles a call; then others look after a while whether the caller is gone.
"""

from __future__ import annotations

import secrets
import threading
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.transport import frames, message_frames
from tensorloom.transport.frame_answers import Caller, FrameAnswers, TensorStream
from tensorloom.transport.grpc_stream import StreamEnded
from tensorloom.transport.read_ahead import late
from tensorloom.transport.socket_server import MAX_HELLO, NO_PEER, PROTOCOL
from tensorloom.transport.stream_connection import SCHEME

if TYPE_CHECKING:
    from tensorloom.transport.grpc_stream_listener import IncomingStream


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
        self._served: set[_Served] = set()
        self._is_stopping = False

    def end_idle(self) -> None:
        """Ends the streams on which no call is under way: the server stops."""
        with self._lock:
            self._is_stopping = True
            idle = [s for s in self._served if not s.caller.is_calling]
        for served in idle:
            served.stream.cancel()

    def serve(self, stream: IncomingStream) -> None:
        """Answers on a stream until it ends."""
        served = _Served(stream)
        with self._lock:
            self._served.add(served)
            if self._is_stopping:  # it came just before that
                stream.cancel()
        try:
            if self._greets(served):
                self._answer_all(served)
        except (OSError, frames.Closed, errors.OpError):
            return  # the caller is gone, or no peer of ours
        finally:
            late.forget(served)
            with self._lock:
                self._served.discard(served)
            stream.close()
            self._answers.end(served.caller)

    def _greets(self, served: _Served) -> bool:
        """Whether the caller knows this task."""
        hello = served.reader.read(0, MAX_HELLO)
        if hello.header != self._hello:
            code = errors.UNAUTHENTICATED
            served.write(frames.ERROR, header=NO_PEER, code=code)
            return False
        served.write(frames.HELLO, header=PROTOCOL)
        return True

    def _answer_all(self, served: _Served) -> None:
        push = TensorStream(served.write).push
        while True:
            frame = served.reader.read()
            late.add(served)
            self._answers.answer(frame, served.caller, served.write, push)
            late.forget(served)


class _Served:
    """A stream with its reader and its caller."""

    def __init__(self, stream: IncomingStream) -> None:
        self.stream = stream
        self.caller = Caller()
        self.reader = message_frames.MessageReader(stream.receive)

    def write(self, *parts: Any, **named: Any) -> None:
        """Sends a frame; as `frames.FrameWriter.write`.

        Raises:
          OSError: the stream broke.
        """
        for message in message_frames.messages(*parts, **named):
            # While one message is on its way the next is made.
            self.stream.wait_sent()
            self.stream.send(message)

    def read_ahead(self) -> None:
        """Polls while a call is handled, which is cancelled when its caller is gone."""
        try:
            self.stream.wait_message()
        except StreamEnded:
            self.caller.cancel()
