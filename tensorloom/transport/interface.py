"""What every transport offers: channels that call, calls that a server answers.

A message is a protobuf message of `methods.py`. An error is an `errors.OpError` on both
sides: what a handler raises, the caller gets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from tensorloom.framework.errors import OpError
    from tensorloom.transport.sockets.channel import SocketChannel
    from tensorloom.transport.wire.methods import Method

# Called once with (response, None) or (None, error), in some thread of the transport.
Done = Callable[[Any, "OpError | None"], None]


class Call(Protocol):
    """The server's side of a call that is being handled."""

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Calls back when the caller gave up: cancelled, timed out or gone.

        Called as well after a call that ended well; the callback must not mind.
        """
        ...


# Handles one method: (request, call) -> response.
Handler = Callable[[Any, Call], Any]

# The handlers of a server by method.
Handlers = Mapping["Method", Handler]


class PendingCall(Protocol):
    """A call under way."""

    def cancel(self) -> None:
        """Gives up; `done` gets a CancelledError unless the call has ended."""
        ...


class Channel(Protocol):
    """A way to one task. Thread-safe; connects, and connects again, by itself."""

    @property
    def address(self) -> str:
        """`host:port` as it was given."""
        ...

    def call(
        self,
        method: Method,
        request: Any,
        timeout_s: float | None = None,
        wait_for_ready: bool = False,
    ) -> Any:
        """Calls and waits.

        Args:
          method: of one of the services.
          request: a message of its request class.
          timeout_s: None waits as long as it takes.
          wait_for_ready: a task that is not there yet is waited for.

        Raises:
          errors.OpError: what the handler raised; UnavailableError when the task
            cannot be reached; DeadlineExceededError after `timeout_s`.
        """
        ...

    def start(
        self, method: Method, request: Any, done: Done, timeout_s: float | None = None
    ) -> PendingCall:
        """Calls without waiting; `done` is called at the end."""
        ...

    def ask_status(self, timeout_s: float | None) -> Any:
        """Asks the task who it is: the reply to GetStatus.

        One that is silent is connected to anew by the next call, at where its name
        leads then, unless calls are under way, which may be of a task that is slow.

        Raises:
          errors.OpError: as `call`.
        """
        ...

    @property
    def values(self) -> SocketChannel | None:
        """The way for calls with values; None where there are only messages."""
        ...

    def negotiate(self, task_info: Any) -> None:
        """Takes note of what the task says of itself: a `TaskInfo`, or None."""
        ...

    def close(self) -> None:
        """Ends the connection; calls under way fail."""
        ...
