"""The two plain calls to a debug server: tracebacks and source files."""

from __future__ import annotations

from typing import Any, Final

from tensorloom.debug.remote.event_stubs import EventListenerStub
from tensorloom.framework import errors
from tensorloom.transport.grpc.debug_events import OPTIONS

_TIMEOUT_S: Final = 60.0


class EventCalls:
    """Calls one server in a `with` block."""

    def __init__(self, url: str) -> None:
        import grpc

        self._url = url
        address = url.partition("://")[2].partition("/")[0]
        self._channel = grpc.insecure_channel(address, options=OPTIONS)

    def __enter__(self) -> EventCalls:
        return self

    def __exit__(self, *error: object) -> None:
        self._channel.close()

    def send_tracebacks(self, told: Any) -> None:
        """Sends a `CallTraceback`.

        Raises:
          errors.FailedPreconditionError: the server cannot be reached.
        """
        self._call("SendTracebacks", told)

    def send_source_files(self, files: Any) -> None:
        """Sends `DebuggedSourceFiles`. Raises as `send_tracebacks`."""
        self._call("SendSourceFiles", files)

    def _call(self, name: str, message: Any) -> None:
        import grpc

        call = getattr(EventListenerStub(self._channel), name)
        try:
            call(message, timeout=_TIMEOUT_S, wait_for_ready=True)
        except grpc.RpcError as error:
            raise errors.FailedPreconditionError(
                None, None, f"The debug server at {self._url}: {error.details()}"
            ) from None
