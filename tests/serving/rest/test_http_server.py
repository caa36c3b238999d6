"""Connections of slow callers end."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.responses import Response

from tensorloom.serving.rest import http_server
from tensorloom.serving.rest.http_server import HttpServer

REQUEST = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"
# More than the buffers of a connection hold.
LARGE = 64 << 20


async def _app(scope: Any, receive: Any, send: Any) -> None:
    size = LARGE if scope["path"] == "/large" else 10
    await Response(b"x" * size)(scope, receive, send)


class _Served:
    def __init__(self, server: HttpServer, opened: contextlib.ExitStack) -> None:
        self.server, self._opened = server, opened

    def connect(self) -> socket.socket:
        address = ("127.0.0.1", self.server.port)
        return self._opened.enter_context(socket.create_connection(address, 120))


@pytest.fixture
def served() -> Iterator[_Served]:
    """A server that keeps idle connections for a second."""
    server = HttpServer(_app, "127.0.0.1", 0)
    server._server.config.timeout_keep_alive = 1
    server.start()
    with contextlib.ExitStack() as opened:
        yield _Served(server, opened)
    server.stop()


def _rest_of(connection: socket.socket) -> bytes:
    """What comes until the server hangs up."""
    parts = []
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(1 << 20):
            parts.append(part)
    return b"".join(parts)


def test_slow_heads(served: _Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "_HEAD_S", 0.1)
    silent, begun, second = (served.connect() for _ in range(3))
    begun.sendall(b"GET / HT")
    second.sendall(REQUEST)
    assert second.recv(1000).startswith(b"HTTP/1.1 200")
    second.sendall(b"GET / HT")
    assert b"200" not in b"".join(map(_rest_of, (silent, begun, second)))


def test_heads_without_end(served: _Served) -> None:
    caller = served.connect()
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        caller.sendall(b"GET / HTTP/1.1\r\n")
        for _ in range(100):
            caller.sendall(b"X: " + b"x" * 10_000 + b"\r\n")
    assert b"200" not in _rest_of(caller)


def test_heads_in_pieces(served: _Served) -> None:
    caller = served.connect()
    for _ in range(3):
        for place in range(len(REQUEST)):
            caller.sendall(REQUEST[place : place + 1])
        _receive(caller, answers=1)
    caller.sendall(REQUEST * 3)
    _receive(caller, answers=3)


def _receive(caller: socket.socket, answers: int) -> None:
    found = b""
    while found.count(b"x" * 10) < answers:
        part = caller.recv(1000)
        assert part
        found += part


def test_nothing_but_line_ends(
    served: _Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "_HEAD_S", 0.1)
    caller = served.connect()
    caller.sendall(REQUEST)
    _receive(caller, answers=1)
    caller.sendall(b"\r\n")
    assert b"200" not in _rest_of(caller)


def test_an_answer_that_is_not_read(served: _Served) -> None:
    caller = served.connect()
    caller.sendall(REQUEST.replace(b"/ ", b"/large "))
    assert caller.recv(1)
    end = time.monotonic() + 120
    while served.server._server.server_state.connections:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert len(_rest_of(caller)) < LARGE


def test_a_head_goes_with_its_body(
    served: _Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one piece, but where there is no body, or one that is large."""
    sent: list[bytes] = []
    write = http_server._JoiningTransport._send

    def noted(self: Any, data: bytes) -> None:
        sent.append(data)
        write(self, data)

    monkeypatch.setattr(http_server._JoiningTransport, "_send", noted)
    caller = served.connect()
    caller.sendall(REQUEST)
    _receive(caller, answers=1)
    assert [len(piece) > 10 and piece.endswith(b"x" * 10) for piece in sent] == [True]
    caller.sendall(REQUEST.replace(b"GET", b"HEAD"))
    assert b"content-length: 10" in caller.recv(1000)
    continued = REQUEST.replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n")
    caller.sendall(continued)
    _receive(caller, answers=1)
    sent.clear()
    caller.sendall(REQUEST.replace(b"/ ", b"/large ").replace(b"\r\n\r\n", CLOSE))
    assert _rest_of(caller).endswith(b"x" * 10)
    assert [len(piece) > 10_000 for piece in sent] == [False, True]


CLOSE = b"\r\nConnection: close\r\n\r\n"
