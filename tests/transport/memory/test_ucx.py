"""Large bodies over UCX, by TCP and by memory of one machine (`make test-ucx`)."""

from __future__ import annotations

import gc
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework import errors
from tensorloom.transport import traffic
from tensorloom.transport.memory import media, ucx
from tensorloom.transport.peers import liveness
from tensorloom.transport.wire import frames
from tests.transport.memory import ucx_peer

WAYS = ["tcp", "sm,self"]
Side = tuple[socket.socket, frames.FrameWriter, frames.FrameReader]
Peer = Callable[[str, str], Side]


@pytest.fixture
def peer() -> Iterator[Peer]:
    """Starts `ucx_peer.py` and meets it; the end of the test ends it."""
    with ExitStack() as ended:

        def start(tls: str, what: str) -> Side:
            listener = socket.create_server(("127.0.0.1", 0))
            ended.callback(listener.close)
            port = str(listener.getsockname()[1])
            process = subprocess.Popen(
                [sys.executable, "-m", ucx_peer.__name__, port, tls, what]
            )
            ended.callback(process.wait)
            ended.callback(process.kill)
            connection, _ = listener.accept()
            ended.callback(connection.close)
            end = ucx.Ucx(tls, local=True).meet(connection)
            assert end is not None
            writer, reader = ucx_peer.joined(connection, end)
            ended.callback(writer.close)
            ended.callback(reader.close)
            return connection, writer, reader

        yield start


def in_process(tls: str) -> tuple[Side, Side]:
    """Two ends that have met."""
    one, other = socket.socketpair()
    medium = ucx.Ucx(tls, local=True)
    ends = medium.meet(one), medium.meet(other)
    assert ends[0] is not None
    assert ends[1] is not None
    ends[0].join(ends[1].address)
    ends[1].join(ends[0].address)
    sides = []
    for connection, end in zip((one, other), ends, strict=True):
        connection.settimeout(60)
        writer = frames.FrameWriter(connection)
        reader = frames.FrameReader(connection)
        writer.use(end)
        reader.use(end)
        sides.append((connection, writer, reader))
    return sides[0], sides[1]


def close(*sides: Side) -> None:
    """Closes both ends at once, as two tasks do."""

    def end(side: Side) -> None:
        connection, writer, reader = side
        connection.close()
        reader.close()
        writer.close()

    running = [threading.Thread(target=end, args=(side,)) for side in sides]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()


@pytest.mark.ucx
@pytest.mark.parametrize("tls", WAYS)
def test_bodies_of_all_shapes(tls: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ucx, "_PIECE", 3_000_000)  # large ones go in several
    one, other = in_process(tls)
    large = np.random.default_rng(1).integers(0, 256, 10_000_001, np.uint8)
    before = traffic.totals()
    bodies: list[list[Any]] = [
        [large.data],
        [b"first", large.data, b"", b"x" * 70_000, b"last", b"of all"],
        [large[:1_100_000].data, large[1_100_000:].data],
        [bytes(1000)] * 2000,
        [b"small"],
    ]
    got: list[np.ndarray[Any, Any]] = []
    for body in bodies:
        size = sum(map(len, body))
        for (_, writer, _), (_, _, reader) in (one, other), (other, one):
            thread = threading.Thread(
                target=lambda reader=reader: got.append(reader.read().body)
            )
            thread.start()
            writer.write(frames.VALUES, 1, b"header", body, size)
            thread.join()
            assert got.pop().tobytes() == b"".join(bytes(part) for part in body)
    sizes = [sum(map(len, body)) for body in bodies[:-1]]
    assert traffic.totals()["UCX"] - before["UCX"] == 2 * sum(sizes)
    assert traffic.seconds()["UCX"] > 0
    close(one, other)


