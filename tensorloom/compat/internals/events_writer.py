"""`EventsWriter` of `tensorflow.python.pywrap_tensorflow`: a file of events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.storage.records.event_files import EventFile

if TYPE_CHECKING:
    from tensorloom.protos.event_pb2 import Event


class EventsWriter:
    """Writes events to one file, `PREFIX.out.tfevents.SECONDS.HOST`.

    Args:
      file_prefix: path and beginning of the file's name, text or bytes.
    """

    def __init__(self, file_prefix: Any) -> None:
        prefix = file_prefix.decode() if isinstance(file_prefix, bytes) else file_prefix
        self._prefix: str = prefix
        self._file = EventFile(prefix)

    def InitWithSuffix(self, suffix: Any) -> None:
        """The file's name ends so."""
        text = suffix.decode() if isinstance(suffix, bytes) else suffix
        self._file = EventFile(self._prefix, text)

    def FileName(self) -> bytes:
        """The path of the file, which is made if it is not there yet."""
        self._file.open()
        return (self._file.path or "").encode()

    def WriteEvent(self, event: Event) -> None:
        """Appends an event. Raises TypeError for anything else."""
        if not hasattr(event, "SerializeToString"):
            raise TypeError(f"Expected an Event message, got {event}")
        self._file.write(event.SerializeToString())

    def Flush(self) -> bool:
        """What was written is in the file."""
        self._file.flush()
        return True

    def Close(self) -> bool:
        """No more is written."""
        self._file.close()
        return True
