"""The records of this process: their names, what they say, and how long they last."""

from __future__ import annotations

import itertools
import json
import os
import socket
import uuid
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tensorloom.framework.runtime import concurrency

if TYPE_CHECKING:
    from tensorloom.coordination.store import Lease


class Held:
    """A record of this process: whether its lease still lasts, as far as is known."""

    def __init__(self, lease: Lease, ends: float) -> None:
        self.lease = lease
        self.ends = ends  # `time.monotonic()`; counted from when it was asked for
        self.is_lost = False

    @property
    def lasts(self) -> bool:
        """Whether nobody else can have it yet."""
        return not self.is_lost and concurrency.monotonic() < self.ends


class Signature:
    """What a process writes into its records: who it is, and what no other writes.

    Args:
      host, pid: who it is; this process if not given.
    """

    def __init__(self, host: str | None = None, pid: int | None = None) -> None:
        self._host = socket.gethostname() if host is None else host
        self._pid = os.getpid() if pid is None else pid
        self._id = uuid.uuid4().hex
        self._numbers = itertools.count()

    def sign(self, content: dict[str, Any]) -> bytes:
        """A record's value, with `host`, `pid`, `since` and an `id` of its own."""
        signed = {
            **content,
            "host": self._host,
            "pid": self._pid,
            "since": concurrency.time(),
            "id": f"{self._id}-{next(self._numbers)}",
        }
        return json.dumps(signed).encode()


def safe(name: str) -> str:
    """A name as a part of a key."""
    return quote(name, safe="").replace(".", "%2E")
