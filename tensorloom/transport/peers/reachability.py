"""Describes what was found at addresses at which no task answers."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterable
from typing import Final

from tensorloom.framework import errors
from tensorloom.framework.runtime import threads
from tensorloom.transport.peers import host_port, security

_CONNECT_S: Final = 2.0
# Resolving a name may take longer than anybody wants to wait.
_LIMIT_S: Final = 4.0


def describe_address(address: str) -> str:
    """What `describe_addresses` says of one address."""
    return describe_addresses([address])[address]


def describe_addresses(addresses: Iterable[str]) -> dict[str, str]:
    """Whether the name of each `host:port` resolves, and what listens there.

    They are looked at side by side, for some seconds at most.
    """
    wanted = set(addresses)
    found: dict[str, str] = {}
    changed = threading.Condition()

    def look(address: str) -> None:
        result = _found(address)
        with changed:
            found[address] = result
            changed.notify_all()

    for address in wanted:
        threads.start(lambda a=address: look(a))  # type: ignore[misc]
    deadline = time.monotonic() + _LIMIT_S
    with changed:
        changed.wait_for(
            lambda: len(found) == len(wanted), max(0.0, deadline - time.monotonic())
        )
        late = f"nothing was found out about it within {_LIMIT_S:g} s"
        return {address: found.get(address, late) for address in wanted}


def _found(address: str) -> str:
    try:
        host, port = host_port.parse(address)
        socket.getaddrinfo(host, None)
    except errors.InvalidArgumentError:
        return "that is no host:port"
    except OSError as error:
        return f"the host name does not resolve ({error})"
    # Only who looks for a task that is missing needs `ssl`.
    from tensorloom.transport.peers.port_probe import what_listens

    try:
        reason = what_listens(host, port, security.tls(), _CONNECT_S)
    except (OSError, ValueError) as error:
        return f"the host resolves, but the port is not open ({error})"
    return f"the port is open, but {reason}" if reason else "the port is open"
