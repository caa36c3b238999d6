"""Channels over gRPC, as TensorFlow's tasks speak it."""

from __future__ import annotations

import os
import threading
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.framework.runtime import threads
from tensorloom.transport import traffic
from tensorloom.transport.grpc.stream import GrpcStream
from tensorloom.transport.peers import host_port, security
from tensorloom.transport.peers.liveness import watch
from tensorloom.transport.wire import status
from tensorloom.transport.wire.methods import worker_methods

if TYPE_CHECKING:
    import grpc

    from tensorloom.transport.interface import Done
    from tensorloom.transport.wire.methods import Method

#: Channel and server options: messages up to what protobuf can hold.
GRPC_OPTIONS: Final = (
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    # A task that comes back is found soon, also after it was away for long.
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.initial_reconnect_backoff_ms", 100),
    # A task that comes back at another address of its host's name, too.
    ("grpc.dns_min_time_between_resolutions_ms", 1000),
    # Streams are read by the thread that waits for them; see `_GrpcConnection.stream`.
    ("SingleThreadedUnaryStream", 1),
)

# Channels of a process to one address share a connection, which may be the dead one.
_ON_ITS_OWN: Final = (("grpc.use_local_subchannel_pool", 1),)

#: What carries the shared token of a cluster.
TOKEN_HEADER: Final = "x-tensorloom-token"

#: What tells an error of a handler from one of the network, which have the same codes.
ANSWERED: Final = (("x-tensorloom-answered", "1"),)

Options = Sequence[tuple[str, Any]]


def prepare_grpc() -> None:
    """Sets what gRPC reads when it is loaded, where the user has not set it."""
    # Its own log tells users of every task that comes and goes.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    # The thread that waits for a message shall read it from the socket: "event
    # engines" have threads of their own for that, and waking them costs a third of
    # a call.
    os.environ.setdefault(
        "GRPC_EXPERIMENTS", "-event_engine_client,-event_engine_listener"
    )


