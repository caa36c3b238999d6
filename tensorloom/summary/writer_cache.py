"""`tf.summary.FileWriterCache`: one writer for each directory."""

from __future__ import annotations

import threading
from typing import ClassVar

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import get_default_graph
from tensorloom.summary.writer import FileWriter


@export("summary.FileWriterCache")
class FileWriterCache:
    """Writers by directory, for parts of a program that do not know each other."""

    _cache: ClassVar[dict[str, FileWriter]] = {}
    _lock: ClassVar[threading.RLock] = threading.RLock()

    @staticmethod
    def clear() -> None:
        """Closes and forgets all writers."""
        with FileWriterCache._lock:
            writers = list(FileWriterCache._cache.values())
            FileWriterCache._cache.clear()
        for writer in writers:
            writer.close()

    @staticmethod
    def get(logdir: str) -> FileWriter:
        """The writer of a directory; a new one also writes the default graph."""
        with FileWriterCache._lock:
            found = FileWriterCache._cache.get(logdir)
            if found is None:
                found = FileWriter(logdir, graph=get_default_graph())
                FileWriterCache._cache[logdir] = found
            return found
