"""What HTTP callers get: bodies, and status codes for errors."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Final

from tensorloom.framework import errors
from tensorloom.transport.wire import status

JSON: Final = "application/json"
PROTOBUF: Final = "application/x-protobuf"

#: HTTP's status for each of TensorFlow's codes; 500 for those that are not here.
HTTP_STATUS: Final = {
    errors.OK: 200,
    errors.CANCELLED: 499,
    errors.INVALID_ARGUMENT: 400,
    errors.DEADLINE_EXCEEDED: 504,
    errors.NOT_FOUND: 404,
    errors.ALREADY_EXISTS: 409,
    errors.PERMISSION_DENIED: 403,
    errors.RESOURCE_EXHAUSTED: 429,
    errors.FAILED_PRECONDITION: 400,
    errors.ABORTED: 409,
    errors.OUT_OF_RANGE: 400,
    errors.UNIMPLEMENTED: 501,
    errors.UNAVAILABLE: 503,
    errors.UNAUTHENTICATED: 401,
}


@dataclass(frozen=True, slots=True)
class Answer:
    """A response."""

    body: bytes
    status: int = 200
    content_type: str = JSON
    headers: dict[str, str] = field(default_factory=dict)


def failed(error: BaseException) -> Answer:
    """The response to a request that failed: `{"error": message}`."""
    code, message = status.to_wire(error)
    headers = {"WWW-Authenticate": "Bearer"} if code == errors.UNAUTHENTICATED else {}
    return Answer(error_body(message), HTTP_STATUS.get(code, 500), JSON, headers)


def error_body(message: str) -> bytes:
    """The JSON of an error, as TensorFlow Serving writes it."""
    return json.dumps({"error": message}, indent=4, ensure_ascii=False).encode(
        errors="replace"
    )
