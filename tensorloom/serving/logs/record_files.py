"""`RecordFiles`: records in files, each with as many as a warm-up file may have."""

from __future__ import annotations

import itertools
import os
import threading
import time

from tensorloom.serving.calls.warm_up import MOST_RECORDS
from tensorloom.storage.files import filesystem
from tensorloom.storage.records.tfrecord import RecordWriter


class RecordFiles:
    """TFRecord files `PREFIX-DATE-TIME-PROCESS-NUMBER.tfrecord`. Thread-safe."""

    def __init__(self, prefix: str) -> None:
        """Opens nothing before the first record."""
        self._prefix = prefix
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._writer: RecordWriter | None = None
        self._left = 0

    def write(self, record: bytes) -> None:
        """Adds a record, and hands it to the file system.

        Raises:
          errors.OpError: it cannot be written; the next one begins another file.
        """
        with self._lock:
            if self._writer is None or not self._left:
                self._close()
                self._writer = RecordWriter(self._new_name())
                self._left = MOST_RECORDS
            try:
                self._writer.write(record)
                self._writer.flush()
                self._left -= 1
            except BaseException:
                self._left = 0
                raise

    def close(self) -> None:
        """Finishes the last file; a later record begins another."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()

    def _new_name(self) -> str:
        directory = os.path.dirname(self._prefix)
        if directory and not filesystem.exists(directory):
            filesystem.make_directories(directory)
        moment = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        while True:
            number = next(self._numbers)
            name = f"{self._prefix}-{moment}-{os.getpid()}-{number:04d}.tfrecord"
            if not filesystem.exists(name):
                return name
