"""Media whose ends tell each other their addresses when they say hello."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from tensorloom.transport import traffic
from tensorloom.transport.memory import media, ucx
from tensorloom.transport.sockets import address as socket_address
from tensorloom.transport.sockets import server as socket_server
from tensorloom.transport.sockets.channel import SocketChannel
from tensorloom.transport.sockets.frame_answers import FrameAnswers
from tensorloom.transport.sockets.server import SocketServer
from tensorloom.transport.wire import value_methods

LARGE = np.arange(1_000_000, dtype=np.float32)


class Place:
    """Bodies are put down under their numbers; addresses are the names of the ends."""

    def __init__(self) -> None:
        self.ends: list[End] = []
        self.bodies: dict[bytes, bytes] = {}

    def meet(self, connection: socket.socket) -> End | None:
        if connection.family == socket.AF_UNIX:
            return None
        self.ends.append(End(self, len(self.ends)))
        return self.ends[-1]


class End:
    way = traffic.UCX

    def __init__(self, place: Place, number: int) -> None:
        self._place = place
        self.address = b"end %d" % number
        self.met = b""
        self.sends = 0
        self.is_closed = False

    def join(self, address: bytes) -> None:
        self.met = address

    def put(self, buffers: Sequence[Any], size: int) -> tuple[bytes, tuple[()]] | None:
        if size < 1000:
            return None
        self._place.bodies[self.met] = b"".join(bytes(buffer) for buffer in buffers)
        return self.met, ()

    def until_taken(self) -> None:
        self.sends += 1

    def take(self, reference: bytes, files: list[int]) -> np.ndarray[Any, Any]:
        assert reference == self.address
        return np.frombuffer(bytearray(self._place.bodies.pop(reference)), np.uint8)

    def hung_up(self) -> None:
        pass

    def close(self) -> None:
        self.is_closed = True


class Service:
    def run(self, header: bytes, values: list[Any], call: Any) -> tuple[bytes, Any]:
        return header, [value * 2 for value in values]


Double = Callable[[np.ndarray[Any, Any]], Any]


@pytest.fixture
def double() -> Iterator[Double]:
    """Calls a task over TCP, on a connection that is made by the first call."""
    listener, endpoint = socket_address.listen_on("127.0.0.1")
    service: Any = Service()
    handlers: Any = {value_methods.RUN_GRAPH: service.run}
    server = SocketServer(listener, FrameAnswers({}, handlers, service, service), b"w")
    server.start()
    channel = SocketChannel(endpoint, "/job:a/replica:0/task:0", b"w")

    def call(value: np.ndarray[Any, Any]) -> Any:
        return channel.call_values(value_methods.RUN_GRAPH, b"", [value])[1][0]

    yield call
    channel.close()
    server.stop()


def test_ends_meet_and_carry_large_bodies(double: Double) -> None:
    place = Place()
    forget = media.offer(place)
    try:
        for _ in range(3):
            np.testing.assert_array_equal(double(LARGE), LARGE * 2)
        assert double(np.float32(3)) == 6
    finally:
        forget()
    assert [end.met for end in place.ends] == [b"end 1", b"end 0"]
    assert [end.sends for end in place.ends] == [3, 3]
    assert not any(end.is_closed for end in place.ends)


@pytest.mark.parametrize("who", ["caller", "server"])
def test_who_is_alone_uses_the_socket(
    double: Double, who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place()

    def meet(connection: socket.socket) -> Any:
        is_server = connection.getsockname()[1] == listening
        return place.meet(connection) if is_server == (who == "server") else None

    listening = 0

    def connect(endpoint: str, timeout_s: float) -> socket.socket:
        nonlocal listening
        connection = original(endpoint, timeout_s)
        listening = connection.getpeername()[1]
        return connection

    original = socket_address.connect
    monkeypatch.setattr(socket_address, "connect", connect)
    monkeypatch.setattr(media, "meet", meet)
    np.testing.assert_array_equal(double(LARGE), LARGE * 2)
    assert all(not end.met for end in place.ends)
    assert [end.is_closed for end in place.ends] == [True] * (who == "caller")


def test_addresses_fit_into_a_hello() -> None:
    assert len(socket_server.PROTOCOL) + media.MAX_ADDRESS <= socket_server.MAX_HELLO


@pytest.mark.ucx
def test_ucx_between_tasks(double: Double) -> None:
    forget = media.offer(ucx.Ucx("tcp"))
    before = traffic.totals()["UCX"]
    try:
        for _ in range(3):
            np.testing.assert_array_equal(double(LARGE), LARGE * 2)
    finally:
        forget()
    assert traffic.totals()["UCX"] - before > 6 * LARGE.nbytes - 1
