"""The access log: one line of JSON for each request."""

from __future__ import annotations

import json
import sys
import threading
import time
from typing import IO, Any


class AccessLog:
    """Writes lines to a file, or to standard error for "-".

    Values and keys of requests are never in it.
    """

    def __init__(self, path: str) -> None:
        """Opens the file to be appended to.

        Raises:
          OSError: it cannot be opened.
        """
        self._lock = threading.Lock()
        self._is_open = path != "-"
        self._file: IO[str] = (
            open(path, "a", buffering=1)  # noqa: SIM115 - closed by `close`
            if self._is_open
            else sys.stderr
        )

    def write(self, **fields: Any) -> None:
        """Writes one line: the time, and these fields."""
        entry = {"time": round(time.time(), 6), **fields}
        line = json.dumps(entry, separators=(",", ":")) + "\n"
        with self._lock:
            self._file.write(line)

    def close(self) -> None:
        """Closes the file."""
        if self._is_open:
            self._file.close()
