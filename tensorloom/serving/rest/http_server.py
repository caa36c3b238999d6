"""uvicorn, in a thread of its own."""

from __future__ import annotations

import asyncio
import socket
import threading
from typing import TYPE_CHECKING, Any, Final

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tensorloom.framework import errors

if TYPE_CHECKING:
    from tensorloom.serving.security.server_tls import ServerTls

# How long a caller may take to send the head of a request.
_HEAD_S: Final = 10.0
# How large the head of a request may be, beyond what comes with its first bytes.
_HEAD_BYTES: Final = 1 << 16
_BACKLOG: Final = 2048
# Larger pieces are not copied, so as to be one with the head.
_LITTLE: Final = 1 << 16
# How the head of an answer begins; "100 Continue" is none, and is sent at once.
_ANSWER: Final = tuple(b"HTTP/1.1 %d" % first for first in range(2, 6))


class _JoiningTransport:
    """Sends the head of an answer with what comes next: each sending costs as much."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._head = b""

    def write(self, data: bytes) -> None:
        """As a transport's; a head waits for the next call of anything here."""
        if data.endswith(b"\r\n\r\n") and data.startswith(_ANSWER):
            self.flush()
            self._head = data
            return
        if len(data) > _LITTLE:
            self.flush()
        elif self._head:
            data, self._head = self._head + data, b""
        self._send(data)

    def flush(self) -> None:
        """Sends a head that waits."""
        if self._head:
            head, self._head = self._head, b""
            self._send(head)

    def close(self) -> None:
        """As a transport's."""
        self.flush()
        self._transport.close()

    def _send(self, data: bytes) -> None:
        self._transport.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class _GuardedProtocol(HttpToolsProtocol):
    """Hangs up on whoever does not send a request's head, or read its answer, in time.

    And on whoever sends a head without end.

    uvicorn's own limit holds for connections that are idle between two requests, and
    the application's for bodies.
    """

    #: Runs from the connection, or a head's first bytes, until the head is there.
    _head_limit: asyncio.TimerHandle | None = None
    #: Whether the head of the last request that has begun is there.
    _has_head = False
    #: Whether something came of the bytes that are looked at.
    _has_moved = False
    #: Of a head that is not there yet.
    _head_bytes = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(_JoiningTransport(transport))  # type: ignore[arg-type]
        self._head_limit = self.loop.call_later(_HEAD_S, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_head_limit()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._has_moved = False
        super().data_received(data)
        if self._has_head and self._has_moved:
            self._end_head_limit()
            self._head_bytes = 0
            return
        if self._head_limit is None:
            self._head_limit = self.loop.call_later(_HEAD_S, self.transport.abort)
            return  # a large piece may be another request's body, and a few bytes more
        self._head_bytes += len(data)
        if self._head_bytes > _HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("The head of the request is too large.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._has_head = False

    def on_headers_complete(self) -> None:
        self._has_head = self._has_moved = True
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._has_moved = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._has_moved = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        # Of what has no body.
        self.transport.flush()  # type: ignore[attr-defined]
        super().on_response_complete()

    def _end_head_limit(self) -> None:
        if self._head_limit is not None:
            self._head_limit.cancel()
            self._head_limit = None

    def timeout_keep_alive_handler(self) -> None:
        # Closing alone would wait until the last answer is read.
        self.transport.abort()


class HttpServer:
    """Serves an ASGI application at an address."""

    def __init__(
        self, app: Any, host: str, port: int, tls: ServerTls | None = None
    ) -> None:
        """Takes the address; `start` begins to answer.

        Args:
          app: the application.
          host, port: where to listen; port 0 takes a free one.
          tls: how to speak TLS; None: not at all.

        Raises:
          errors.UnknownError: the address cannot be listened on.
        """
        try:
            self._socket = _listen(host, port)
        except OSError as error:
            raise errors.UnknownError(
                None, None, f"Cannot listen for HTTP at {host}:{port}: {error}"
            ) from None
        self.port: int = self._socket.getsockname()[1]
        config = uvicorn.Config(
            app,
            http=_GuardedProtocol,
            ws="none",
            lifespan="off",
            loop="asyncio",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=75,
        )
        config.load()
        if tls is not None:
            config.ssl = tls.context()
        self._server = _Server(config)
        self._thread = threading.Thread(
            target=self._serve, name="tensorloom-http", daemon=True
        )

    def start(self) -> None:
        """Begins to answer."""
        self._thread.start()
        self._server.is_up.wait()

    def _serve(self) -> None:
        try:
            asyncio.run(self._server.serve(sockets=[self._socket]))
        finally:
            self._server.is_up.set()
            self._socket.close()

    def stop(self, grace_s: float = 0.0) -> None:
        """Takes no further requests; waits so long for those under way."""
        if not self._thread.ident:
            self._socket.close()
            return
        self._server.config.timeout_graceful_shutdown = max(1, round(grace_s))
        self._server.should_exit = True
        self._thread.join(grace_s + 5.0)


def _listen(host: str, port: int) -> socket.socket:
    # asyncio sends without delay on sockets that say that they are TCP's: else each
    # response waits 40 ms for the caller's acknowledgement of its head.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_up = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_up.set()
