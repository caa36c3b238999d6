"""What is found at an address that nobody answers at."""

from __future__ import annotations

import socket
from typing import Final

_CONNECT_S: Final = 2.0


def found_at(address: str) -> str:
    """Whether the name of a `host:port` resolves and something listens there."""
    host, _, port = address.rpartition(":")
    try:
        socket.getaddrinfo(host.strip("[]"), None)
    except OSError as error:
        return f"the host name does not resolve ({error})"
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _CONNECT_S):
            return "the port is open"
    except (OSError, ValueError) as error:
        return f"the host resolves, but the port is not open ({error})"
