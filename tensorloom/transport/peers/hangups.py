"""Detects closed connections that no thread reads from at the moment."""

from __future__ import annotations

import select
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from tensorloom.framework.runtime import threads

if TYPE_CHECKING:
    import socket


_ONCE: Final = select.EPOLLRDHUP | select.EPOLLONESHOT


class _Hangups:
    """Tells of connections that the other side closed. One thread for all."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watched: dict[int, tuple[socket.socket, Callable[[], None]]] = {}
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
            self._watched[connection.fileno()] = connection, callback
            self._epoll.register(connection.fileno(), _ONCE)

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
                self._tell(number, epoll)

    def _tell(self, number: int, epoll: select.epoll) -> None:
        """Calls who is to hear of an event.

        This is no part of the loop, which would hold the last callback, and so the
        memory of its connection, until the next event.
        """
        callback = self._take(number, epoll)
        if callback is not None:
            threads.start(callback)  # it may take long

    def _take(self, number: int, epoll: select.epoll) -> Callable[[], None] | None:
        """Who is to hear of an event; None if it was of an earlier connection.

        That one was closed meanwhile, and another has its number.
        """
        with self._lock:
            connection, callback = self._watched.get(number, (None, None))
            if connection is None or _is_over(connection):
                return callback
            with suppress(OSError):  # closed meanwhile
                epoll.modify(number, _ONCE)
            return None


def _is_over(connection: socket.socket) -> bool:
    poll = select.poll()
    poll.register(connection, select.POLLRDHUP)
    return bool(poll.poll(0))


hangups: Final = _Hangups()
