"""The gRPC side of a model server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.runtime.growing_executor import GrowingExecutor
from tensorloom.serving.rpc.reading_thread import answer_small_calls
from tensorloom.serving.rpc.service import Methods, headers_of, make_handler
from tensorloom.transport.grpc.channel import prepare_grpc

if TYPE_CHECKING:
    import grpc

    from tensorloom.serving.security.api_keys import ApiKeys
    from tensorloom.serving.security.server_tls import ServerTls


class GrpcServer:
    """Answers methods at addresses; large calls in threads of their own."""

    def __init__(
        self,
        methods: Methods,
        addresses: Sequence[str],
        keys: ApiKeys,
        tls: ServerTls | None = None,
        most_bytes: int = -1,
        most_calls: int | None = None,
        options: Sequence[tuple[str, Any]] = (),
    ) -> None:
        """Takes the addresses; `start` begins to answer.

        Args:
          methods: what is answered.
          addresses: `host:port` with port 0 for a free one, or `unix:PATH`.
          keys: that callers need.
          tls: how to speak TLS; None: not at all.
          most_bytes: of a request; larger ones are refused before they are read.
          most_calls: at one time; more are refused.
          options: gRPC's channel arguments.

        Raises:
          errors.UnknownError: an address cannot be listened on.
        """
        prepare_grpc()
        import grpc

        settings = [
            ("grpc.so_reuseport", 0),
            ("grpc.max_receive_message_length", most_bytes),
            ("grpc.max_send_message_length", -1),
            *options,
        ]
        self._server = grpc.server(
            GrowingExecutor(), options=settings, maximum_concurrent_rpcs=most_calls
        )
        self._server.add_generic_rpc_handlers((_router(methods, keys),))
        answer_small_calls(self._server, methods, keys)
        self.ports: list[int] = []
        for address in addresses:
            try:
                if tls is None or address.startswith("unix:"):
                    port = self._server.add_insecure_port(address)
                else:
                    credentials = tls.grpc_credentials()
                    port = self._server.add_secure_port(address, credentials)
            except RuntimeError as error:
                raise errors.UnknownError(
                    None, None, f"Cannot listen for gRPC at {address}: {error}"
                ) from None
            self.ports.append(port)

    def start(self) -> None:
        """Begins to answer."""
        self._server.start()

    def stop(self, grace_s: float = 0.0) -> None:
        """Takes no further calls, and cancels those that still run after `grace_s`."""
        self._server.stop(grace_s).wait()


def _router(methods: Methods, keys: ApiKeys) -> grpc.GenericRpcHandler:
    import grpc

    handlers = {path: make_handler(method) for path, method in methods.items()}

    def refuse(request: bytes, context: grpc.ServicerContext) -> Any:
        message = "This server needs an API key that it knows"
        return context.abort(grpc.StatusCode.UNAUTHENTICATED, message)

    stranger = grpc.unary_unary_rpc_method_handler(refuse)

    class Router(grpc.GenericRpcHandler):  # type: ignore[misc]
        def service(self, handler_call_details: Any) -> Any:
            path = handler_call_details.method
            method = methods.get(path)
            if keys.are_asked_for and (method is None or method.is_guarded):
                try:
                    keys.check(headers_of(handler_call_details.invocation_metadata))
                except errors.UnauthenticatedError:
                    return stranger
            return handlers.get(path)

    return Router()
