"""Frames (`frames.py`) as messages of a stream: a large one is several messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from tensorloom.transport.wire import frames

if TYPE_CHECKING:
    from tensorloom.transport.wire.packing import Buffer

# While one message is on its way the next is made, in caches that hold both.
_MESSAGE_BYTES: Final = 1 << 21


def messages(
    kind: int,
    method: int = 0,
    header: bytes = b"",
    body: Sequence[Buffer] = (),
    body_size: int = 0,
    code: int = 0,
) -> Iterator[bytes]:
    """The messages of a frame; the body is copied as they are taken."""
    waiting: list[Buffer] = []
    room = _MESSAGE_BYTES
    for buffer in (frames.head(kind, method, header, body_size, code), *body):
        view = memoryview(buffer)
        while len(view) > room:
            yield b"".join([*waiting, view[:room]])
            view = view[room:]
            waiting.clear()
            room = _MESSAGE_BYTES
        waiting.append(view)
        room -= len(view)
    yield b"".join(waiting)


def is_small(header: bytes, body_size: int) -> bool:
    """Whether a frame is one message."""
    return len(header) + body_size + frames.HEAD_BYTES <= _MESSAGE_BYTES


class MessageReader(frames.FrameReader):
    """Takes frames from a stream of messages. One thread at a time."""

    def __init__(self, receive: Callable[[], bytes]) -> None:
        """Makes a reader; `receive` waits for a message, and raises what `read` may."""
        self._receive = receive
        self._left = b""
        self._inbox = None
        self._files = []

    def _chunk(self) -> bytes:
        return self._receive()

    def _receive_exactly(self, size: int) -> bytes:
        content = bytearray()
        while len(content) < size:
            content += self._chunk()
        self._left = bytes(content[size:])
        return bytes(content[:size])

    def _receive_into(self, target: memoryview) -> None:
        while len(target):
            chunk = self._left or self._chunk()
            self._left = b""
            size = min(len(chunk), len(target))
            target[:size] = chunk[:size]
            target = target[size:]
