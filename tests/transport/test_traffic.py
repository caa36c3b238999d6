"""What was sent, by the way that it went."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest

from tensorloom.transport import traffic
from tensorloom.transport.wire import frames


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts begin at nothing."""
    monkeypatch.setattr(traffic, "_open", [])
    monkeypatch.setattr(traffic, "_closed", {})


@pytest.mark.usefixtures("sent")
def test_bytes_and_time_by_way() -> None:
    assert set(traffic.totals().values()) == {0}
    one, another = traffic.Sent(), traffic.Sent()
    one.add(traffic.SOCKET, 10, 0.5)
    one.add(traffic.SOCKET, 20, 0.25)
    another.add(traffic.SOCKET, 5, 1.0)
    another.add(traffic.GRPC_STREAM, 7, 2.0)
    for _ in range(2):
        assert traffic.totals() == {
            "socket": 35,
            "shared memory": 0,
            "UCX": 0,
            "gRPC stream": 7,
            "gRPC call": 0,
        }
        assert traffic.seconds()["socket"] == 1.75
        another.close()  # what it has sent stays


@pytest.mark.usefixtures("sent")
def test_messages_of_calls() -> None:
    serialize = traffic.counted(lambda message: message * 2)
    assert serialize(b"abc") == b"abcabc"
    assert serialize(b"d") == b"dd"
    assert traffic.totals()[traffic.GRPC_CALL] == 8
    assert traffic.seconds()[traffic.GRPC_CALL] > 0


@pytest.mark.usefixtures("sent")
@pytest.mark.parametrize("size", [0, 5, 1 << 16])
def test_frames(size: int) -> None:
    here, there = socket.socketpair()
    with closing(here), closing(there):
        writer, reader = frames.FrameWriter(here), frames.FrameReader(there)
        body = [bytes(size)] if size else []
        writer.write(frames.VALUES, 1, b"header", body, size)
        assert len(reader.read().body) == size
        writer.close()
        reader.close()
    totals = traffic.totals()
    assert sum(totals.values()) >= frames.HEAD_BYTES + len("header") + size
    assert all(traffic.seconds()[way] > 0 for way, count in totals.items() if count)
