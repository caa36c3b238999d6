"""Answers calls between tensorloom's tasks, on connected sockets."""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors, threads
from tensorloom.transport import (
    frames,
    packing,
    socket_address,
    status,
    value_methods,
)
from tensorloom.transport.hangups import hangups

if TYPE_CHECKING:
    from tensorloom.transport.interface import Handlers
    from tensorloom.transport.value_methods import (
        PushedHandler,
        TensorsHandler,
        ValueHandlers,
    )

#: What a hello says; another version speaks gRPC with us.
PROTOCOL: Final = b"tensorloom-1"
_HELLO_S: Final = 10.0  # a stranger who says nothing is not waited for longer
MAX_HELLO: Final = 4096


class _SocketCall:
    """Implements `interface.Call` for the call that a connection carries."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[[], None]] = []
        self._is_cancelled = False
        self._lock = threading.Lock()

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Calls back when the caller has hung up."""
        with self._lock:
            if not self._is_cancelled:
                self._callbacks.append(callback)
                return
        callback()

    def cancel(self) -> None:
        """The caller has hung up."""
        with self._lock:
            self._is_cancelled = True
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def end(self) -> None:
        """The call has ended: nobody is to be called any more."""
        with self._lock:
            self._callbacks = []


class SocketServer:
    """Serves one listening socket."""

    def __init__(
        self,
        listener: socket.socket,
        handlers: Handlers,
        value_handlers: ValueHandlers,
        send_tensors: TensorsHandler,
        pushed: PushedHandler,
        token: bytes = b"",
    ) -> None:
        """Makes a server; `start` begins to answer.

        Args:
          listener: where callers connect.
          handlers: of the methods with messages.
          value_handlers: of the methods with values.
          send_tensors: answers requests for tensors.
          pushed: gets what peers push.
          token: what a caller must say first; empty: nothing.
        """
        self._listener = listener
        self._handlers = {m.path.encode(): (m, h) for m, h in handlers.items()}
        self._value_handlers = value_handlers
        self._send_tensors = send_tensors
        self._pushed = pushed
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
        call: list[_SocketCall] = []
        reader = frames.FrameReader(connection)
        writer = frames.FrameWriter(connection)
        try:
            socket_address.prepare(connection)
            if not self._greet(connection, reader, writer):
                return
            hangups.watch(connection, lambda: call[0].cancel() if call else None)
            self._answer_all(reader, writer, call)
        except (OSError, frames.Closed, errors.OpError):
            return  # the caller is gone, or no peer of ours
        finally:
            hangups.forget(connection)
            with self._lock:
                self._connections.discard(connection)
            _shut(connection)
            reader.close()
            writer.close()

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
            writer.write(
                frames.ERROR,
                header=b"The hello is not one of this task's peers",
                code=errors.UNAUTHENTICATED,
            )
            return False
        connection.settimeout(None)
        writer.write(frames.HELLO, header=PROTOCOL)
        return True

    def _answer_all(
        self,
        reader: frames.FrameReader,
        writer: frames.FrameWriter,
        current: list[_SocketCall],
    ) -> None:
        stream = _TensorStream(writer)
        while True:
            frame = reader.read()
            if frame.method == value_methods.PUSH:
                self._take_pushed(frame)
                continue
            if frame.kind == frames.VALUES and frame.method == value_methods.TENSORS:
                self._start_tensors(frame, stream)
                continue
            call = _SocketCall()
            current[:] = [call]
            try:
                header, body, size = self._answer(frame, call)
            except Exception as error:
                code, message = status.to_wire(error)
                writer.write(frames.ERROR, header=message.encode(), code=code)
            else:
                writer.write(frames.REPLY, header=header, body=body, body_size=size)
            finally:
                call.end()
                current.clear()

    def _answer(
        self, frame: frames.Frame, call: _SocketCall
    ) -> tuple[bytes, list[packing.Buffer], int]:
        if frame.kind == frames.CALL:
            return self._answer_message(frame.header, call), [], 0
        handler = self._value_handlers.get(frame.method)
        if frame.kind != frames.VALUES or handler is None:
            raise errors.UnimplementedError(
                None, None, f"Unknown call {frame.kind}, {frame.method}"
            )
        values = packing.unpack(frame.body) if len(frame.body) else []
        header, results = handler(frame.header, values, call)
        if not results:
            return header, [], 0
        body, size = packing.pack(results)
        return header, body, size

    def _answer_message(self, header: bytes, call: _SocketCall) -> bytes:
        from google.protobuf.message import DecodeError

        path, _, content = header.partition(b"\0")
        found = self._handlers.get(path)
        if found is None:
            raise errors.UnimplementedError(None, None, f"Unknown method {path!r}")
        method, handler = found
        try:
            request = method.request.FromString(content)
        except DecodeError:
            raise errors.InvalidArgumentError(
                None, None, "The request is not a message of this method"
            ) from None
        response: bytes = handler(request, call).SerializeToString()
        return response

    def _take_pushed(self, frame: frames.Frame) -> None:
        size = value_methods.STEP_ID.size
        try:
            (step_id,) = value_methods.STEP_ID.unpack_from(frame.header)
            if frame.kind == frames.ERROR:
                message = frame.header[size:].decode(errors="replace")
                failure = status.from_wire(frame.code, message)
                self._pushed.take_failure(step_id, failure)
                return
            is_dead = bool(frame.header[size])
            key = frame.header[size + 1 :].decode()
            (value,) = packing.unpack(frame.body)
        except (struct.error, LookupError, ValueError) as error:
            raise errors.InvalidArgumentError(None, None, str(error)) from None
        self._pushed.take_pushed(step_id, key, value, is_dead)

    def _start_tensors(self, frame: frames.Frame, stream: _TensorStream) -> None:
        try:
            (step_id,) = value_methods.STEP_ID.unpack_from(frame.header)
            names = frame.header[value_methods.STEP_ID.size :].decode()
        except (struct.error, UnicodeDecodeError) as error:
            raise errors.InvalidArgumentError(None, None, str(error)) from None
        self._send_tensors(step_id, names.split("\0")[:-1], stream.push)


class _TensorStream:
    """Sends tensors as they come to be, in the threads that made them."""

    def __init__(self, writer: frames.FrameWriter) -> None:
        self._writer = writer
        self._lock = threading.Lock()

    def push(
        self, step_id: int, key: str, value: Any, is_dead: bool, error: Exception | None
    ) -> None:
        """Sends one tensor, or why there is none."""
        header = value_methods.STEP_ID.pack(step_id) + bytes([is_dead]) + key.encode()
        kind, code, size = frames.REPLY, 0, 0
        body: list[packing.Buffer] = []
        if error is None:
            try:
                body, size = packing.pack([value])
            except errors.OpError as unsendable:
                error = unsendable
        if error is not None:
            code, message = status.to_wire(error)
            kind = frames.ERROR
            header += b"\0" + message.encode()
        try:
            with self._lock:
                self._writer.write(
                    kind, value_methods.TENSORS, header, body, size, code
                )
        except OSError:
            return  # who asked is gone; its master will say so


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
