"""`memcbk://` debug URLs: functions of this process that are told of values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.framework.debug.publishers import (
    DebugNodeKey,
    register_publisher,
)

if TYPE_CHECKING:
    from tensorloom.framework.debug.publishers import Watched

Callback = Callable[["Watched"], Any]
_CALLBACKS: Final[dict[str, Callback]] = {}


def register_callback(name: str, callback: Callback) -> None:
    """Has a function hear of what is published to `memcbk://name`.

    Args:
      callback: gets a `Watched`; what it returns replaces the value at a break.
    """
    _CALLBACKS[name] = callback


def unregister_callback(name: str) -> None:
    """The function hears of nothing more."""
    _CALLBACKS.pop(name, None)


class _Callbacks:
    """Implements `Publisher`."""

    def tensor(self, url: str, watched: Watched) -> Any:
        name = url.partition("://")[2]
        callback = _CALLBACKS.get(name)
        if callback is None:
            raise errors.NotFoundError(
                None, None, f"No callback registered for: {name}"
            )
        return callback(watched)

    def graph(self, url: str, device_name: str, graph_def: bytes) -> None:
        """A function hears of values only."""

    def metadata(self, url: str, message: str) -> None:
        """A function hears of values only."""

    def reset_usage(self) -> None:
        """There is no limit."""

    def close(self, url: str) -> None:
        """There is nothing to end."""

    def is_open(self, url: str, key: DebugNodeKey) -> bool:
        return True


register_publisher("memcbk", _Callbacks())
