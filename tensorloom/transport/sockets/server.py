"""Answers calls between tensorloom's tasks, on connected sockets."""

from __future__ import annotations

import os
import socket
import struct
import threading
from contextlib import suppress
from typing import Final

from tensorloom.framework import errors
from tensorloom.framework.runtime import threads
from tensorloom.transport.memory import media
from tensorloom.transport.peers.hangups import hangups
from tensorloom.transport.sockets import address as socket_address
from tensorloom.transport.sockets.call_link import ConnectionEnd
from tensorloom.transport.sockets.frame_answers import (
    Caller,
    FrameAnswers,
    TensorStream,
)
from tensorloom.transport.wire import frames

#: What a hello says; another version speaks gRPC with us.
PROTOCOL: Final = b"tensorloom-2"
_HELLO_S: Final = 10.0  # a stranger who says nothing is not waited for longer
MAX_HELLO: Final = 4096
#: What a stranger hears.
NO_PEER: Final = b"The hello is not one of this task's peers"


class SocketServer:
    """Serves one listening socket."""

    def __init__(
        self,
        listener: socket.socket,
        answers: FrameAnswers,
        token: bytes = b"",
    ) -> None:
        """Makes a server; `start` begins to answer.

        Args:
          listener: where callers connect.
          answers: what is answered.
          token: what a caller must say first; empty: nothing.
        """
        self._listener = listener
        self._answers = answers
        self._hello = PROTOCOL + b"\0" + token
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._is_stopped = False

    def start(self) -> None:
        """Begins to answer."""
        threading.Thread(
            target=self._accept, name="tensorloom-accept", daemon=True
        ).start()

    def stop(self) -> None:
        """Closes the socket and all connections."""
        with self._lock:
            self._is_stopped = True
            connections = list(self._connections)
        _shut(self._listener)
        for connection in connections:
            with suppress(OSError):  # not connected any more
                connection.shutdown(socket.SHUT_RDWR)  # its thread closes it

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return  # stopped
            with self._lock:
                if self._is_stopped:
                    _shut(connection)
                    return
                self._connections.add(connection)
            threads.start(lambda c=connection: self._serve(c))  # type: ignore[misc]

    def _serve(self, connection: socket.socket) -> None:
        reader = frames.FrameReader(connection)
        writer = frames.FrameWriter(connection)
        ends = ConnectionEnd(connection, reader, writer)
        caller = Caller(ends.open)
        try:
            socket_address.prepare(connection)
            if not self._greet(connection, reader, writer):
                return
            hangups.watch(connection, caller.cancel)
            self._answer_all(reader, writer, caller)
        except (OSError, frames.Closed, errors.OpError):
            return  # the caller is gone, or no peer of ours
        finally:
            hangups.forget(connection)
            with self._lock:
                self._connections.discard(connection)
            _shut(connection)
            reader.close()
            writer.close()
            ends.close()
            if not self._is_stopped:
                self._answers.end(caller)

    def _greet(
        self,
        connection: socket.socket,
        reader: frames.FrameReader,
        writer: frames.FrameWriter,
    ) -> bool:
        """Whether the caller may speak to us; nothing of it is parsed before."""
        if not _is_allowed(connection):
            return False
        connection.settimeout(_HELLO_S)
        hello = reader.read(0, MAX_HELLO)
        is_known = hello.kind == frames.HELLO and _same(hello.header, self._hello)
        if not is_known:
            writer.write(frames.ERROR, header=NO_PEER, code=errors.UNAUTHENTICATED)
            return False
        end = media.meet(connection) if hello.method == frames.MEETS else None
        if end is None:
            writer.write(frames.HELLO, header=PROTOCOL)
        else:
            reader.use(end)
            writer.use(end)
            writer.write(frames.HELLO, frames.MEETS, PROTOCOL + end.address)
            end.join(reader.read(0, MAX_HELLO).header)
        connection.settimeout(None)
        return True

    def _answer_all(
        self,
        reader: frames.FrameReader,
        writer: frames.FrameWriter,
        caller: Caller,
    ) -> None:
        push = TensorStream(writer.write).push
        while True:
            self._answers.answer(reader.read(), caller, writer.write, push)


def _same(a: bytes, b: bytes) -> bool:
    import hmac

    return hmac.compare_digest(a, b)


def _is_allowed(connection: socket.socket) -> bool:
    """Local callers must be of the same user."""
    if connection.family != socket.AF_UNIX:
        return True
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    _, user, _ = struct.unpack("3i", raw)
    return user in (os.getuid(), 0)


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):  # not connected any more
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
