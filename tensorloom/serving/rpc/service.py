"""gRPC services as tables: a path, the request's class, and who answers."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.serving.calls.limits import CallLimits
from tensorloom.serving.observe.observer import Call
from tensorloom.transport.wire import status

if TYPE_CHECKING:
    import grpc

# As TensorFlow Serving cuts them.
_MAX_MESSAGE: Final = 1024
_TRUNCATED: Final = "...TRUNCATED"
# gRPC's calls without a deadline have one in some hundred years.
_NEVER_S: Final = 1e8

_Behaviour = Callable[[Any, "grpc.ServicerContext"], Any]

#: (request, call) -> what brings the response. It begins in a thread that many calls
#: share, and leaves it where it could hold others up (`CallLimits.leave_thread`).
Begin = Callable[[Any, Call], Coroutine[Any, Any, Any]]


@dataclass(frozen=True, slots=True)
class Method:
    """One method of a service."""

    #: The class of its requests.
    request: Any
    #: (request, call) -> response; for streams: (requests, call) -> responses.
    answer: Callable[[Any, Call], Any]
    #: Whether several requests come, and whether several responses go.
    takes_stream: bool = False
    gives_stream: bool = False
    #: Whether callers need a key, where the server has any.
    is_guarded: bool = True
    #: As `answer`, for small requests.
    begin: Begin | None = None


#: Methods by path: `/package.Service/Method`.
Methods = Mapping[str, Method]


def make_handler(method: Method) -> grpc.RpcMethodHandler:
    """gRPC's handler of a method."""
    import grpc

    make = {
        (False, False): grpc.unary_unary_rpc_method_handler,
        (False, True): grpc.unary_stream_rpc_method_handler,
        (True, True): grpc.stream_stream_rpc_method_handler,
    }[method.takes_stream, method.gives_stream]
    behave = _stream_behaviour if method.gives_stream else _behaviour
    return make(
        behave(method),
        # Not by gRPC: its callers would not hear what is wrong.
        request_deserializer=None,
        response_serializer=lambda response: response.SerializeToString(),
    )


def parser(request_class: Any) -> Callable[[bytes], Any]:
    """What makes messages of requests; raises `errors.InvalidArgumentError`."""
    from google.protobuf.message import DecodeError

    def parse(content: bytes) -> Any:
        try:
            return request_class.FromString(content)
        except DecodeError:
            raise errors.InvalidArgumentError(
                None, None, "The request is not a message of this method"
            ) from None

    return parse


def _behaviour(method: Method) -> _Behaviour:
    parse = parser(method.request)

    def behave(request: bytes, context: grpc.ServicerContext) -> Any:
        try:
            call = _call(context, len(request))
            return method.answer(parse(request), call)
        except Exception as error:
            code, message = status.to_wire(error)
        return context.abort(_code(code), cut(message))

    return behave


def _stream_behaviour(method: Method) -> _Behaviour:
    parse = parser(method.request)

    def behave(request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        try:
            given = map(parse, request) if method.takes_stream else parse(request)
            yield from method.answer(given, _call(context))
            return
        except Exception as error:
            code, message = status.to_wire(error)
        context.abort(_code(code), cut(message))

    return behave


def _call(context: grpc.ServicerContext, size: int = 0) -> Call:
    limits = CallLimits(deadline_after(context.time_remaining()))
    if not context.add_callback(limits.cancel):
        limits.cancel()
    headers = headers_of(context.invocation_metadata())
    return Call("GRPC", limits, headers, context.peer(), size)


def deadline_after(rest_s: float | None) -> float | None:
    """`time.monotonic()` at the end of a call; None: it has none."""
    if rest_s is None or not math.isfinite(rest_s) or rest_s >= _NEVER_S:
        return None
    return time.monotonic() + rest_s


def headers_of(metadata: Any) -> dict[str, str]:
    """Metadata that is text, by name."""
    return {key: value for key, value in metadata or () if isinstance(value, str)}


def cut(message: str) -> str:
    """A message of the length that clients get."""
    if len(message) <= _MAX_MESSAGE:
        return message
    return message[:_MAX_MESSAGE] + _TRUNCATED


def _code(number: int) -> grpc.StatusCode:
    import grpc

    for code in grpc.StatusCode:
        if code.value[0] == number:
            return code
    return grpc.StatusCode.UNKNOWN
