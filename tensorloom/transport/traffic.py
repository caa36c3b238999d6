"""What this process has sent to others, by the way that it went: bytes, and the time.

The time is that of the threads that send: until the system, or the shared memory, has
taken it all. Calls of gRPC are sent by gRPC's own threads: of them there is the time
that it takes to make the messages.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Final

SOCKET: Final = "socket"
SHARED_MEMORY: Final = "shared memory"
UCX: Final = "UCX"
OTHER_MEDIUM: Final = "other medium"  # of a user, without a name of its own
GRPC_STREAM: Final = "gRPC stream"
GRPC_CALL: Final = "gRPC call"
_WAYS: Final = (SOCKET, SHARED_MEMORY, UCX, GRPC_STREAM, GRPC_CALL)


class Sent:
    """Counts what one connection has sent; one thread at a time does."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: dict[str, list[float]] = {}  # way: [bytes, seconds]
        with _lock:
            _open.append(self)

    def add(self, way: str, size: int, seconds: float) -> None:
        """So many bytes went that way, and it took so long."""
        count = self._counts.get(way)
        if count is None:
            count = [0, 0.0]
            with _lock:  # others go through them
                self._counts[way] = count
        count[0] += size
        count[1] += seconds

    def close(self) -> None:
        """The connection is closed: what it has sent is kept without it."""
        with _lock:
            if self in _open:
                _open.remove(self)
                _add(_closed, self)


_lock: Final = threading.Lock()
_open: Final[list[Sent]] = []
_closed: Final[dict[str, list[float]]] = {}


def _add(totals: dict[str, list[float]], sent: Sent) -> None:
    for way, (size, seconds) in sent._counts.items():
        total = totals.setdefault(way, [0, 0.0])
        total[0] += size
        total[1] += seconds


def _totals(index: int) -> dict[str, Any]:
    with _lock:
        found: dict[str, list[float]] = {way: [0, 0.0] for way in _WAYS}
        for way, count in _closed.items():
            found[way] = list(count)
        for sent in _open:
            _add(found, sent)
    return {way: count[index] for way, count in found.items()}


def totals() -> dict[str, int]:
    """The bytes by way since the process began."""
    return _totals(0)


def seconds() -> dict[str, float]:
    """The time that sending them took."""
    return _totals(1)


def counted(serialize: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    """What makes messages for calls of gRPC, and counts them."""

    def serialized(message: Any) -> bytes:
        begin = time.perf_counter()
        content = serialize(message)
        spent = time.perf_counter() - begin
        with _lock:
            total = _closed.setdefault(GRPC_CALL, [0, 0.0])
            total[0] += len(content)
            total[1] += spent
        return content

    return serialized
