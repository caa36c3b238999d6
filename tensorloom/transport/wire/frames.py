"""Frames on a connection: one request or reply, with values behind it.

    u8 kind | u8 code | u16 method | u32 header bytes | u64 body bytes | header | body

A connection carries one call at a time; who calls while it is busy opens another. So
no frame needs a number, and the thread that sends a request also takes the reply.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.transport import traffic
from tensorloom.transport.memory import media
from tensorloom.transport.wire.body_memory import new_body

if TYPE_CHECKING:
    from tensorloom.transport.memory.lent_memory import LentBody
    from tensorloom.transport.wire.packing import Buffer

_HEAD: Final = struct.Struct("<BBHIQ")
HEAD_BYTES: Final = _HEAD.size
_FIRST_READ: Final = 65536
# Up to so many bytes one copy costs less than several buffers.
_COPIED: Final = 16384
_FILE_SPACE: Final = socket.CMSG_SPACE(4 * media.MAX_FILES)  # of files' numbers
# A reference to a body elsewhere is no longer than that, ...
_REFERENCE: Final = 1024
# ... if it is no larger: parts of larger ones are lent, the rest comes with the frame.
_WHOLE: Final = (1 << 20) - 1
#: Longer headers are no honest peer's: they hold a message without its tensors.
MAX_HEADER: Final = 2**31 - 1
MAX_BODY: Final = 2**40
# sendmsg takes no more buffers at once (IOV_MAX).
_MAX_BUFFERS: Final = 512

# Kinds.
HELLO: Final = 1  # method: `MEETS` or 0
CALL: Final = 2  # header: a protobuf request
VALUES: Final = 3  # header: as the method has it; body: packed values
REPLY: Final = 4
ERROR: Final = 5  # code: the status; header: the message
#: Beside a kind: a medium has the body, and a reference to it stands here.
SHARED: Final = 0x80


#: Beside a hello: who says it would use a medium whose ends know each other.
MEETS: Final = 1

_NO_BODY: Final = np.empty(0, np.uint8)


@dataclass(slots=True)
class Frame:
    """A received frame."""

    kind: int
    code: int
    method: int
    header: bytes
    # Of uint8. The receiver's own memory, or lent: then nobody changes it.
    body: np.ndarray[Any, Any] | LentBody


class Closed(Exception):
    """The other side has closed the connection."""


def head(kind: int, method: int, header: bytes, body_size: int, code: int) -> bytes:
    """What stands before a body."""
    return _HEAD.pack(kind, code, method, len(header), body_size) + header


class FrameWriter:
    """Sends frames on a connection. One thread at a time."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._sent = traffic.Sent()
        self._take_outbox(media.outbox_of(connection))

    def write(
        self,
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
        if body and self._outbox is not None:
            shared = self._put(body, body_size)
            if shared is not None:
                self._write_shared(kind, method, header, code, *shared)
                return
        begin = perf_counter()
        first = head(kind, method, header, body_size, code)
        if body_size <= _COPIED:
            self._connection.sendall(b"".join((first, *body)) if body else first)
        else:
            buffers = [memoryview(first), *[memoryview(part) for part in body]]
            while buffers:
                sent = self._connection.sendmsg(buffers[:_MAX_BUFFERS])
                buffers = _rest(buffers, sent)
        size = len(first) + body_size
        self._sent.add(traffic.SOCKET, size, perf_counter() - begin)

    def _put(
        self, body: Sequence[Buffer], size: int
    ) -> tuple[bytes, Sequence[int]] | None:
        """Gives a body to the medium; None: it goes with its frame."""
        assert self._outbox is not None
        begin = perf_counter()
        shared = self._outbox.put(body, size)
        if shared is not None:
            self._sent.add(self._way, size, perf_counter() - begin)
        return shared

    def write_small(
        self,
        method: int,
        header: bytes,
        body: Sequence[Buffer],
        body_size: int,
        room: int,
    ) -> int:
        """Sends a frame of values that takes no more than `room` bytes on its way.

        Returns:
          How many it takes; 0 if that is more: it was not sent.

        Raises:
          OSError: as `write`.
        """
        size = HEAD_BYTES + len(header)
        if size + body_size <= room:
            self.write(VALUES, method, header, body, body_size)
            return size + body_size
        size += _REFERENCE
        if self._outbox is None or size > room or body_size > _WHOLE:
            return 0
        shared = self._put(body, body_size)
        if shared is None:
            return 0
        self._write_shared(VALUES, method, header, 0, *shared)
        return size

    def _write_shared(
        self,
        kind: int,
        method: int,
        header: bytes,
        code: int,
        reference: bytes,
        files: Sequence[int],
    ) -> None:
        begin = perf_counter()
        content = head(kind | SHARED, method, header, len(reference), code) + reference
        size = len(content)
        if files:
            sent = socket.send_fds(self._connection, [content], files)
            content = content[sent:]
        if content:
            self._connection.sendall(content)
        end = perf_counter()
        self._sent.add(traffic.SOCKET, size, end - begin)
        if self._until_taken is not None:
            self._until_taken()
            self._sent.add(self._way, 0, perf_counter() - end)

    def use(self, outbox: media.Outbox) -> None:
        """Gives large bodies to a medium that the other side is ready for."""
        before = self._outbox
        self._take_outbox(outbox)
        if before is not None:
            before.close()

    def _take_outbox(self, outbox: media.Outbox | None) -> None:
        self._outbox = outbox
        self._way: str = getattr(outbox, "way", traffic.OTHER_MEDIUM)
        self._until_taken = getattr(outbox, "until_taken", None)

    def hung_up(self) -> None:
        """The other side is gone; any thread may say so."""
        if self._outbox is not None:
            self._outbox.hung_up()

    def close(self) -> None:
        """Lets go of shared memory; the connection stays its owner's."""
        self._sent.close()
        if self._outbox is not None:
            self._outbox.close()


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
        self._inbox = media.inbox_of(connection)
        self._files: list[int] = []  # that came with the last bytes

    def use(self, inbox: media.Inbox) -> None:
        """Takes large bodies from a medium."""
        self._inbox = inbox

    @property
    def has_more(self) -> bool:
        """Whether something behind the last frame has been received with it."""
        return bool(self._left)

    def read(self, max_body: int = MAX_BODY, max_header: int = MAX_HEADER) -> Frame:
        """Waits for a frame.

        Raises:
          Closed: the connection ended before or within it.
          OSError: the connection is broken, or its timeout passed.
          errors.InvalidArgumentError: what came is no frame.
          errors.ResourceExhaustedError: it is too large.
        """
        start = self._left or self._chunk()
        while len(start) < _HEAD.size:
            start += self._chunk()
        kind, code, method, header_size, body_size = _HEAD.unpack_from(start)
        is_shared = bool(kind & SHARED)
        kind &= ~SHARED
        is_known = HELLO <= kind <= ERROR
        if not is_known or header_size > max_header or body_size > max_body:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Malformed frame of kind {kind}: {header_size} + {body_size} bytes",
            )
        header_end = _HEAD.size + header_size
        header = start[_HEAD.size : header_end]
        if len(header) < header_size:
            header += self._receive_exactly(header_size - len(header))
        body = _NO_BODY
        end = header_end + body_size
        if body_size:
            body = self._body(memoryview(start)[header_end:end], body_size)
        self._left = start[end:]
        if is_shared:
            shared = self._shared_body(body.tobytes())
            return Frame(kind, code, method, header, shared)
        return Frame(kind, code, method, header, body)

    def _body(self, there: memoryview, size: int) -> np.ndarray[Any, Any]:
        """A body whose first bytes have arrived."""
        if len(there) == size:
            return np.frombuffer(bytearray(there), np.uint8)
        try:
            body = new_body(size)
        except MemoryError:
            raise errors.ResourceExhaustedError(
                None, None, f"There is no memory for a frame of {size} bytes"
            ) from None
        body[: len(there)] = np.frombuffer(there, np.uint8)
        self._receive_into(body.data[len(there) :])
        return body

    def _shared_body(self, reference: bytes) -> np.ndarray[Any, Any] | LentBody:
        if self._inbox is None:
            raise errors.InvalidArgumentError(
                None, None, "No medium for large bodies reaches over this connection"
            )
        return self._inbox.take(reference, self._files)

    def _chunk(self) -> bytes:
        # A small frame is there whole. A file comes with the first byte of its frame.
        if self._inbox is None:
            chunk = self._connection.recv(_FIRST_READ)
        else:
            chunk, extra, _, _ = self._connection.recvmsg(_FIRST_READ, _FILE_SPACE)
            for _, _, content in extra:
                self._files.extend(memoryview(content).cast("i"))
        if not chunk:
            raise Closed
        return chunk

    def _receive_exactly(self, size: int) -> bytes:
        content = bytearray()
        while len(content) < size:
            chunk = self._connection.recv(min(size - len(content), 1 << 20))
            if not chunk:
                raise Closed
            content += chunk
        return bytes(content)

    def _receive_into(self, target: memoryview) -> None:
        while len(target):
            got = self._connection.recv_into(target)
            if not got:
                raise Closed
            target = target[got:]

    def close(self) -> None:
        """Lets go of files that were not used; the connection stays its owner's."""
        for file in self._files:
            os.close(file)
        self._files.clear()
