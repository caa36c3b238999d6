"""The calls of the input service, and their messages.

A message is a JSON object with fields, and bytes:

    u32 length of the fields | the fields, as JSON | bytes

What does not look like that, or has not the fields that its method wants, is refused
with an InvalidArgumentError before anything is done.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.transport.wire.methods import Method, worker_methods

if TYPE_CHECKING:
    from tensorloom.transport.interface import Channel, Handlers

_LENGTH: Final = struct.Struct("<I")
_SERVICE: Final = "tensorloom.InputService"
# Which fields a method's request has, and of which types.
_REQUESTS: Final[Mapping[str, Mapping[str, type]]] = {
    # of dispatchers
    "Register": {
        "dataset": str,
        "types": list,
        "shapes": list,
        "elements": int,
        "size": int,
        "multiple": int,
        "reason": str,
        "cardinality": int,
        "compression": str,
    },
    "GetDataset": {"dataset": str},
    "OpenJob": {
        "name": str,
        "iteration": int,
        "dataset": str,
        "mode": str,
        "delivery": str,
        "split_size": int,
        "trainer": str,
        "consumer": str,
    },
    "NextPiece": {
        "job": int,
        "consumer": str,
        "request": str,
        "most": int,
        "waits": bool,
    },
    # claims: [piece, begin, end, done], each of another piece
    "Claim": {"job": int, "consumer": str, "request": str, "claims": list},
    "Beat": {"job": int, "consumer": str},
    "Leave": {"job": int, "consumer": str, "ranges": list},
    "WorkerBeat": {"worker": str, "address": str, "jobs": list},
    "WorkerLeave": {"worker": str},
    "Describe": {},
    # of workers
    # parts: [piece, begin, end, seed, first, stop], made one after another
    # share: [policy, workers, index]
    "GetElements": {
        "job": int,
        "run": int,
        "dataset": str,
        "parts": list,
        "share": list,
        "trainer": str,  # whose place in the cache; "": there is no cache
        "most": int,
    },
    "Release": {"job": int, "run": int},
}

Fields = dict[str, Any]
#: (fields, bytes) -> (fields, bytes)
Answer = Callable[[Fields, bytes], tuple[Fields, bytes]]


@cache
def methods() -> Mapping[str, Method]:
    """The methods by name."""
    from google.protobuf import wrappers_pb2

    message = wrappers_pb2.BytesValue
    return {name: Method(_SERVICE, name, message, message) for name in _REQUESTS}


def pack(fields: Fields, content: bytes = b"") -> bytes:
    """A message."""
    head = json.dumps(fields).encode()
    return b"".join((_LENGTH.pack(len(head)), head, content))


def unpack(message: bytes) -> tuple[Fields, bytes]:
    """The fields and the bytes of a message.

    Raises:
      errors.InvalidArgumentError: it is none.
    """
    try:
        (length,) = _LENGTH.unpack_from(message)
        end = _LENGTH.size + length
        if end > len(message):
            raise ValueError(f"{len(message)} bytes for fields of {length}")
        fields = json.loads(message[_LENGTH.size : end])
    except (struct.error, ValueError, RecursionError) as error:
        raise invalid_argument(
            f"Malformed message of the input service: {error}"
        ) from None
    if not isinstance(fields, dict):
        raise invalid_argument("Malformed message of the input service: no fields")
    return fields, message[end:]


def handlers(answers: Mapping[str, Answer]) -> Handlers:
    """What a server answers with; it also says that it is there."""
    found: dict[Method, Any] = {}
    for name, answer in answers.items():
        found[methods()[name]] = _handler(name, answer)
    status = worker_methods()["GetStatus"]
    found[status] = lambda request, call: status.response()
    return found


def _handler(name: str, answer: Answer) -> Callable[[Any, Any], Any]:
    method, wanted = methods()[name], _REQUESTS[name]

    def handle(request: Any, call: Any) -> Any:
        fields, content = unpack(request.value)
        for field, kind in wanted.items():
            value = fields.get(field)
            if type(value) is not kind:
                raise invalid_argument(
                    f"{name}: the field {field!r} must be of type {kind.__name__}, "
                    f"but is {value!r:.100}"
                )
        return method.response(value=pack(*answer(fields, content)))

    return handle


def call(
    channel: Channel,
    name: str,
    fields: Fields,
    content: bytes = b"",
    timeout_s: float | None = None,
) -> tuple[Fields, bytes]:
    """Calls a server.

    Raises:
      errors.OpError: what it raised; UnavailableError where it cannot be reached.
    """
    method = methods()[name]
    request = method.request(value=pack(fields, content))
    response = channel.call(method, request, timeout_s)
    return unpack(response.value)


#: What says that a server is gone, or hangs: another one, or the next one, may answer.
GONE: Final = (
    errors.UnavailableError,
    errors.DeadlineExceededError,
    errors.CancelledError,
)
