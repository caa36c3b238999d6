"""Which connections are taken for cut off."""

from __future__ import annotations

import socket
import threading
import time
from typing import Any, cast

import pytest

from tensorloom.transport.peers import liveness, silent_peers
from tensorloom.transport.sockets import address as socket_address


class Connection:
    """A socket with such facts about it."""

    def __init__(self, retransmits: int, probes: int, data: int, acks: int) -> None:
        self._facts = retransmits, probes, data, acks

    def getsockopt(self, level: int, option: int, size: int) -> bytes:
        assert (level, option) == (socket.IPPROTO_TCP, socket.TCP_INFO)
        return silent_peers._TCP_INFO.pack(*self._facts)[:size]


@pytest.mark.parametrize(
    ("retransmits", "probes", "data_ms", "acknowledged_ms", "is_silent"),
    [
        (0, 0, 9_000_000, 9_000_000, False),  # nobody said anything
        (3, 0, 2500, 2500, True),
        (0, 3, 2500, 2500, True),
        (3, 0, 2500, 1500, False),  # it has answered something
        (3, 0, 1500, 2500, False),
        (1, 0, 2500, 2500, False),
        (0, 1, 2500, 2500, False),
    ],
)
def test_silence(
    retransmits: int,
    probes: int,
    data_ms: int,
    acknowledged_ms: int,
    is_silent: bool,
) -> None:
    connection = Connection(retransmits, probes, data_ms, acknowledged_ms)
    found = silent_peers.is_silent(cast("Any", connection), 2.0)
    assert found == is_silent


def test_facts_of_the_kernel() -> None:
    """They are where we look for them: data came just now, or a while ago."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()) as connection,
    ):
        other, _ = listener.accept()
        with other:
            other.sendall(b"x")
            assert connection.recv(1) == b"x"
            time.sleep(0.05)
            info = connection.getsockopt(
                socket.IPPROTO_TCP, socket.TCP_INFO, silent_peers._TCP_INFO.size
            )
            facts = silent_peers._TCP_INFO.unpack(info)
            assert facts[:2] == (0, 0)
            assert 40 <= facts[2] < 60_000
            assert 40 <= facts[3] < 60_000


@pytest.mark.slow
def test_who_reads_late_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the connection cannot hold waits for longer than the limit."""
    monkeypatch.setattr(liveness, "task_timeout_s", lambda: 1.0)
    content = bytes(64 * 2**20)
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()) as reader,
    ):
        writer, _ = listener.accept()
        with writer:
            for connection in (reader, writer):
                socket_address.prepare(connection)
            thread = threading.Thread(target=writer.sendall, args=(content,))
            thread.start()
            time.sleep(4.0)
            received = 0
            while received < len(content):
                chunk = reader.recv(2**20)
                assert chunk
                received += len(chunk)
            thread.join(60)
