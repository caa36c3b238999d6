"""Detects TCP connections whose peer machine is silent: cut off, or without power.

TCP does not report a cut network: the kernel retransmits unacknowledged data for a
quarter of an hour. A shorter limit (TCP_USER_TIMEOUT) also ends connections to peers
that read late, or behind slow links with much loss. Here a connection ends only if data
was retransmitted repeatedly and no packet at all has arrived within the limit.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from contextlib import suppress
from typing import Final
from weakref import WeakSet

# Of `struct tcp_info`: retransmissions and probes since the last answer; milliseconds
# since data and an acknowledgement came.
_TCP_INFO: Final = struct.Struct("=2xBB48xII")
# One answer may be lost.
_UNANSWERED: Final = 2
_PERIOD_S: Final = 5.0


class _SilentPeers:
    """One thread for all connections."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connections: WeakSet[socket.socket] = WeakSet()
        self._is_running = False

    def watch(self, connection: socket.socket, limit_s: float) -> None:
        """Watches a connection as long as it lives; its users find it shut down."""
        with self._lock:
            self._connections.add(connection)
            if self._is_running:
                return
            self._is_running = True
        threading.Thread(
            target=self._run, args=(limit_s,), name="tensorloom-silence", daemon=True
        ).start()

    def _run(self, limit_s: float) -> None:
        while True:
            time.sleep(min(limit_s / 4, _PERIOD_S))
            with self._lock:
                connections = list(self._connections)
                if not connections:
                    self._is_running = False
                    return
            for connection in connections:
                with suppress(OSError):  # closed meanwhile
                    if is_silent(connection, limit_s):
                        connection.shutdown(socket.SHUT_RDWR)
            del connections, connection


def is_silent(connection: socket.socket, limit_s: float) -> bool:
    """Whether the other machine has answered nothing for so long.

    Raises:
      OSError: the connection is closed.
    """
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO.size)
    retransmits, probes, data_ms, acknowledged_ms = _TCP_INFO.unpack(info)
    unanswered: int = max(retransmits, probes)
    silent_ms: int = min(data_ms, acknowledged_ms)
    return unanswered >= _UNANSWERED and silent_ms > limit_s * 1000


silent_peers: Final = _SilentPeers()
