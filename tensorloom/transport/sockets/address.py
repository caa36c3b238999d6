"""Endpoints of tasks: `unix:PATH` on one host, `tcp:HOST:PORT` between hosts."""

from __future__ import annotations

import os
import secrets
import socket
from typing import Final

from tensorloom.transport.peers import host_port, liveness
from tensorloom.transport.peers.silent_peers import silent_peers

_BACKLOG: Final = 512


def listen_locally() -> tuple[socket.socket, str]:
    """A listening socket that only this machine reaches, and its endpoint.

    It is an abstract socket: it has no file, so none is left behind by a task that was
    killed. The name is random, and the server refuses other users.
    """
    name = f"tensorloom-{os.getpid()}-{secrets.token_hex(12)}"
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(f"\0{name}")
    listener.listen(_BACKLOG)
    return listener, f"unix:@{name}@{machine()}"


def listen_on(host: str, name: str = "") -> tuple[socket.socket, str]:
    """A socket listening at a free port of a host's address, and its endpoint.

    "0.0.0.0" is all addresses, as it is for gRPC: those of IPv6, too.
    `name` is how others call the host, where that is another name.
    """
    both = host == "0.0.0.0" and socket.has_dualstack_ipv6()
    listener = socket.create_server(
        ("::" if both else host, 0),
        family=socket.AF_INET6 if both or ":" in host else socket.AF_INET,
        backlog=_BACKLOG,
        dualstack_ipv6=both,
    )
    port: int = listener.getsockname()[1]
    return listener, f"tcp:{host_port.join(name or host, port)}"


def connect(endpoint: str, timeout_s: float) -> socket.socket:
    """Connects to an endpoint.

    Raises:
      OSError: it cannot be reached.
      ValueError: it is malformed.
    """
    kind, _, rest = endpoint.partition(":")
    if kind == "unix":
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(timeout_s)
        try:
            connection.connect("\0" + rest.split("@")[1])
        except OSError:
            connection.close()
            raise
        return connection
    if kind == "tcp":
        host, _, port = rest.rpartition(":")
        connection = socket.create_connection((host.strip("[]"), int(port)), timeout_s)
        prepare(connection)
        return connection
    raise ValueError(f"unknown endpoint {endpoint!r}")


def prepare(connection: socket.socket) -> None:
    """Lets a connection between hosts send at once, and break if the network is cut.

    Who waits for an answer asks for a sign of life; but who waits for the next call,
    or has sent a reply, would hold a dead connection forever.
    """
    if connection.family == socket.AF_UNIX:
        return
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    limit_s = liveness.task_timeout_s()
    if limit_s <= 0:
        return
    probe_s = max(1, int(limit_s / 4))
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, probe_s * 2)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, probe_s)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 2)
    silent_peers.watch(connection, limit_s)


def is_reachable(endpoint: str) -> bool:
    """False for a local endpoint of another machine (or container)."""
    if endpoint.startswith("unix:"):
        return endpoint.rpartition("@")[2] == machine()
    return endpoint.startswith("tcp:")


def machine() -> str:
    """What tells this machine, and its network namespace, from others."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            boot = file.read().strip()
        return f"{boot}.{os.stat('/proc/self/ns/net').st_ino}"
    except OSError:
        return socket.gethostname()