class GrpcChannel:
    """Implements `interface.Channel`. The connection is made by the first call."""

    def __init__(
        self, address: str, options: Options = (), tls: security.Tls | None = None
    ) -> None:
        """Makes a channel.

        Args:
          address: `host:port`.
          options: gRPC channel options, beside ours.
          tls: how to speak TLS; None: as `security.tls` says.

        Raises:
          errors.InvalidArgumentError: the address is no `host:port`.
          ValueError: a file for TLS cannot be used.
        """
        prepare_grpc()
        self._address = address
        self._target = host_port.join(*host_port.parse(address))
        self._tls = tls or security.tls()
        self._settings = [*GRPC_OPTIONS, *options]
        token = security.token()
        self._metadata = ((TOKEN_HEADER, token.hex()),) if token else None
        self._lock = threading.Lock()
        self._connection = _GrpcConnection(self._make_channel())
        self._in_flight: set[Hashable] = set()
        watch.add(self)

    def _make_channel(self, more: Options = ()) -> grpc.Channel:
        import grpc

        options = [*self._settings, *more]

        if self._tls is None:
            return grpc.insecure_channel(self._target, options)
        settings = [*options, *self._tls.channel_options()]
        credentials = self._tls.channel_credentials()
        return grpc.secure_channel(self._target, credentials, settings)

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
        mark = object()
        if not wait_for_ready:  # who waits for a task does not take it for lost
            self._in_flight.add(mark)
        try:
            return self._call(method, request, timeout_s, wait_for_ready)
        finally:
            self._in_flight.discard(mark)

    def _call(
        self,
        method: Method,
        request: Any,
        timeout_s: float | None,
        wait_for_ready: bool = False,
    ) -> Any:
        import grpc

        connection = self._connection
        try:
            return connection.stub(method)(
                request,
                timeout=timeout_s,
                metadata=self._metadata,
                wait_for_ready=wait_for_ready,
            )
        except grpc.RpcError as error:
            raise self._error(error, connection) from None
        except ValueError as error:  # the channel has just been closed
            raise self._unavailable(connection.lost or str(error)) from None

    def start(
        self, method: Method, request: Any, done: Done, timeout_s: float | None = None
    ) -> Any:
        """Calls without waiting; see `interface.Channel.start`."""
        connection = self._connection
        try:
            call = connection.stream(method)(
                request, timeout=timeout_s, metadata=self._metadata
            )
        except ValueError as error:  # the channel has just been closed
            done(None, self._unavailable(connection.lost or str(error)))
            return _ENDED
        self._in_flight.add(call)
        threads.start(lambda: self._finish(call, connection, done))
        return call

    def _finish(self, call: Any, connection: _GrpcConnection, done: Done) -> None:
        import grpc

        try:
            (response,) = call
        except grpc.RpcError as error:
            self._in_flight.discard(call)
            done(None, self._error(error, connection))
        except ValueError as error:
            self._in_flight.discard(call)
            done(None, errors.InternalError(None, None, f"Not one reply: {error}"))
        else:
            self._in_flight.discard(call)
            done(response, None)

    def ask_status(self, timeout_s: float | None) -> Any:
        """Asks the task who it is; see `interface.Channel.ask_status`."""
        try:
            return self.status(timeout_s)
        except errors.DeadlineExceededError:
            if not self._in_flight:
                # What was connected to a machine that has vanished hears nothing of
                # that, and never asks where the task's name leads now.
                self.lose("the task did not answer")
            raise

    def status(self, timeout_s: float | None) -> Any:
        """Asks the task who it is; nobody takes it for lost meanwhile."""
        method = worker_methods()["GetStatus"]
        return self._call(method, method.request(), timeout_s)

    def open_stream(self) -> GrpcStream:
        """Opens a stream of messages both ways.

        Raises:
          ValueError: the channel is closed.
        """
        return GrpcStream(self._connection.channel, self._metadata)

    @property
    def values(self) -> None:
        """None: gRPC carries messages."""
        return None

    def negotiate(self, task_info: Any) -> None:
        """There is nothing to choose."""

    def close(self) -> None:
        """Ends the connection; calls under way fail."""
        self._connection.channel.close()

    def _error(self, error: Any, connection: _GrpcConnection) -> errors.OpError:
        code: int = error.code().value[0]
        message: str = error.details() or ""
        if code == errors.UNKNOWN and message == "Stream removed":
            code = errors.UNAVAILABLE
        if code == errors.CANCELLED and connection.lost:
            return self._unavailable(connection.lost)
        if code == errors.UNAVAILABLE and not _is_answer(error):
            return self._unavailable(message)
        return status.from_wire(code, message)

    def _unavailable(self, reason: str) -> errors.OpError:
        return errors.UnavailableError(
            None, None, f"Task at {self._address} cannot be reached: {reason}"
        )

    # --- for `liveness` --------------------------------------------------------------

    def close_unused(self) -> None:
        """There is one connection for all calls."""

    def in_flight(self) -> set[Hashable]:
        """The calls that threads wait for."""
        return set(self._in_flight)

    def answers_ping(self, timeout_s: float) -> bool:
        """Whether the task answers anything at all.

        On a connection of its own: on ours the question and the answer would wait
        behind the tensors that are on their way.
        """
        import grpc

        method = worker_methods()["GetStatus"]
        connection = _GrpcConnection(self._make_channel(_ON_ITS_OWN))
        try:
            connection.stub(method)(
                method.request(), timeout=timeout_s, metadata=self._metadata
            )
        except grpc.RpcError as error:
            code = error.code()
            silent = grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAVAILABLE
            return code not in silent
        finally:
            connection.channel.close()
        return True

    def lose(self, reason: str) -> None:
        """Fails the calls, and connects anew for later ones."""
        with self._lock:
            lost, self._connection = (
                self._connection,
                _GrpcConnection(self._make_channel(_ON_ITS_OWN)),
            )
        lost.lost = reason
        lost.channel.close()


def _is_answer(error: Any) -> bool:
    """Whether a handler of ours has answered with the error."""
    trailing = error.trailing_metadata() or ()
    return any((key, value) in ANSWERED for key, value in trailing)


class _GrpcConnection:
    """A gRPC channel with its stubs."""

    def __init__(self, channel: grpc.Channel) -> None:
        self.channel = channel
        #: Why the channel was given up, if it was.
        self.lost = ""
        self._stubs: dict[str, Any] = {}
        self._streams: dict[str, Any] = {}

    def stub(self, method: Method) -> Any:
        """What calls a method."""
        stub = self._stubs.get(method.path)
        if stub is None:
            stub = self._stubs[method.path] = self.channel.unary_unary(
                method.path,
                request_serializer=traffic.counted(method.request.SerializeToString),
                response_deserializer=method.response.FromString,
            )
        return stub

    def stream(self, method: Method) -> Any:
        """What calls a method without waiting, and can be cancelled.

        On the wire a reply is a stream of one message. gRPC's futures are all served by
        one more thread, whose hand-overs cost a third of a call.
        """
        stub = self._streams.get(method.path)
        if stub is None:
            stub = self._streams[method.path] = self.channel.unary_stream(
                method.path,
                request_serializer=traffic.counted(method.request.SerializeToString),
                response_deserializer=method.response.FromString,
            )
        return stub


class _Ended:
    """Stands for a call that could not be made."""

    def cancel(self) -> None:
        """There is nothing to cancel."""


_ENDED: Final = _Ended()
