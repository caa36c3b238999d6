"""How many bytes this process has sent to others, by the way that they went."""

from __future__ import annotations

import threading
from typing import Final

SOCKET: Final = "socket"
SHARED_MEMORY: Final = "shared memory"
GRPC_STREAM: Final = "gRPC stream"


class Sent:
    """Counts what one connection has sent; one thread at a time does."""

    __slots__ = ("by_socket", "by_stream", "in_memory")

    def __init__(self) -> None:
        self.by_socket = self.in_memory = self.by_stream = 0
        with _lock:
            _open.append(self)

    def close(self) -> None:
        """The connection is closed: what it has sent is kept without it."""
        with _lock:
            if self in _open:
                _open.remove(self)
                _add(_closed, self)


_lock: Final = threading.Lock()
_open: Final[list[Sent]] = []
_closed: Final[dict[str, int]] = {}


def _add(totals: dict[str, int], sent: Sent) -> None:
    for way, count in (
        (SOCKET, sent.by_socket),
        (SHARED_MEMORY, sent.in_memory),
        (GRPC_STREAM, sent.by_stream),
    ):
        totals[way] = totals.get(way, 0) + count


def totals() -> dict[str, int]:
    """The bytes by way since the process began."""
    with _lock:
        found = {SOCKET: 0, SHARED_MEMORY: 0, GRPC_STREAM: 0} | _closed
        for sent in _open:
            _add(found, sent)
    return found
