"""Addresses of tasks: `host:port`, with an IPv6 host in brackets or without."""

from __future__ import annotations

import re
from typing import Final

from tensorloom.framework import errors

# A host is a name, an address, or an IPv6 address in brackets.
_PAIR: Final = re.compile(r"(\[[^][/\s]*\]|[^][/\s]*):([0-9]+)")
_MOST: Final = 65535


def parse(address: str) -> tuple[str, int]:
    """The host, without brackets, and the port of an address.

    Raises:
      errors.InvalidArgumentError: it is no `host:port`.
    """
    match = _PAIR.fullmatch(address)
    if match is None or int(match[2]) > _MOST:
        raise errors.InvalidArgumentError(
            None, None, f'Could not interpret "{address}" as a host-port pair.'
        )
    return match[1].strip("[]"), int(match[2])


def is_loopback(host: str) -> bool:
    """Whether a host is this machine by a name or address that no other can reach."""
    import ipaddress

    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def join(host: str, port: int) -> str:
    """The address as gRPC reads it: with an IPv6 host in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