@pytest.mark.ucx
@pytest.mark.parametrize("tls", WAYS)
def test_another_process_answers(tls: str, peer: Peer) -> None:
    _, writer, reader = peer(tls, "answer")
    body = np.arange(ucx_peer.SIZE, dtype=np.uint8)
    writer.write(frames.CALL, body=[body.data], body_size=len(body))
    np.testing.assert_array_equal(reader.read().body, body + np.uint8(1))


@pytest.mark.ucx
@pytest.mark.parametrize("tls", WAYS)
def test_a_peer_dies_that_is_sent_a_body(tls: str, peer: Peer) -> None:
    _, writer, _ = peer(tls, "die")
    body = np.zeros(ucx_peer.SIZE, np.uint8)
    with pytest.raises(ConnectionError):
        writer.write(frames.CALL, body=[body.data], body_size=len(body))


@pytest.mark.ucx
@pytest.mark.parametrize("tls", WAYS)
def test_a_peer_dies_that_sends_a_body(tls: str, peer: Peer) -> None:
    _, _, reader = peer(tls, "leave")
    with pytest.raises(ConnectionError):
        reader.read()


@pytest.mark.ucx
@pytest.mark.parametrize("tls", WAYS)
def test_a_body_that_does_not_come(
    tls: str, peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection, _, reader = peer(tls, "silent")
    monkeypatch.setenv(liveness.TIMEOUT_VARIABLE, "0.3")
    with pytest.raises(ConnectionAbortedError, match=r"nothing for 0\.3 s"):
        reader.read()
    connection.close()


@pytest.mark.ucx
def test_whoever_waits_is_woken() -> None:
    one, other = in_process("tcp")
    body = bytes(2_000_000)
    one[0].settimeout(0.1)
    with pytest.raises(TimeoutError):
        one[1].write(frames.VALUES, 1, b"", [body], len(body))
    one[0].settimeout(None)
    failed: list[OSError] = []

    def write() -> None:
        try:
            one[1].write(frames.VALUES, 1, b"", [body], len(body))
        except OSError as error:
            failed.append(error)

    thread = threading.Thread(target=write)
    thread.start()
    one[0].shutdown(socket.SHUT_RDWR)  # as `Connection.hang_up` does
    thread.join()
    assert isinstance(failed[0], OSError)
    close(one, other)


@pytest.mark.ucx
@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="there is no /proc")
def test_nothing_is_left_of_connections() -> None:
    def run() -> None:
        one, other = in_process("tcp")
        body = bytes(5_000_000)
        thread = threading.Thread(target=other[2].read)
        thread.start()
        one[1].write(frames.VALUES, 1, b"", [body], len(body))
        thread.join()
        one[0].settimeout(0.05)
        with pytest.raises(TimeoutError):  # it is left in the middle
            one[1].write(frames.VALUES, 1, b"", [body], len(body))
        close(one, other)

    def files() -> int:
        gc.collect()
        return len(os.listdir("/proc/self/fd"))

    run()
    before = files()
    for _ in range(3):
        run()
    assert files() <= before


@pytest.mark.ucx
@pytest.mark.parametrize("reference", [b"", b"12345678x", bytes(8), b"\xff" * 16])
def test_malformed_references(reference: bytes) -> None:
    one, other = in_process("tcp")
    inbox = other[2]._inbox
    assert inbox is not None
    with pytest.raises(errors.InvalidArgumentError, match="Malformed reference"):
        inbox.take(reference, [])
    close(one, other)


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "ucxx", "ucxx._lib":
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setenv("TENSORLOOM_TRANSPORT", "ucx")
    ucx._library.cache_clear()
    ucx.enable.cache_clear()
    with pytest.raises(ImportError, match=r"pip install 'tensorloom\[ucx\]'"):
        ucx.enable_if_asked()
    assert not media._meetings
    monkeypatch.setenv("TENSORLOOM_TRANSPORT", "")
    with pytest.raises(ImportError, match=r"tensorloom\[ucx\]"):
        tf.train.Server({"job": ["localhost:0"]}, protocol="grpc+ucx")
    ucx.enable_if_asked()
