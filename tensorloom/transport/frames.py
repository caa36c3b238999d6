"""Frames on a connected socket: one request or reply, with values behind it.

    u8 kind | u8 code | u16 method | u32 header bytes | u64 body bytes | header | body

A connection carries one call at a time; who calls while it is busy opens another. So
no frame needs a number, and the thread that sends a request also takes the reply.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors

if TYPE_CHECKING:
    import socket

    from tensorloom.transport.packing import Buffer

_HEAD: Final = struct.Struct("<BBHIQ")
_FIRST_READ: Final = 65536
#: Longer headers are no honest peer's: they hold a message without its tensors.
MAX_HEADER: Final = 2**31 - 1
_MAX_BODY: Final = 2**40
# sendmsg takes no more buffers at once (IOV_MAX).
_MAX_BUFFERS: Final = 512

# Kinds.
HELLO: Final = 1
CALL: Final = 2  # header: a protobuf request
VALUES: Final = 3  # header: as the method has it; body: packed values
REPLY: Final = 4
ERROR: Final = 5  # code: the status; header: the message


@dataclass(slots=True)
class Frame:
    """A received frame."""

    kind: int
    code: int
    method: int
    header: bytes
    body: np.ndarray[Any, Any]  # of uint8; the receiver's own memory


class Closed(Exception):
    """The other side has closed the connection."""


def send(
    connection: socket.socket,
    kind: int,
    method: int = 0,
    header: bytes = b"",
    body: Sequence[Buffer] = (),
    body_size: int = 0,
    code: int = 0,
) -> None:
    """Sends a frame.

    Raises:
      OSError: the connection is broken, or its timeout passed.
    """
    first = _HEAD.pack(kind, code, method, len(header), body_size) + header
    if not body:
        connection.sendall(first)
        return
    buffers = [memoryview(first), *[memoryview(part) for part in body]]
    while buffers:
        sent = connection.sendmsg(buffers[:_MAX_BUFFERS])
        buffers = _rest(buffers, sent)


def _rest(buffers: list[memoryview], sent: int) -> list[memoryview]:
    for index, buffer in enumerate(buffers):
        if sent < len(buffer):
            return [buffer[sent:], *buffers[index + 1 :]]
        sent -= len(buffer)
    return []


class FrameReader:
    """Takes frames from a connection. One thread at a time."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._left = b""  # what came behind the last frame

    def read(self, max_body: int = _MAX_BODY) -> Frame:
        """Waits for a frame.

        Raises:
          Closed: the connection ended before or within it.
          OSError: the connection is broken, or its timeout passed.
          errors.InvalidArgumentError: what came is no frame.
        """
        start = self._left or self._chunk()
        while len(start) < _HEAD.size:
            start += self._chunk()
        kind, code, method, header_size, body_size = _HEAD.unpack_from(start)
        if (
            not HELLO <= kind <= ERROR
            or header_size > MAX_HEADER
            or body_size > max_body
        ):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Malformed frame of kind {kind} with {header_size} + {body_size} bytes",
            )
        header_end = _HEAD.size + header_size
        header = start[_HEAD.size : header_end]
        if len(header) < header_size:
            header += _receive_exactly(self._connection, header_size - len(header))
        body = np.empty(body_size, np.uint8)
        there = start[header_end : header_end + body_size]
        if there:
            body[: len(there)] = np.frombuffer(there, np.uint8)
        _receive_into(self._connection, body.data[len(there) :])
        self._left = start[header_end + body_size :]
        return Frame(kind, code, method, header, body)

    def _chunk(self) -> bytes:
        # A small frame is there whole.
        chunk = self._connection.recv(_FIRST_READ)
        if not chunk:
            raise Closed
        return chunk


def _receive_exactly(connection: socket.socket, size: int) -> bytes:
    content = bytearray()
    while len(content) < size:
        chunk = connection.recv(min(size - len(content), 1 << 20))
        if not chunk:
            raise Closed
        content += chunk
    return bytes(content)


def _receive_into(connection: socket.socket, target: memoryview) -> None:
    while len(target):
        got = connection.recv_into(target)
        if not got:
            raise Closed
        target = target[got:]
