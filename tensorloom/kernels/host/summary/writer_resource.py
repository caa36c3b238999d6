"""Writers of event files and databases as resources of a session."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import Any

from tensorloom.framework import errors
from tensorloom.framework.runtime.resource import Resource
from tensorloom.storage.files import filesystem
from tensorloom.storage.records.event_files import EventFile, make_log_directory
from tensorloom.storage.records.summary_database import SummaryDatabase


class SummaryWriter(Resource):
    """A writer, from `open` to `close_file`. Steps may use it at the same time."""

    def __init__(self, container: str, name: str) -> None:
        super().__init__(container, name)
        self._lock = threading.Lock()
        self._file: EventFile | SummaryDatabase | None = None
        self._unflushed = 0
        self._max_queue = 0
        self._flush_seconds = 0.0
        self._last_flush = 0.0

    def open(self, logdir: str, max_queue: int, flush_millis: int, suffix: str) -> None:
        """Opens a new file, unless one is open.

        Raises:
          errors.OpError: the directory or the file cannot be made.
        """
        with self._lock:
            if self._file is not None:
                return
            make_log_directory(logdir)
            file = EventFile(filesystem.join(logdir, "events"), suffix)
            file.open()
            self._file = file
            self._max_queue = max_queue
            self._flush_seconds = flush_millis / 1000
            self._last_flush = time.monotonic()

    def open_database(self, uri: str, experiment: str, run: str, user: str) -> None:
        """Opens a database, unless it or a file is open.

        Raises:
          errors.InvalidArgumentError: it is no database of summaries.
        """
        with self._lock:
            if self._file is None:
                self._file = SummaryDatabase(uri, experiment, run, user)
                # Others wait for an open transaction, so none stays open.
                self._max_queue, self._flush_seconds = 0, 0.0

    def write(self, event: Any) -> None:
        """Adds an `Event`.

        Raises:
          errors.NotFoundError: the writer is not open.
          errors.OpError: the file cannot be written.
        """
        with self._lock:
            file = self._opened()
            if isinstance(file, SummaryDatabase):
                file.write(event)
            else:
                file.write(event.SerializeToString())
            self._unflushed += 1
            waited = time.monotonic() - self._last_flush
            if self._unflushed > self._max_queue or waited > self._flush_seconds:
                self._flush(file)

    def flush(self) -> None:
        """Makes all events readable.

        Raises:
          errors.NotFoundError: the writer is not open.
          errors.OpError: the file cannot be written.
        """
        with self._lock:
            self._flush(self._opened())

    def close_file(self) -> None:
        """Finishes the file; the writer may be opened again.

        Raises:
          errors.NotFoundError: the writer is not open.
          errors.OpError: the file cannot be written.
        """
        with self._lock:
            file = self._opened()
            self._file = None
            file.close()

    def close(self) -> None:
        """The session ends."""
        with self._lock, contextlib.suppress(errors.OpError):
            file, self._file = self._file, None
            if file is not None:
                file.close()

    def _opened(self) -> EventFile | SummaryDatabase:
        if self._file is None:
            raise errors.NotFoundError(
                None,
                None,
                f"Resource {self.container}/{self.name}/"
                "N10tensorflow22SummaryWriterInterfaceE does not exist.",
            )
        return self._file

    def _flush(self, file: EventFile | SummaryDatabase) -> None:
        file.flush()
        self._unflushed = 0
        self._last_flush = time.monotonic()
