"""The HTTP side of a model server, as an ASGI application.

It reads bodies and checks who calls; what is computed, is computed in other threads.
Small requests are decoded, and their answers written, in the event loop's own: handing
each over to another thread, and back, costs more than that.
"""

from __future__ import annotations

import asyncio
import time
import zlib
from collections.abc import Awaitable, Callable, Coroutine, Mapping, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import Response

from tensorloom.framework import errors
from tensorloom.framework.runtime.growing_executor import GrowingExecutor
from tensorloom.serving.calls.limits import CallLimits
from tensorloom.serving.observe.observer import Call
from tensorloom.serving.rest.answers import Answer, failed

if TYPE_CHECKING:
    from tensorloom.serving.security.api_keys import ApiKeys

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

#: (method, path, body, call) -> answer; may raise `errors.OpError`.
Handler = Callable[[str, str, bytes, Call], Answer]
#: As a `Handler`, for what the event loop can answer; None: the handler has to.
Begin = Callable[[str, str, bytes, Call], Coroutine[Any, Any, Answer] | None]

_CORS: Final = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "POST, GET",
    "Access-Control-Allow-Headers": "Content-Type",
}
# Calls that last longer are ended when their caller hangs up.
_LOOK_AFTER_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Route:
    """Who answers the paths with a prefix."""

    prefix: str
    handler: Handler
    #: Whether callers need a key, where the server has any.
    is_guarded: bool = True
    #: Whether it answers at once, without a thread of its own.
    is_quick: bool = False
    #: Answers in the event loop what it can.
    begin: Begin | None = None


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """What callers may ask for."""

    most_bytes: int = 1 << 30
    timeout_s: float = 30.0
    #: Requests at a time; more are refused.
    most_calls: int = 1000


