"""A medium of one's own for large bodies, as RDMA would be one."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from tensorloom.framework import errors
from tensorloom.transport.memory import media
from tensorloom.transport.wire import frames

LARGE = np.arange(100_000, dtype=np.int32)


class Card:
    """A network card: memory that is registered can be read by its key."""

    def __init__(self) -> None:
        self.registered: dict[int, memoryview] = {}
        self.reads = 0

    def outbox(self, connection: socket.socket) -> Outbox | None:
        return Outbox(self) if connection.family == socket.AF_INET else None

    def inbox(self, connection: socket.socket) -> Inbox | None:
        return Inbox(self) if connection.family == socket.AF_INET else None


class Outbox:
    def __init__(self, card: Card) -> None:
        self._card = card

    def put(self, buffers: Sequence[Any], size: int) -> tuple[bytes, tuple[()]] | None:
        if size < 1000:
            return None
        keys = []
        for buffer in buffers:
            view = memoryview(buffer)
            keys.append(np.frombuffer(view, np.uint8).ctypes.data)
            self._card.registered[keys[-1]] = view
        return np.array(keys, np.int64).tobytes(), ()

    def hung_up(self) -> None:
        pass

    def close(self) -> None:
        self._card.registered.clear()


class Inbox:
    def __init__(self, card: Card) -> None:
        self._card = card

    def take(self, reference: bytes, files: list[int]) -> np.ndarray[Any, Any]:
        keys = np.frombuffer(reference, np.int64).tolist()
        self._card.reads += 1
        try:
            parts = [self._card.registered[key] for key in keys]
        except KeyError as error:
            raise errors.InvalidArgumentError(None, None, str(error)) from None
        return np.concatenate([np.frombuffer(part, np.uint8) for part in parts])


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        one = socket.create_connection(listener.getsockname())
        other, _ = listener.accept()
    with one, other:
        yield one, other


def test_a_medium_carries_large_bodies(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    card = Card()
    forget = media.use(card)
    try:
        writer, reader = frames.FrameWriter(pair[0]), frames.FrameReader(pair[1])
    finally:
        forget()
    body = LARGE.data.cast("B")
    for _ in range(3):
        writer.write(frames.VALUES, 1, b"large", [body], LARGE.nbytes)
        frame = reader.read()
        assert frame.header == b"large"
        np.testing.assert_array_equal(frame.body.view(np.int32), LARGE)
    assert card.reads == 3
    assert len(card.registered) == 1  # the same memory each time
    writer.write(frames.VALUES, 1, b"small", [body[:16]], 16)
    assert len(reader.read().body) == 16
    assert card.reads == 3
    writer.close()
    assert not card.registered
    reader.close()


def test_without_a_medium_the_connection_carries_all(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    assert media.outbox_of(pair[0]) is None
    assert media.inbox_of(pair[1]) is None
    local, other = socket.socketpair(socket.AF_UNIX)
    with local, other:
        assert media.outbox_of(local) is not None
        assert media.inbox_of(other) is not None
