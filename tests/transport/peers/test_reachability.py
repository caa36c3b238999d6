"""What is said of an address at which no task answers, and how one is found again."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tensorloom.framework import errors
from tensorloom.transport.grpc.channel import GrpcChannel
from tensorloom.transport.grpc.server import GrpcServer
from tensorloom.transport.negotiated import NegotiatedChannel
from tensorloom.transport.peers import host_port, port_probe, reachability, security
from tensorloom.transport.peers.reachability import describe_address, describe_addresses
from tensorloom.transport.peers.security import Tls
from tensorloom.transport.wire.methods import worker_methods
from tests.certificates import make_certificates


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("localhost:2222", ("localhost", 2222)),
        ("[::1]:2222", ("::1", 2222)),
        ("::1:2222", ("::1", 2222)),
        (":2222", ("", 2222)),
        ("localhost:65535", ("localhost", 65535)),
    ],
)
def test_addresses(address: str, expected: tuple[str, int]) -> None:
    assert host_port.parse(address) == expected
    assert host_port.parse(host_port.join(*expected)) == expected


@pytest.mark.parametrize(
    "address",
    ["", "localhost", "localhost:", "localhost:x", "localhost:-1", "localhost:65536",
     "dns:///localhost:1", "localhost:1/x", "unix:/tmp/x", "localhost:1 ", "[::1:1"],
)  # fmt: skip
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(errors.InvalidArgumentError, match="as a host-port pair"):
        GrpcChannel(address)
    assert describe_address(address) == "that is no host:port"


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is, who answers is waited for."""
    monkeypatch.setattr(port_probe, "_WAIT_S", 60.0)
    monkeypatch.setattr(reachability, "_CONNECT_S", 60.0)
    monkeypatch.setattr(reachability, "_LIMIT_S", 100.0)


@contextmanager
def listener(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """A port whose callers get an answer."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = server.accept()
                answers.append(threading.Thread(target=answer, args=(connection,)))
                answers[-1].start()

    answers: list[threading.Thread] = []
    accepting = threading.Thread(target=serve)
    accepting.start()
    try:
        yield f"127.0.0.1:{server.getsockname()[1]}"
    finally:
        server.shutdown(socket.SHUT_RDWR)
        accepting.join()
        server.close()
        for thread in answers:
            thread.join(60)


def say_nothing(connection: socket.socket) -> None:
    with connection, suppress(OSError):
        while connection.recv(4096):
            pass


def say_goodbye(connection: socket.socket) -> None:
    with connection, suppress(OSError):
        connection.recv(4096)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


@contextmanager
def task(tls: Tls | None = None) -> Iterator[str]:
    """A port that a server of ours answers at."""
    method = worker_methods()["GetStatus"]
    server = GrpcServer(
        {method: lambda request, call: method.response()}, "127.0.0.1:0", tls=tls
    )
    server.start()
    try:
        yield f"127.0.0.1:{server.port}"
    finally:
        server.stop()


def test_who_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(port_probe, "_WAIT_S", 0.1)
    monkeypatch.setattr(reachability, "_LIMIT_S", 100.0)
    with listener(say_nothing) as silent:
        assert (
            describe_address(silent)
            == "the port is open, but what listens there says nothing"
        )


@pytest.mark.usefixtures("patience")
def test_what_listens() -> None:
    with listener(say_goodbye) as other, task() as own:
        found = describe_addresses([other, own])
    assert (
        found[other] == "the port is open, but what listens there does not speak gRPC"
    )
    assert found[own] == "the port is open"
    assert describe_address(own).startswith(
        "the host resolves, but the port is not open"
    )


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two authorities, `ca` and `other`, and a task's certificate, for 127.0.0.1."""
    folder = tmp_path_factory.mktemp("certificates")
    return make_certificates(folder, "task", "IP:127.0.0.1")


@pytest.mark.usefixtures("patience")
def test_what_is_wrong_with_tls(certificates: Path) -> None:
    ca, other, cert, key = (
        str(certificates / name)
        for name in ("ca.pem", "other.pem", "task.pem", "task.key")
    )
    stranger = Tls(other, str(certificates / "other.key"), ca)

    def found(address: str, tls: Tls | None) -> str:
        security.configure(tls=tls)
        try:
            return (
                describe_address(address).removeprefix("the port is open").strip(", ")
            )
        finally:
            security.configure_from_environment()

    with task() as plain, task(Tls(cert, key)) as one_way:
        assert "speaks TLS, and this process does not" in found(one_way, None)
        assert "does not speak TLS, and this" in found(plain, Tls(ca=ca))
        assert "certificate is not accepted here" in found(one_way, Tls(ca=other))
        named = Tls(ca=ca, server_name="elsewhere")
        assert "not valid for 'elsewhere'" in found(one_way, named)
        assert found(one_way, Tls(ca=ca)) == ""
    with task(Tls(cert, key, ca, mutual=True)) as mutual:
        assert "wants a certificate of its callers" in found(mutual, Tls(ca=ca))
        assert "does not accept this process's" in found(mutual, stranger)
        assert found(mutual, Tls(cert, key, ca)) == ""


def test_files_that_are_no_certificates(certificates: Path) -> None:
    cert, key = str(certificates / "task.pem"), str(certificates / "task.key")
    other_key = str(certificates / "other.key")
    with pytest.raises(ValueError, match=r"with the key .*other\.key"):
        Tls(cert, other_key).server_credentials()
    with pytest.raises(ValueError, match=r"Cannot use .*task\.key for TLS"):
        Tls(cert, key, ca=key).channel_credentials()


@pytest.mark.parametrize("kind", [GrpcChannel, NegotiatedChannel])
def test_a_task_whose_machine_has_vanished(kind: Any) -> None:
    """Its connection is dead and nobody says so: the next call makes another."""
    dead: list[bool] = []

    with task() as address:
        target = host_port.parse(address)

        def forward(caller: socket.socket) -> None:
            is_first = not dead
            dead.append(is_first)
            with caller, socket.create_connection(target) as way:
                back = threading.Thread(target=copy, args=(way, caller, False))
                back.start()
                copy(caller, way, is_first)
                back.join()

        def copy(source: socket.socket, to: socket.socket, may_die: bool) -> None:
            with suppress(OSError):
                while content := source.recv(65536):
                    if not (may_die and has_vanished.is_set()):
                        to.sendall(content)
                to.shutdown(socket.SHUT_WR)

        has_vanished = threading.Event()
        with listener(forward) as proxy, closing(kind(proxy)) as channel:
            channel.ask_status(60)
            has_vanished.set()
            with pytest.raises(errors.DeadlineExceededError):
                channel.ask_status(0.5)
            channel.ask_status(60)
    assert len(dead) == 2
