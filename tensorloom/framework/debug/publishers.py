"""Where the values of watched tensors go: publishers by the scheme of a debug URL.

    file:///tmp/dumps     event files in a directory
    grpc://host:port      the calls of TensorFlow's EventListener
    memcbk://name         a function of this process

What registers a publisher is imported when a URL of its scheme is first used.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from tensorloom.framework import errors
from tensorloom.framework.registry import late_modules

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType


@dataclass(frozen=True, slots=True)
class DebugNodeKey:
    """Which tensor a value is of, and which debug op made something of it."""

    device_name: str
    node_name: str
    output_slot: int
    debug_op: str

    @property
    def tensor_name(self) -> str:
        """`node:0`."""
        return f"{self.node_name}:{self.output_slot}"

    @property
    def watch_key(self) -> str:
        """`node:0:DebugIdentity`."""
        return f"{self.tensor_name}:{self.debug_op}"


@dataclass(frozen=True, slots=True)
class Watched:
    """A value that a debugger is told of."""

    key: DebugNodeKey
    value: Any  # a NumPy value or another host value; None: not initialized
    dtype: DType
    wall_time_us: int
    # The frames of the loops around the node, each with its iteration, outermost first.
    frames: tuple[tuple[str, int], ...] = ()


class Publisher(Protocol):
    """Tells somebody about a step."""

    def tensor(self, url: str, watched: Watched) -> Any:
        """Publishes a value; returns what it is replaced by, or None."""
        ...

    def graph(self, url: str, device_name: str, graph_def: bytes) -> None:
        """Publishes the graph of one device, with its debug nodes."""
        ...

    def metadata(self, url: str, message: str) -> None:
        """Publishes what the step was asked for, as JSON."""
        ...

    def reset_usage(self) -> None:
        """Forgets how much was published, where there is a limit."""
        ...

    def close(self, url: str) -> None:
        """A run that published to the URL is over."""
        ...

    def is_open(self, url: str, key: DebugNodeKey) -> bool:
        """Whether anybody wants to hear of a watch that is gated."""
        ...


_PUBLISHERS: dict[str, Publisher] = {}


def register_publisher(scheme: str, publisher: Publisher) -> None:
    """Has a publisher serve the URLs of a scheme, such as `file`."""
    _PUBLISHERS[scheme] = publisher


def publisher_of(url: str) -> Publisher:
    """The publisher that serves a URL.

    Raises:
      errors.UnavailableError: nobody serves its scheme.
    """
    scheme = url.partition("://")[0].lower()
    if scheme not in _PUBLISHERS:
        late_modules.load("debug publisher", scheme)
    publisher = _PUBLISHERS.get(scheme)
    if publisher is None:
        raise errors.UnavailableError(None, None, f"Invalid debug target URL: {url}")
    return publisher


_clock_lock: Final = threading.Lock()
_latest_us = 0


def wall_time_us() -> int:
    """Now in microseconds; later each time, so that values sort by it."""
    global _latest_us
    with _clock_lock:
        _latest_us = max(_latest_us + 1, time.time_ns() // 1000)
        return _latest_us


def close(urls: Iterable[str]) -> None:
    """A run that published to these URLs is over."""
    for url in urls:
        publisher_of(url).close(url)


def publish(urls: Sequence[str], watched: Watched) -> Any:
    """Publishes a value to all URLs; returns what replaces it, or None.

    Raises:
      errors.UnavailableError: nobody serves the scheme of a URL.
      errors.ResourceExhaustedError: the dumps would take too much disk space.
      errors.InternalError: it could not be published to some of them.
    """
    failures: list[str] = []
    replaced = None
    for url in urls:
        publisher = publisher_of(url)
        try:
            reply = publisher.tensor(url, watched)
        except (errors.ResourceExhaustedError, errors.CancelledError):
            raise
        except errors.OpError as error:
            failures.append(error.message)
        else:
            replaced = reply if reply is not None else replaced
    if failures:
        raise errors.InternalError(
            None,
            None,
            f"Publishing to {len(failures)} of {len(urls)} debug target URLs failed, "
            f"due to the following errors: {'; '.join(failures)};",
        )
    return replaced
