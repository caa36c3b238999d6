"""The writer behind `FileWriter(session=...)`: events go through ops of the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.placeholder import placeholder_with_default
from tensorloom.storage.records.event_files import make_log_directory
from tensorloom.summary.graph_writer import (
    always_record_summaries,
    create_file_writer,
    import_event,
)

if TYPE_CHECKING:
    from tensorloom.client.session.base_session import BaseSession


class SessionEventWriter:
    """Events into the writer of a directory that the session's graph shares.

    Args:
      session: gets the ops, and runs them.
      logdir, max_queue, flush_secs, filename_suffix: of the writer, if it is new.
    """

    def __init__(
        self,
        session: BaseSession,
        logdir: Any,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str | None = None,
    ) -> None:
        self._session = session
        self._logdir = logdir
        self._closed = False
        make_log_directory(logdir)
        with session.graph.as_default(), name_scope("filewriter"):
            writer = create_file_writer(
                logdir,
                max_queue=max_queue,
                flush_millis=int(flush_secs * 1000),
                filename_suffix=filename_suffix,
            )
            with always_record_summaries(), writer.as_default():
                self._event = placeholder_with_default(
                    constant("unused", dtypes.string), shape=[]
                )
                self._add = import_event(self._event)
            self._init = writer.init()
            self._flush = writer.flush()
            self._close = writer.close()
        session.run(self._init)

    def get_logdir(self) -> Any:
        """The directory."""
        return self._logdir

    def reopen(self) -> None:
        """After `close`: the next event goes into a new file."""
        if self._closed:
            self._closed = False
            self._session.run(self._init)

    def add_event(self, event: Any) -> None:
        """Adds an `Event`. Nothing once closed."""
        if not self._closed:
            self._session.run(self._add, {self._event: event.SerializeToString()})

    def flush(self) -> None:
        """Makes all events readable.

        Raises:
          NotFoundError: the writer is closed.
        """
        self._session.run(self._flush)

    def close(self) -> None:
        """Flushes and closes the file."""
        if not self._closed:
            self.flush()
            self._session.run(self._close)
            self._closed = True