class HttpApp:
    """The ASGI application."""

    def __init__(
        self,
        routes: list[Route],
        keys: ApiKeys,
        limits: HttpLimits,
        allows_any_origin: bool = False,
    ) -> None:
        """Makes it; of two routes the one with the longer prefix counts."""
        self._routes = sorted(routes, key=lambda route: -len(route.prefix))
        self._keys, self._limits = keys, limits
        self._headers = _CORS if allows_any_origin else {}
        self._allows_any_origin = allows_any_origin
        self._executor = GrowingExecutor()
        self._calls = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        if scope["type"] != "http":
            return  # neither a life span nor a web socket
        self._calls += 1
        try:
            answer = await self._answer(scope, receive)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            answer = failed(error)
        finally:
            self._calls -= 1
        headers = {**answer.headers, **self._headers}
        response = Response(
            answer.body, answer.status, headers, media_type=answer.content_type
        )
        await response(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive) -> Answer:
        path, method = _raw_path(scope), scope["method"]
        route = next((r for r in self._routes if _is_below(path, r.prefix)), None)
        if route is None:
            return Answer(b"", 404, "text/plain")
        headers = {
            k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]
        }
        if method == "OPTIONS" and self._allows_any_origin:
            return _preflight(headers)
        if route.is_guarded:
            self._keys.check(headers)
        if self._calls > self._limits.most_calls:
            raise errors.ResourceExhaustedError(
                None, None, f"The server already answers {self._calls - 1} requests"
            )
        started = time.monotonic()
        body = await self._read(headers, receive)
        limits = CallLimits(started + self._limits.timeout_s)
        client = scope.get("client")
        peer = f"{client[0]}:{client[1]}" if client else ""
        call = Call("REST", limits, headers, peer, len(body))
        if route.is_quick:
            return route.handler(method, path, body, call)
        begun = route.begin and route.begin(method, path, body, call)
        if begun is not None:
            return await _in_loop(begun, call, receive)
        return await self._run(route.handler, method, path, body, call, receive)

    async def _run(
        self,
        handler: Handler,
        method: str,
        path: str,
        body: bytes,
        call: Call,
        receive: Receive,
    ) -> Answer:
        """Runs a handler in a thread, as long as its caller waits."""
        loop = asyncio.get_running_loop()
        running: asyncio.Future[Any] = loop.run_in_executor(
            self._executor, handler, method, path, body, call
        )
        done, _ = await asyncio.wait({running}, timeout=_LOOK_AFTER_S)
        if done:
            return _answer_of(running)
        hang_up: asyncio.Future[Any] = asyncio.ensure_future(_hang_up(receive))
        rest_s = max(0.0, (call.limits.deadline or 0) - time.monotonic())
        try:
            done, _ = await asyncio.wait(
                {running, hang_up},
                timeout=rest_s,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            hang_up.cancel()
        if running in done:
            return _answer_of(running)
        # Nobody looks at what comes of it.
        running.add_done_callback(lambda future: future.exception())
        if hang_up in done:
            call.limits.cancel()
            raise errors.CancelledError(None, None, "The caller has hung up")
        error = _timed_out()
        call.limits.cancellation.cancel(error)
        raise error

    async def _read(self, headers: Mapping[str, str], receive: Receive) -> bytes:
        """The body, no larger than it may be, and in the time that it may take.

        Raises:
          errors.ResourceExhaustedError: it is too large.
          errors.DeadlineExceededError: it comes too slowly.
          errors.InvalidArgumentError: its encoding is not known.
        """
        try:
            announced = int(headers.get("content-length", 0))
        except ValueError:
            announced = 0
        if announced > self._limits.most_bytes:
            raise self._too_large(announced)
        try:
            async with asyncio.timeout(self._limits.timeout_s):
                body = await self._receive_all(receive)
        except TimeoutError:
            raise errors.DeadlineExceededError(
                None, None, "The body of the request did not come in time"
            ) from None
        encoding = headers.get("content-encoding", "identity").lower()
        if encoding == "identity":
            return body
        return await asyncio.to_thread(self._decompress, body, encoding)

    async def _receive_all(self, receive: Receive) -> bytes:
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise errors.CancelledError(None, None, "The caller has hung up")
            part = message.get("body", b"")
            size += len(part)
            if size > self._limits.most_bytes:
                raise self._too_large(size)
            parts.append(part)
            if not message.get("more_body"):
                return parts[0] if len(parts) == 1 else b"".join(parts)

    def _decompress(self, body: bytes, encoding: str) -> bytes:
        """A compressed body; a small one that would become huge is refused."""
        if encoding not in ("gzip", "deflate"):
            raise errors.InvalidArgumentError(
                None, None, f"Content-Encoding {encoding!r} is not known"
            )
        decoder = zlib.decompressobj(zlib.MAX_WBITS | 32)  # finds which of the two
        most = self._limits.most_bytes
        try:
            found = decoder.decompress(body, most + 1)
        except zlib.error as error:
            raise errors.InvalidArgumentError(
                None, None, f"The body is no {encoding}: {error}"
            ) from None
        if len(found) > most:
            raise self._too_large(len(found))
        if not decoder.eof:
            raise errors.InvalidArgumentError(
                None, None, f"The body is no whole {encoding}"
            )
        return found

    def _too_large(self, size: int) -> errors.ResourceExhaustedError:
        return errors.ResourceExhaustedError(
            None,
            None,
            f"The body of the request has {size} bytes or more; this server takes "
            f"{self._limits.most_bytes}",
        )


def _raw_path(scope: Scope) -> str:
    raw = scope.get("raw_path")
    return raw.decode("latin-1").split("?")[0] if raw else str(scope["path"])


def _is_below(path: str, prefix: str) -> bool:
    low = path.lower()
    return low == prefix or low.startswith(
        prefix if prefix.endswith("/") else f"{prefix}/"
    )


def _preflight(headers: Mapping[str, str]) -> Answer:
    if headers.get("origin", "").startswith(("http://", "https://")):
        return Answer(b"")
    raise errors.FailedPreconditionError(
        None, None, "Origin header is missing in CORS preflight"
    )


def _answer_of(future: asyncio.Future[Any]) -> Answer:
    answer: Answer = future.result()
    return answer


async def _in_loop(
    begun: Coroutine[Any, Any, Answer], call: Call, receive: Receive
) -> Answer:
    """The answer that a call brings in this loop, as long as its caller waits."""
    loop = call.limits.loop = asyncio.get_running_loop()
    watches: list[asyncio.Task[None]] = []
    timer = loop.call_later(
        min(_LOOK_AFTER_S, call.limits.rest_s() or _LOOK_AFTER_S),
        lambda: watches.append(loop.create_task(_end_with_caller(call, receive))),
    )
    try:
        return await begun
    finally:
        timer.cancel()
        for watch in watches:
            watch.cancel()


async def _end_with_caller(call: Call, receive: Receive) -> None:
    """Ends a call when its caller hangs up, or its time is over."""
    rest_s = max(0.0, (call.limits.deadline or 0) - time.monotonic())
    try:
        async with asyncio.timeout(rest_s):
            await _hang_up(receive)
    except TimeoutError:
        call.limits.cancellation.cancel(_timed_out())
    else:
        call.limits.cancel()


def _timed_out() -> errors.DeadlineExceededError:
    return errors.DeadlineExceededError(
        None, None, "Timed out waiting for notification"
    )


async def _hang_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
