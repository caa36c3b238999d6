"""Writing events in a thread of their own, so that training does not wait for disks."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
import weakref
from typing import Any

from tensorloom.framework import errors
from tensorloom.storage.files import filesystem
from tensorloom.storage.records.event_files import EventFile, make_log_directory


class EventFileWriter:
    """Writes events to files in a directory.

    Events go through a queue to a thread. What was flushed survives the death of the
    process. A writer that is dropped, or left open when the program ends, closes
    itself.

    Args:
      logdir: the directory, of any file system; made if missing.
      max_queue: events that may wait; 0 or less for any number.
      flush_secs: an event waits at most so long for a flush.
      filename_suffix: of the files' names.

    Raises:
      OpError: the directory or the file cannot be made.
    """

    def __init__(
        self,
        logdir: Any,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str | bytes | None = None,
    ) -> None:
        self._logdir = logdir if isinstance(logdir, str) else os.fsdecode(logdir)
        make_log_directory(self._logdir)
        suffix = os.fsdecode(filename_suffix) if filename_suffix else ""
        self._file = EventFile(filesystem.join(self._logdir, "events"), suffix)
        if suffix:
            self._file.open()  # as TensorFlow; else the first event makes it
        self._max_queue = max_queue
        self._flush_secs = flush_secs
        self._closed = True
        self.reopen()

    def reopen(self) -> None:
        """After `close`: the next event begins a new file."""
        if self._closed:
            self._thread = _WriterThread(self._file, self._max_queue, self._flush_secs)
            # Closes the file when nobody holds the writer any more, or at the exit.
            self._end = weakref.finalize(self, _end_quietly, self._thread, os.getpid())
            self._closed = False

    def get_logdir(self) -> str:
        """The directory."""
        return self._logdir

    def add_event(self, event: Any) -> None:
        """Adds an `Event`; waits while the queue is full. Nothing once closed.

        Raises:
          OpError: an earlier event could not be written.
        """
        if not self._closed:
            self._thread.put(event)

    def flush(self) -> None:
        """Waits until all events are in the file.

        Raises:
          OpError: they cannot be written.
        """
        if not self._closed:
            self._thread.flush()

    def close(self) -> None:
        """Writes all events, closes the file and ends the thread.

        Raises:
          OpError: an event could not be written.
        """
        if not self._closed:
            self._closed = True
            self._end.detach()
            self._thread.close()


def _end_quietly(thread: _WriterThread, pid: int) -> None:
    # A child that was forked has the queue but not the thread.
    if pid == os.getpid():
        with contextlib.suppress(errors.OpError):
            thread.close()


class _WriterThread:
    """The thread and its queue. An error ends the writing and is told to all callers.

    Args:
      file: to write.
      max_queue, flush_secs: see `EventFileWriter`.
    """

    def __init__(self, file: EventFile, max_queue: int, flush_secs: float) -> None:
        self._file = file
        self._flush_secs = flush_secs
        # Serialized events; an Event to set when the file is flushed; None to end.
        self._queue: queue.Queue[Any] = queue.Queue(max_queue)
        self._failure: errors.OpError | None = None
        self._next_flush = 0.0  # the first event is flushed at once
        self._unflushed = False
        self._thread = threading.Thread(
            target=self._run, name="tensorloom_events", daemon=True
        )
        self._thread.start()

    def put(self, event: Any) -> None:
        """Adds an event, as it is now."""
        self._check()
        self._queue.put(event.SerializeToString())

    def flush(self) -> None:
        """Waits until what was added is in the file."""
        flushed = threading.Event()
        self._queue.put(flushed)
        flushed.wait()
        self._check()

    def close(self) -> None:
        """Ends the thread when it has written everything."""
        self._queue.put(None)
        self._thread.join()
        self._check()

    def _check(self) -> None:
        failure = self._failure
        if failure is not None:
            raise type(failure)(None, None, failure.message)

    def _run(self) -> None:
        while True:
            try:
                item = self._queue.get(timeout=self._patience())
            except queue.Empty:
                self._guarded(self._flush_file)
                continue
            if item is None:
                self._guarded(self._file.close)
                return
            if isinstance(item, threading.Event):
                self._guarded(self._flush_file)
                item.set()
            else:
                self._guarded(self._write, item)

    def _patience(self) -> float | None:
        """Seconds to wait for an event before a flush is due."""
        if not self._unflushed:
            return None
        return min(max(0.0, self._next_flush - time.monotonic()), threading.TIMEOUT_MAX)

    def _write(self, serialized: bytes) -> None:
        self._file.write(serialized)
        self._unflushed = True
        if time.monotonic() >= self._next_flush:
            self._flush_file()

    def _flush_file(self) -> None:
        self._file.flush()
        self._unflushed = False
        self._next_flush = time.monotonic() + self._flush_secs

    def _guarded(self, action: Any, *args: Any) -> None:
        """After an error nothing more is written: the file would have a hole."""
        if self._failure is not None:
            return
        try:
            action(*args)
        except Exception as error:
            self._unflushed = False
            self._failure = (
                error
                if isinstance(error, errors.OpError)
                else errors.UnknownError(None, None, f"{self._file.path}; {error}")
            )
            self._file.abandon()
