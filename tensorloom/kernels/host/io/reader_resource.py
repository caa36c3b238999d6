"""Readers as resources: which file is being read, and what has been read so far."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.types.varint import decode_varint, encode_varint
from tensorloom.kernels.host.control_flow.waiting import WaitableResource
from tensorloom.kernels.host.io import record_files
from tensorloom.storage.records.tfrecord import FRAME, RecordReader

if TYPE_CHECKING:
    from tensorloom.kernels.host.queues.queue_resource import Queue

Record = tuple[bytes, bytes]  # key, value


class Reader(WaitableResource):
    """Gives the records of one file after the other.

    One step reads at a time. An error stays until the reader is reset: the rest of the
    file is not to be trusted.
    """

    kind: ClassVar[str] = "Reader"

    def __init__(self, container: str, name: str) -> None:
        super().__init__(container, name)
        self.started = 0
        self.finished = 0
        self.produced = 0
        self.work = b""
        self._records: Iterator[Record] | None = None
        self._failure: errors.OpError | None = None
        self._busy = False

    def records(self, work: bytes) -> Iterator[Record]:
        """The records of a file, which is opened when the first is asked for."""
        raise NotImplementedError

    def read(self, queue: Queue, count: int, context: Any) -> list[Record]:
        """Up to `count` records of one file, at least one.

        Raises:
          errors.OutOfRangeError: there are no more files.
          errors.OpError: a file cannot be read.
        """
        with self._alone(context):
            if self._failure is not None:
                raise self._failure
            found: list[Record] = []
            while len(found) < count and not (found and self._records is None):
                if self._records is None:
                    self._start(queue, context)
                self._read_on(found, count)
            self.produced += len(found)
            return found

    def _start(self, queue: Queue, context: Any) -> None:
        self.work = _next_work(queue, context)
        self._records = self.records(self.work)
        self.started += 1

    def _read_on(self, found: list[Record], count: int) -> None:
        assert self._records is not None
        try:
            for record in self._records:
                found.append(record)
                if len(found) == count:
                    break
            else:
                self._finish()
        except errors.OpError as error:
            self._failure = error
            if not found:
                raise

    def close(self) -> None:
        """The session ends: closes the file."""
        super().close()
        with self.changed:
            if not self._busy and isinstance(self._records, Generator):
                self._records.close()

    def _finish(self) -> None:
        self._records = None
        self.finished = self.started

    def reset(self, context: Any) -> None:
        """Brings the reader back to its start."""
        with self._alone(context):
            self.started = self.finished = self.produced = 0
            self.work = b""
            self._records = self._failure = None

    def serialize(self) -> bytes:
        """The state as a string.

        Raises:
          errors.UnimplementedError: this kind of reader cannot.
        """
        raise errors.UnimplementedError(None, None, "Reader SerializeState")

    def restore(self, state: bytes) -> None:
        """Brings a state back.

        Raises:
          errors.UnimplementedError: this kind of reader cannot.
        """
        raise errors.UnimplementedError(None, None, "Reader RestoreState")

    @contextmanager
    def _alone(self, context: Any) -> Iterator[None]:
        """One step at a time, without holding a lock that cannot be cancelled."""
        with self.changed:
            self.wait_until(lambda: not self._busy, context, "Read")
            self._busy = True
        try:
            yield
        finally:
            with self.changed:
                self._busy = False
                self.changed.notify_all()


def _next_work(queue: Queue, context: Any) -> bytes:
    if len(queue.types) != 1:
        raise invalid_argument("Expected single component queue")
    if queue.types[0].base_dtype.name != "string":
        raise invalid_argument("Expected queue with single string component")
    ((name,),) = queue.dequeue(1, False, context)
    if name.size != 1:
        raise invalid_argument("Expected to dequeue a one-element string tensor")
    work: bytes = name.item()
    return work


class TextLineReader(Reader):
    """Lines; keys are file:line."""

    kind = "TextLineReader"

    def __init__(self, container: str, name: str, skip_header_lines: int) -> None:
        super().__init__(container, name)
        self._skip = skip_header_lines

    def records(self, work: bytes) -> Iterator[Record]:
        """The lines of a file."""
        return _keyed(work, "", lambda file: record_files.lines(file, self._skip))


class TFRecordReader(Reader):
    """Framed records; keys are file:offset."""

    kind = "TFRecordReader"

    def __init__(self, container: str, name: str, compression: str) -> None:
        super().__init__(container, name)
        self._compression = compression

    def records(self, work: bytes) -> Iterator[Record]:
        """The records of a file."""
        return _framed(work, self._compression)


class FixedLengthRecordReader(Reader):
    """Records of equal length; keys are file:number."""

    kind = "FixedLengthRecordReader"

    def __init__(
        self, container: str, name: str, lengths: tuple[int, ...], encoding: str
    ) -> None:
        super().__init__(container, name)
        self._lengths = lengths  # header, record, footer, hop
        self._encoding = encoding

    def records(self, work: bytes) -> Iterator[Record]:
        """The records of a file."""
        return _keyed(
            work,
            self._encoding,
            lambda file: record_files.fixed_records(file, *self._lengths),
        )


class WholeFileReader(Reader):
    """Whole files; keys are their names."""

    kind = "WholeFileReader"

    def records(self, work: bytes) -> Iterator[Record]:
        """The file itself."""
        with record_files.open_file(work) as file:
            return iter([(work, file.read())])

    def _read_on(self, found: list[Record], count: int) -> None:
        super()._read_on(found, count)
        # The file is finished with its only record.
        if self._records is not None:
            self._finish()


class LMDBReader(Reader):
    """The keys and values of LMDB databases."""

    kind = "LMDBReader"

    def records(self, work: bytes) -> Iterator[Record]:
        """The pairs of a database."""
        from tensorloom.kernels.host.data.pipeline.databases import lmdb_records

        yield from lmdb_records(os.fsdecode(work))


class IdentityReader(Reader):
    """What the queue gives, as key and value."""

    kind = "IdentityReader"

    def records(self, work: bytes) -> Iterator[Record]:
        """The item itself."""
        return iter([(work, work)])

    def _read_on(self, found: list[Record], count: int) -> None:
        super()._read_on(found, count)
        if self._records is not None:
            self._finish()

    def serialize(self) -> bytes:
        """A `ReaderBaseState` message."""
        numbers = (self.started, self.finished, self.produced)
        parts = [
            bytes([field << 3]) + encode_varint(value)
            for field, value in enumerate(numbers, start=1)
            if value
        ]
        if self.work:
            parts.append(b"\x22" + encode_varint(len(self.work)) + self.work)
        return b"".join(parts)

    def restore(self, state: bytes) -> None:
        """Brings back what `serialize` gave.

        Raises:
          errors.InvalidArgumentError: it is no such state.
        """
        try:
            fields = _parse_state(state)
        except ValueError:
            text = "".join(chr(b) if 32 <= b < 127 else f"\\{b:03o}" for b in state)
            raise invalid_argument(
                f"Could not parse state for {self.kind} '{self.name}': {text}"
            ) from None
        self.started, self.finished, self.produced = (
            fields.get(i, 0) for i in (1, 2, 3)
        )
        self.work = fields.get(4, b"")
        self._failure = None
        in_progress = self.started > self.finished
        self._records = self.records(self.work) if in_progress else None


def _keyed(
    work: bytes,
    compression: str,
    records: Callable[[Any], Iterator[tuple[int, bytes]]],
) -> Iterator[Record]:
    """The records of a file with their keys; the file is open while they come."""
    file = record_files.open_compressed(work, compression)
    try:
        for number, value in records(file):
            yield work + b":%d" % number, value
    finally:
        file.close()


def _framed(work: bytes, compression: str) -> Iterator[Record]:
    """The framed records of a file; keys tell where they begin."""
    reader = RecordReader(os.fsdecode(work), compression.encode())
    place = 0
    with closing(reader):
        for record in reader:
            yield work + b":%d" % place, record
            place += FRAME + len(record)


def _parse_state(data: bytes) -> dict[int, Any]:
    """The fields of a `ReaderBaseState`: three numbers and a string.

    Raises:
      ValueError: it is none.
    """
    fields: dict[int, Any] = {}
    position = 0
    while position < len(data):
        tag, position = decode_varint(data, position)
        if tag in (0x08, 0x10, 0x18):
            fields[tag >> 3], position = decode_varint(data, position)
        elif tag == 0x22:
            length, position = decode_varint(data, position)
            if position + length > len(data):
                raise ValueError("string too long")
            fields[4] = data[position : position + length]
            position += length
        else:
            raise ValueError("unknown field")
    return fields
