"""gRPC services as tables: a path, the request's class, and who answers."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
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

_Behaviour = Callable[[Any, "grpc.ServicerContext"], Any]


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


#: Methods by path: `/package.Service/Method`.
Methods = Mapping[str, Method]


class _Malformed:
    """Stands for a request that could not be parsed."""


_MALFORMED: Final = _Malformed()


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
        request_deserializer=_parser(method.request),
        response_serializer=lambda response: response.SerializeToString(),
    )


def _parser(request_class: Any) -> Callable[[bytes], Any]:
    from google.protobuf.message import DecodeError

    def parse(content: bytes) -> Any:
        try:
            return request_class.FromString(content)
        except DecodeError:
            return _MALFORMED

    return parse


def _behaviour(method: Method) -> _Behaviour:
    def behave(request: Any, context: grpc.ServicerContext) -> Any:
        try:
            return method.answer(_checked(request), _call(request, context))
        except Exception as error:
            code, message = status.to_wire(error)
        return context.abort(_code(code), cut(message))

    return behave


def _stream_behaviour(method: Method) -> _Behaviour:
    def behave(request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        given = map(_checked, request) if method.takes_stream else _checked(request)
        try:
            yield from method.answer(given, _call(None, context))
            return
        except Exception as error:
            code, message = status.to_wire(error)
        context.abort(_code(code), cut(message))

    return behave


def _checked(request: Any) -> Any:
    if request is _MALFORMED:
        raise errors.InvalidArgumentError(
            None, None, "The request is not a message of this method"
        )
    return request


def _call(request: Any, context: grpc.ServicerContext) -> Call:
    rest_s = context.time_remaining()
    deadline = None
    if rest_s is not None and math.isfinite(rest_s) and rest_s < 1e8:
        deadline = time.monotonic() + rest_s
    limits = CallLimits(deadline)
    if not context.add_callback(limits.cancel):
        limits.cancel()
    return Call(
        "GRPC",
        limits,
        headers_of(context.invocation_metadata()),
        context.peer(),
        request.ByteSize() if hasattr(request, "ByteSize") else 0,
    )


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
