"""Who has hung up, told while nobody reads from the connection."""

from __future__ import annotations

import select
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from tensorloom.framework import threads

if TYPE_CHECKING:
    import socket


class _Hangups:
    """Tells of connections that the other side closed. One thread for all."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watched: dict[int, Callable[[], None]] = {}
        self._epoll: select.epoll | None = None

    def watch(self, connection: socket.socket, callback: Callable[[], None]) -> None:
        """Calls back once when the other side closes the connection."""
        with self._lock:
            if self._epoll is None:
                self._epoll = select.epoll()
                threading.Thread(
                    target=self._run,
                    args=(self._epoll,),
                    name="tensorloom-hangups",
                    daemon=True,
                ).start()
            self._watched[connection.fileno()] = callback
            self._epoll.register(
                connection.fileno(), select.EPOLLRDHUP | select.EPOLLONESHOT
            )

    def forget(self, connection: socket.socket) -> None:
        """Ends watching, before the connection is closed."""
        number = connection.fileno()
        with self._lock:
            if self._watched.pop(number, None) is not None and self._epoll is not None:
                with suppress(OSError):  # closed meanwhile
                    self._epoll.unregister(number)

    def _run(self, epoll: select.epoll) -> None:
        while True:
            for number, _ in epoll.poll():
                with self._lock:
                    callback = self._watched.get(number)
                if callback is not None:
                    threads.start(callback)  # it may take long


hangups: Final = _Hangups()
