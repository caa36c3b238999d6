"""A channel that begins with gRPC's calls, and goes on with frames among our own tasks.

TensorFlow's tasks are always spoken to in calls of gRPC. A tensorloom task says in the
reply to GetStatus where it also listens: if that can be reached, frames go there, else
over streams of gRPC.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.transport.grpc import stream as grpc_stream
from tensorloom.transport.grpc.channel import GrpcChannel, Options
from tensorloom.transport.grpc.stream_connection import SCHEME
from tensorloom.transport.memory import ucx
from tensorloom.transport.peers import security
from tensorloom.transport.sockets import address as socket_address
from tensorloom.transport.sockets.channel import SocketChannel
from tensorloom.transport.sockets.connection import NotConnected

if TYPE_CHECKING:
    from tensorloom.transport.interface import Done, PendingCall
    from tensorloom.transport.wire.methods import Method

#: "grpc" keeps to gRPC between our own tasks too; "ucx" offers UCX to them.
TRANSPORT_VARIABLE: Final = "TENSORLOOM_TRANSPORT"


def only_grpc() -> bool:
    """Whether the environment asks for gRPC alone."""
    return os.environ.get(TRANSPORT_VARIABLE, "") == "grpc"


class NegotiatedChannel:
    """Implements `interface.Channel`."""

    def __init__(
        self, address: str, options: Options = (), tls: security.Tls | None = None
    ) -> None:
        """Makes a channel; the arguments are those of `GrpcChannel`.

        Raises:
          ImportError: the environment asks for UCX, which is not installed.
        """
        ucx.enable_if_asked()
        self._grpc = GrpcChannel(address, options, tls)
        self._socket: SocketChannel | None = None

    @property
    def address(self) -> str:
        """`host:port` as it was given."""
        return self._grpc.address

    @property
    def values(self) -> SocketChannel | None:
        """The way for calls with values; None while there is only gRPC."""
        return self._socket

    def negotiate(self, task_info: Any) -> None:
        """Takes note of where else the task listens: a `TaskInfo`, or None."""
        old = self._socket
        endpoint = _endpoint(task_info)
        if old is not None and old.endpoint == endpoint:
            return  # the calls of other sessions go on
        self._socket = self._carrier(endpoint, task_info.task) if endpoint else None
        if old is not None:
            old.close()

    def _carrier(self, endpoint: str, task: str) -> SocketChannel:
        if endpoint.startswith(SCHEME):
            grpc = self._grpc
            return SocketChannel(
                endpoint,
                task,
                open_stream=grpc.open_stream,
                ask=grpc.answers_ping,
            )
        return SocketChannel(endpoint, task, security.token())

    def call(
        self,
        method: Method,
        request: Any,
        timeout_s: float | None = None,
        wait_for_ready: bool = False,
    ) -> Any:
        """Calls and waits; see `interface.Channel.call`."""
        sockets = self._socket
        if sockets is not None:
            try:
                return sockets.call(method, request, timeout_s)
            except NotConnected:
                self._forget(sockets)  # the task has gone, or has been restarted
        return self._grpc.call(method, request, timeout_s, wait_for_ready)

    def ask_status(self, timeout_s: float | None) -> Any:
        """Asks the task who it is; see `interface.Channel.ask_status`.

        gRPC is asked: an endpoint of the task is gone when the task is another.
        """
        sockets = self._socket
        if sockets is not None and sockets.in_flight():
            return self._grpc.status(timeout_s)
        try:
            return self._grpc.ask_status(timeout_s)
        except errors.DeadlineExceededError:
            if sockets is not None:
                self._forget(sockets)
            raise

    def start(
        self, method: Method, request: Any, done: Done, timeout_s: float | None = None
    ) -> PendingCall:
        """Calls without waiting; see `interface.Channel.start`."""
        sockets = self._socket
        if sockets is not None:
            # The task has gone, or has been restarted: the next call asks gRPC.
            return sockets.start(
                method, request, done, timeout_s, lambda: self._forget(sockets)
            )
        pending: PendingCall = self._grpc.start(method, request, done, timeout_s)
        return pending

    def close(self) -> None:
        """Ends the connections; calls under way fail."""
        sockets = self._socket
        if sockets is not None:
            sockets.close()
        self._grpc.close()

    def _forget(self, sockets: SocketChannel) -> None:
        if self._socket is sockets:
            self._socket = None
        sockets.close()


def _endpoint(task_info: Any) -> str:
    """The best of the endpoints that a task has; "" without one."""
    if task_info is None:
        return ""
    streams = ""
    for endpoint in task_info.endpoint:
        if endpoint.startswith(SCHEME):
            streams = endpoint
        elif (
            socket_address.is_reachable(endpoint)
            and security.may_connect(endpoint)
            and not only_grpc()
        ):
            found: str = endpoint
            return found
    return streams if streams and grpc_stream.is_supported() else ""
