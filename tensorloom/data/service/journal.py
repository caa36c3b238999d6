"""The journal of a dispatcher: what it has promised, in a file that grows.

The file is a TFRecord file whose records are JSON, one an event: the lengths have
checksums of their own, so that a damaged length is not taken for the end of the file.

An event is in the file, and on the disk, before anybody hears of it. A process may die
at any byte: what comes after the last whole event was promised to nobody, and is cut
off. Damage before that is a DataLossError, and nothing is changed.
"""

from __future__ import annotations

import fcntl
import json
import os
import struct
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from tensorloom.framework import errors
from tensorloom.storage.records.tfrecord import checksum
from tensorloom.storage.tables.crc32c import mask

Event = dict[str, Any]

#: The first event of each journal.
FIRST: Final[Event] = {"kind": "journal", "version": 2}
_HEAD: Final = struct.Struct("<QI")
_CRC: Final = struct.Struct("<I")
#: The file is written anew when it has grown by more than that.
_GROWTH: Final = 16 << 20


class Journal:
    """One dispatcher's journal; the directory is locked while it is open.

    Args:
      directory: of a local disk; made if it is not there.
      locks: whether to lock it. False: the caller has another lock, whose last holder
        may hang with the file open. What it still writes goes into a file that
        `rewrite` has replaced.

    Raises:
      errors.FailedPreconditionError: another dispatcher has it, or another version of
        it wrote the journal.
      errors.DataLossError: the journal is damaged.
      OSError: the directory cannot be used.
    """

    def __init__(self, directory: str, locks: bool = True) -> None:
        self._directory = Path(directory)
        self._directory.mkdir(parents=True, exist_ok=True)
        self._path = self._directory / "journal"
        self._appending = threading.Lock()
        self._syncing = threading.Lock()
        self._appended = self._synced = 0
        self._failure: OSError | None = None
        self._is_open = True
        self._lock = _lock(self._directory / "lock") if locks else None
        try:
            self.events, end = read(self._path)
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
            os.ftruncate(self._file, end)
            if not end:
                content = record(FIRST)
                _write(self._file, content, 0)
                end = len(content)
            os.fsync(self._file)
            _sync_directory(self._directory)
        except BaseException:
            self._unlock()
            raise
        self._size = self._compacted_at = end

    def append(self, event: Event) -> None:
        """Adds an event; it is safe after `sync`.

        Raises:
          errors.InternalError: the disk has refused this or an earlier event.
        """
        content = record(event)
        with self._appending:
            self._check()
            try:
                _write(self._file, content, self._size)
            except OSError as error:
                raise self._failed(error) from None
            self._size += len(content)
            self._appended += 1

    def sync(self) -> None:
        """Waits until all that was appended is on the disk; calls share a flush.

        Raises:
          errors.InternalError: the disk has refused it. What is on it is not known
            then, and nothing more is promised.
        """
        target = self._appended
        if self._synced >= target:
            self._check()
            return
        with self._syncing:
            if self._synced >= target:
                return
            target = self._appended
            self._check()
            try:
                os.fdatasync(self._file)
            except OSError as error:
                raise self._failed(error) from None
            self._synced = target

    @property
    def is_long(self) -> bool:
        """Whether it has grown enough to be written anew."""
        return self._size - self._compacted_at > _GROWTH

    def rewrite(self, events: Iterable[Event]) -> None:
        """Replaces all events by fewer that say the same; nobody appends meanwhile."""
        fresh = self._directory / "journal.new"
        with self._syncing, self._appending:
            self._check()
            content = b"".join(map(record, [FIRST, *events]))
            try:
                file = os.open(
                    fresh, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666
                )
                _write(file, content, 0)
                os.fsync(file)
                os.replace(fresh, self._path)
                _sync_directory(self._directory)
            except OSError as error:
                raise self._failed(error) from None
            os.close(self._file)
            self._file = file
            self._size = self._compacted_at = len(content)
            self._synced = self._appended

    def close(self) -> None:
        """Closes the file, and lets another dispatcher have the directory."""
        with self._syncing, self._appending:
            if self._is_open:
                self._is_open = False
                self._failure = OSError("the journal is closed")
                os.close(self._file)
                self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failed(self._failure)

    def _failed(self, error: OSError) -> errors.OpError:
        self._failure = error
        return errors.InternalError(
            None, None, f"The journal {self._path} cannot be written: {error}"
        )


def record(event: Event) -> bytes:
    """An event as it stands in the file."""
    content = json.dumps(event, separators=(",", ":")).encode()
    length = len(content).to_bytes(8, "little")
    return b"".join((length, _crc(length), content, _crc(content)))


def read(path: Path) -> tuple[list[Event], int]:
    """The events of a file but for the first, and where the last whole one ends.

    Raises:
      errors.FailedPreconditionError: another version wrote it.
      errors.DataLossError: it is no journal, or is damaged before its end.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return [], 0
    events: list[Event] = []
    at = 0
    while at + _HEAD.size <= len(content):
        begin = at + _HEAD.size
        length = int.from_bytes(content[at : at + 8], "little")
        end = begin + length + _CRC.size
        is_whole = content[at + 8 : begin] == _crc(content[at : at + 8])
        if is_whole and end > len(content):
            break  # the process died while it wrote this
        payload = content[begin : end - _CRC.size]
        if not is_whole or content[end - _CRC.size : end] != _crc(payload):
            # A machine that lost its power may have the length of what it had not
            # written yet.
            if (is_whole and end == len(content)) or not any(content[at:]):
                break
            raise _damaged(path, at, len(content))
        events.append(json.loads(payload))
        at = end
    if events and events[0] != FIRST:
        if events[0].get("kind") == FIRST["kind"]:
            raise errors.FailedPreconditionError(
                None,
                None,
                f"{path} was written by another version of the dispatcher "
                f"({events[0].get('version')}; this one is {FIRST['version']}): let "
                "that one end its jobs, or use another directory",
            )
        raise _damaged(path, 0, len(content))
    return events[1:], at


def _damaged(path: Path, at: int, size: int) -> errors.DataLossError:
    return errors.DataLossError(
        None,
        None,
        f"{path} is no journal of a dispatcher, or is damaged at byte {at} of {size}",
    )


def _crc(content: bytes) -> bytes:
    return _CRC.pack(mask(checksum()(content)))


def _write(file: int, content: bytes, at: int) -> None:
    view = memoryview(content)
    while view:
        written = os.pwrite(file, view, at)
        view, at = view[written:], at + written


def _lock(path: Path) -> int:
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = os.pread(file, 100, 0).decode(errors="replace") or "another process"
        os.close(file)
        raise errors.FailedPreconditionError(
            None,
            None,
            f"The directory {path.parent} is used by another dispatcher ({holder})",
        ) from None
    os.ftruncate(file, 0)
    os.pwrite(file, f"process {os.getpid()}".encode(), 0)
    return file


def _sync_directory(path: Path) -> None:
    file = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
