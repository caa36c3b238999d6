"""Channels over gRPC, as TensorFlow's tasks speak it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.transport import status

if TYPE_CHECKING:
    import grpc

    from tensorloom.transport.interface import Done
    from tensorloom.transport.methods import Method

#: Channel and server options: messages up to what protobuf can hold.
GRPC_OPTIONS: Final = (
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    # A task that comes back is found soon, also after it was away for long.
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.initial_reconnect_backoff_ms", 100),
)

Options = Sequence[tuple[str, Any]]


class GrpcChannel:
    """Implements `interface.Channel`. The connection is made by the first call."""

    def __init__(
        self, address: str, options: Options = (), credentials: Any = None
    ) -> None:
        """Makes a channel.

        Args:
          address: `host:port`.
          options: gRPC channel options, beside ours.
          credentials: `grpc.ChannelCredentials` for TLS; None speaks plain text.
        """
        import grpc

        self._address = address
        settings = [*GRPC_OPTIONS, *options]
        self._channel = (
            grpc.insecure_channel(address, settings)
            if credentials is None
            else grpc.secure_channel(address, credentials, settings)
        )
        self._stubs: dict[str, Any] = {}
        self._lock = threading.Lock()

    @property
    def address(self) -> str:
        """`host:port` as it was given."""
        return self._address

    def call(
        self,
        method: Method,
        request: Any,
        timeout_s: float | None = None,
        wait_for_ready: bool = False,
    ) -> Any:
        """Calls and waits; see `interface.Channel.call`.

        `wait_for_ready` waits for a task that is not there yet, to the timeout.
        """
        import grpc

        try:
            return self._stub(method)(
                request, timeout=timeout_s, wait_for_ready=wait_for_ready
            )
        except grpc.RpcError as error:
            raise self._error(error) from None

    def start(
        self, method: Method, request: Any, done: Done, timeout_s: float | None = None
    ) -> Any:
        """Calls without waiting; see `interface.Channel.start`."""
        future = self._stub(method).future(request, timeout=timeout_s)
        future.add_done_callback(lambda call: self._finish(call, done))
        return future

    def _finish(self, call: grpc.Future, done: Done) -> None:
        import grpc

        try:
            response = call.result()
        except grpc.FutureCancelledError:
            done(None, errors.CancelledError(None, None, "The call was cancelled"))
        except grpc.RpcError as error:
            done(None, self._error(error))
        else:
            done(response, None)

    @property
    def values(self) -> None:
        """None: gRPC carries messages."""
        return None

    def negotiate(self, task_info: Any) -> None:
        """There is nothing to choose."""

    def close(self) -> None:
        """Ends the connection; calls under way fail."""
        self._channel.close()

    def _stub(self, method: Method) -> Any:
        stub = self._stubs.get(method.path)
        if stub is None:
            with self._lock:
                stub = self._channel.unary_unary(
                    method.path,
                    request_serializer=method.request.SerializeToString,
                    response_deserializer=method.response.FromString,
                )
                self._stubs[method.path] = stub
        return stub

    def _error(self, error: Any) -> errors.OpError:
        code: int = error.code().value[0]
        message: str = error.details() or ""
        if code == errors.UNKNOWN and message == "Stream removed":
            code = errors.UNAVAILABLE
        if code == errors.UNAVAILABLE:
            message = f"Task at {self._address} cannot be reached: {message}"
        return status.from_wire(code, message)
