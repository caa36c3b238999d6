"""What a server and a model's process say to each other.

1. The server writes a `Task` in one line of JSON to the process's standard input, which
   it keeps open as long as the process is wanted.
2. The process loads, and writes a `Report` in one line of JSON to a pipe.
3. Steps are calls with values (`transport/`) at a socket of the process.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

#: The number of the call that runs a step.
RUN: Final = 1
#: With it a process ends that cannot end a step.
HUNG: Final = 75
# The seconds that are left (0: any number), and how many of the names are feeds.
_HEAD: Final = struct.Struct("<dH")


@dataclass(frozen=True, slots=True)
class Task:
    """What a process is to serve."""

    name: str
    version: int
    path: str
    #: Of `ServerOptions`.
    options: dict[str, Any]
    #: What a caller says first.
    token: str
    #: The number of the pipe for the report.
    pipe: int
    #: The server's process.
    server: int

    def to_json(self) -> bytes:
        """It in one line."""
        return json.dumps(dataclasses.asdict(self)).encode() + b"\n"

    @staticmethod
    def from_json(line: bytes) -> Task:
        """The task of a line."""
        return Task(**json.loads(line))


@dataclass(slots=True)
class Report:
    """How a load went."""

    #: Where steps are run.
    endpoint: str = ""
    #: A `MetaGraphDef` with the signatures alone.
    signatures: bytes = b""
    #: Of the error that ended it; 0: none did.
    code: int = 0
    message: str = ""
    #: (status code, seconds) of each warm-up.
    warm_ups: list[tuple[int, float]] = field(default_factory=list)

    def to_json(self) -> bytes:
        """It in one line."""
        fields = dataclasses.asdict(self)
        fields["signatures"] = base64.b64encode(self.signatures).decode()
        return json.dumps(fields).encode() + b"\n"

    @staticmethod
    def from_json(line: bytes) -> Report:
        """The report of a line."""
        report = Report(**json.loads(line))
        report.signatures = base64.b64decode(report.signatures)
        return report


def pack_header(
    rest_s: float | None, feeds: tuple[str, ...], fetches: tuple[str, ...]
) -> bytes:
    """The header of a step's call."""
    return _HEAD.pack(rest_s or 0.0, len(feeds)) + _joined(feeds, fetches)


@lru_cache(1024)
def _joined(feeds: tuple[str, ...], fetches: tuple[str, ...]) -> bytes:
    return "\0".join((*feeds, *fetches)).encode()


def unpack_header(header: bytes) -> tuple[float | None, Sequence[str], Sequence[str]]:
    """(seconds that are left, feeds, fetches) of a header."""
    rest_s, count = _HEAD.unpack_from(header)
    names = _names(header[_HEAD.size :])
    return rest_s or None, names[:count], names[count:]


@lru_cache(1024)
def _names(joined: bytes) -> tuple[str, ...]:
    return tuple(joined.decode().split("\0"))
