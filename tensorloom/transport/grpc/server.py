"""A server over gRPC, as TensorFlow's tasks speak it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.runtime.growing_executor import GrowingExecutor
from tensorloom.transport import traffic
from tensorloom.transport.grpc.channel import (
    ANSWERED,
    GRPC_OPTIONS,
    TOKEN_HEADER,
    Options,
    prepare_grpc,
)
from tensorloom.transport.grpc.stream import PATH
from tensorloom.transport.peers import security
from tensorloom.transport.peers.liveness import task_timeout_s
from tensorloom.transport.wire import status

if TYPE_CHECKING:
    import grpc

    from tensorloom.transport.grpc.stream_server import StreamServer
    from tensorloom.transport.interface import Handler, Handlers
    from tensorloom.transport.wire.methods import Method


class _GrpcCall:
    """Implements `interface.Call`."""

    __slots__ = ("_context",)

    def __init__(self, context: grpc.ServicerContext) -> None:
        self._context = context

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Calls back when the call is over, however it ended."""
        if not self._context.add_callback(callback):
            callback()


class GrpcServer:
    """Answers calls at an address."""

    def __init__(
        self,
        handlers: Handlers,
        address: str,
        options: Options = (),
        tls: security.Tls | None = None,
        streams: StreamServer | None = None,
    ) -> None:
        """Takes the address; `start` begins to answer.

        Args:
          handlers: what answers, by method.
          address: `host:port`; port 0 takes a free one.
          options: gRPC server options, beside ours.
          tls: how to speak TLS; None: as `security.tls` says.
          streams: what answers on the streams of our own tasks.

        Raises:
          errors.UnknownError: the address cannot be listened on.
        """
        prepare_grpc()
        import grpc

        settings = [
            *GRPC_OPTIONS,
            ("grpc.so_reuseport", 0),
            *_keepalive_options(),
            *options,
        ]
        tls = tls or security.tls()
        self._server = grpc.server(GrowingExecutor(), options=settings)
        self._streams = streams
        router = _router(handlers, streams, security.token())
        self._server.add_generic_rpc_handlers((router,))
        try:
            self._port = (
                self._server.add_insecure_port(address)
                if tls is None
                else self._server.add_secure_port(address, tls.server_credentials())
            )
        except RuntimeError as error:
            raise errors.UnknownError(
                None, None, f"Could not start gRPC server: {error}"
            ) from None

    def start(self) -> None:
        """Begins to answer."""
        self._server.start()

    @property
    def port(self) -> int:
        """The port that it listens on."""
        port: int = self._port
        return port

    def stop(self, grace_s: float = 0.0) -> None:
        """Stops listening, and cancels what is under way after `grace_s`."""
        stopping = self._server.stop(grace_s)
        if self._streams is not None:
            self._streams.end_idle()  # they would last as long as their callers like
        stopping.wait()


def _keepalive_options() -> Options:
    """A caller whose network was cut is found, and its calls are cancelled."""
    limit_ms = int(task_timeout_s() * 1000)
    if limit_ms <= 0:
        return ()
    return (
        ("grpc.keepalive_time_ms", max(limit_ms // 2, 1000)),
        ("grpc.keepalive_timeout_ms", max(limit_ms // 2, 1000)),
        ("grpc.http2.max_pings_without_data", 0),
    )


def _router(
    handlers: Handlers, streams: StreamServer | None, token: bytes
) -> grpc.GenericRpcHandler:
    import grpc

    by_path = {
        method.path: grpc.unary_unary_rpc_method_handler(
            _behaviour(handler),
            request_deserializer=_deserializer(method),
            response_serializer=traffic.counted(method.response.SerializeToString),
        )
        for method, handler in handlers.items()
    }
    if streams is not None:
        by_path[PATH] = grpc.stream_stream_rpc_method_handler(streams.serve)

    stranger = grpc.unary_unary_rpc_method_handler(_refuse)

    class Router(grpc.GenericRpcHandler):  # type: ignore[misc]
        def service(self, handler_call_details: Any) -> Any:
            if token and not _has_token(handler_call_details, token):
                return stranger
            return by_path.get(handler_call_details.method)

    return Router()


def _refuse(request: bytes, context: grpc.ServicerContext) -> Any:
    message = "The caller does not know the token of this cluster"
    return context.abort(_code(errors.UNAUTHENTICATED), message)


def _has_token(details: Any, token: bytes) -> bool:
    import hmac

    given = dict(details.invocation_metadata).get(TOKEN_HEADER, "")
    return hmac.compare_digest(given, token.hex())


class _Malformed:
    """The placeholder of a malformed request, whose caller gets an error."""


_MALFORMED = _Malformed()


def _deserializer(method: Method) -> Callable[[bytes], Any]:
    from google.protobuf.message import DecodeError

    def parse(content: bytes) -> Any:
        try:
            return method.request.FromString(content)
        except DecodeError:
            return _MALFORMED

    return parse


def _behaviour(handler: Handler) -> Callable[[Any, grpc.ServicerContext], Any]:
    def behave(request: Any, context: grpc.ServicerContext) -> Any:
        try:
            if request is _MALFORMED:
                raise errors.InvalidArgumentError(
                    None, None, "The request is not a message of this method"
                )
            return handler(request, _GrpcCall(context))
        except Exception as error:
            code, message = status.to_wire(error)
        context.set_trailing_metadata(ANSWERED)
        return context.abort(_code(code), message)

    return behave


def _code(number: int) -> grpc.StatusCode:
    import grpc

    for code in grpc.StatusCode:
        if code.value[0] == number:
            return code
    return grpc.StatusCode.UNKNOWN
