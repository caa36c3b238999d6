"""Event files, which TensorBoard reads: records of `Event` messages."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from typing import Any, Final

from tensorloom.framework import errors
from tensorloom.storage.files import filesystem
from tensorloom.storage.files.file_errors import data_loss
from tensorloom.storage.files.growing_file import create_growing_file
from tensorloom.storage.records.tfrecord import RecordReader, RecordWriter

FILE_VERSION: Final = "brain.Event:2"
# Names hold a second; whoever finds his taken takes one of the next seconds.
_TRIES: Final = 1000


def event_file_name(prefix: str, seconds: int, suffix: str = "") -> str:
    """`PREFIX.out.tfevents.SECONDS.HOST` and the suffix."""
    return f"{prefix}.out.tfevents.{seconds:010d}.{socket.gethostname()}{suffix}"


class EventFile:
    """An event file that is being written.

    It is made at the first event, and begins with one that tells its version. An event
    is in the file, for others to read, after the next `flush`.

    Args:
      prefix: of the name, with the directory.
      suffix: of the name.
    """

    def __init__(self, prefix: str, suffix: str = "") -> None:
        self._prefix = prefix
        self._suffix = suffix
        self._records: RecordWriter | None = None
        self.path: str | None = None  # of the file that is or was written

    def open(self) -> None:
        """Makes the file, if it is not open.

        Raises:
          errors.OpError: it cannot be made.
        """
        if self._records is not None:
            return
        from tensorloom.protos.event_pb2 import Event

        first = Event(wall_time=time.time(), file_version=FILE_VERSION)
        records = self._create(int(first.wall_time))
        try:
            records.write(first.SerializeToString())
            records.flush()
        except errors.OpError:
            records.abandon()
            raise
        self._records = records

    def _create(self, seconds: int) -> RecordWriter:
        for second in range(seconds, seconds + _TRIES):
            self.path = event_file_name(self._prefix, second, self._suffix)
            try:
                return RecordWriter(self.path, file=create_growing_file(self.path))
            except errors.AlreadyExistsError as error:
                # Another writer of this directory, or this one before it was reopened.
                last = error
        raise last

    def write(self, serialized: bytes) -> None:
        """Adds a serialized `Event`.

        Raises:
          errors.OpError: the file cannot be written.
        """
        if self._records is None:
            self.open()
        assert self._records is not None
        self._records.write(serialized)

    def flush(self) -> None:
        """Makes all events readable.

        Raises:
          errors.OpError: the file cannot be written.
        """
        if self._records is not None:
            self._records.flush()

    def close(self) -> None:
        """Finishes the file; a later event begins another.

        Raises:
          errors.OpError: the file cannot be written.
        """
        records, self._records = self._records, None
        if records is not None:
            records.flush()
            records.close()

    def abandon(self) -> None:
        """Closes the file as it is; raises nothing."""
        records, self._records = self._records, None
        if records is not None:
            records.abandon()


def make_log_directory(path: str) -> None:
    """Makes the directory of event files.

    Raises:
      errors.OpError: it cannot be made, or there is a file of that name.
    """
    if filesystem.is_directory(path):
        return
    try:
        filesystem.make_directories(path)
    except errors.AlreadyExistsError:
        # Another process was faster, or it is a file.
        if not filesystem.is_directory(path):
            text = f"{path}; Not a directory"
            raise errors.FailedPreconditionError(None, None, text) from None


def read_events(path: str) -> Iterator[Any]:
    """The `Event` messages of a file.

    Raises:
      errors.NotFoundError: there is no file.
      errors.DataLossError: a record is damaged, or is no event; those before it have
        been given.
    """
    from google.protobuf.message import DecodeError

    from tensorloom.protos.event_pb2 import Event

    offset = 0
    for record in RecordReader(path):
        try:
            event = Event.FromString(record)
        except DecodeError:
            raise data_loss(path, offset, f"no event in record at {offset}") from None
        yield event
        offset += len(record) + 16
