"""Tensors on the connection of a call: what goes there, and when it ends."""

from __future__ import annotations

import gc
import os
import socket
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tensorloom.framework import errors
from tensorloom.transport.sockets.call_link import CallLink, ConnectionEnd
from tensorloom.transport.wire import frames, packing, value_methods

STEP = 7


class End:
    """One end of a connection with a link."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.writer = frames.FrameWriter(connection)
        self.reader = frames.FrameReader(connection)
        self.ends = ConnectionEnd(connection, self.reader, self.writer).open()
        self.hangups = 0
        self.link = CallLink(self.ends, STEP, self._hung_up)

    def _hung_up(self) -> None:
        self.hangups += 1

    def reply(self, values: list[Any], tensors: list[value_methods.Sent]) -> None:
        body, size = packing.pack([*values, *(value for _, value, _ in tensors)])
        header = value_methods.packed_keys(tensors)
        self.writer.write(frames.REPLY, header=header, body=body, body_size=size)

    def close(self) -> None:
        self.connection.close()
        self.reader.close()
        self.writer.close()
        self.ends.close()


@pytest.fixture
def ends() -> Iterator[tuple[End, End]]:
    both = [End(connection) for connection in socket.socketpair()]
    yield both[0], both[1]
    for end in both:
        end.close()


def taken(link: CallLink) -> list[tuple[str, Any]]:
    return [(key, np.asarray(value).tolist()) for key, value, _ in link.take()]


def test_tensors_come_in_their_order(ends: tuple[End, End]) -> None:
    a, b = ends
    assert a.link.push([("x", np.arange(3), False), ("y", np.float32(2), False)])
    assert a.link.push([("z", np.zeros(2), True)])
    assert taken(b.link) == [("x", [0, 1, 2]), ("y", 2.0)]
    assert b.link.take()[0][2], "it is dead"


def test_a_large_tensor_lies_in_shared_memory(ends: tuple[End, End]) -> None:
    a, b = ends
    large = np.arange(100_000)
    assert all(a.link.push([("x", large, False)]) for _ in range(3))
    for _ in range(3):
        ((_, value, _),) = b.link.take()
        np.testing.assert_array_equal(value, large)


@pytest.mark.parametrize("size", [10, 10_000, 100_000])
def test_a_sender_never_waits(ends: tuple[End, End], size: int) -> None:
    """Nobody reads: after a while what is left goes elsewhere, as the reader hears."""
    a, b = ends
    sent = 0
    while a.link.push([(f"x{sent}", np.zeros(size, np.uint8), False)]):
        sent += 1
    assert not a.link.sends
    assert not a.link.push([("y", np.float32(1), False)]), "the order stays"
    keys = []
    while b.link.is_open:
        keys += [key for key, _, _ in b.link.take()]
    assert keys == [f"x{i}" for i in range(sent)]
    assert (sent == 0) == (size == 100_000)


def test_wake(ends: tuple[End, End]) -> None:
    a, b = ends
    thread = threading.Thread(target=b.link.wake)
    thread.start()
    assert b.link.take() == []
    assert b.link.is_open
    thread.join()
    a.link.push([("x", np.float32(1), False)])
    assert taken(b.link) == [("x", 1.0)]


def test_the_other_side_hangs_up(ends: tuple[End, End]) -> None:
    a, b = ends
    a.connection.shutdown(socket.SHUT_RDWR)
    assert b.link.take() == []
    assert not b.link.is_open
    assert b.hangups == 1
    # Who pushes now is sent elsewhere, where the error is told.
    assert not b.link.push([("x", np.float32(1), False)])


def test_a_reply_with_tensors(ends: tuple[End, End]) -> None:
    a, b = ends
    b.reply([np.float32(5)], [("x", np.float32(1), False)])
    assert not a.link.values
    assert taken(a.link) == [("x", 1.0)]
    assert not a.link.is_open
    assert a.link.has_reply()
    assert a.link.values == [5.0]
    assert a.link.read().kind == frames.REPLY


def test_an_error_is_kept_for_who_takes_the_reply(ends: tuple[End, End]) -> None:
    a, b = ends
    b.writer.write(frames.ERROR, header=b"no", code=errors.NOT_FOUND)
    assert a.link.take() == []
    assert not a.link.is_open
    assert a.link.read().header == b"no"


def test_the_reply_behind_tensors_that_nobody_took(ends: tuple[End, End]) -> None:
    a, b = ends
    assert not a.link.has_reply()
    b.link.push([("x", np.float32(1), False)])
    assert not a.link.has_reply()
    b.link.push([("y", np.float32(1), False)])
    b.reply([], [])
    assert a.link.has_reply()
    assert a.link.read().kind == frames.REPLY


@pytest.mark.parametrize(
    "frame",
    [
        (frames.VALUES, value_methods.RUN_GRAPH, b""),
        (frames.HELLO, 0, b""),
        (frames.VALUES, value_methods.PUSH, b"short"),
        (frames.VALUES, value_methods.PUSH, value_methods.STEP_ID.pack(8) + b"0x\0"),
        (frames.VALUES, value_methods.PUSH, value_methods.STEP_ID.pack(STEP) + b"0x"),
        (frames.REPLY, 0, b"0x\0"),
    ],
)
def test_malformed(ends: tuple[End, End], frame: tuple[int, int, bytes]) -> None:
    a, b = ends
    kind, method, header = frame
    body, size = packing.pack([])
    a.writer.write(kind, method, header, body, size)
    with pytest.raises(errors.InvalidArgumentError, match="Malformed"):
        b.link.take()


def test_closed_ends_are_not_woken(ends: tuple[End, End]) -> None:
    """The number of their file may be another's by then."""
    a, _ = ends
    a.ends.close()
    a.link.wake()
    a.ends.close()


def test_what_is_closed_leaves_no_files() -> None:
    def cycle() -> None:
        for end in [End(connection) for connection in socket.socketpair()]:
            end.close()

    cycle()
    gc.collect()  # what other tests left
    before = len(os.listdir("/proc/self/fd"))
    cycle()
    assert len(os.listdir("/proc/self/fd")) <= before
