"""Datasets of the records and lines of files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.types.object_arrays import object_scalar
from tensorloom.kernels.host.data.pipeline.dataset import (
    Dataset,
    DatasetIterator,
    Element,
    dataset_kernel,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.kernels.host.data.pipeline.environment import Environment

# Returns the next records of a file, none at the end.
_Read = Callable[[], list[bytes]]
# Opens a file, told by its name or with more about it.
_Open = Callable[[Any], _Read]


def file_names(value: Any) -> list[str]:
    """The names in a string tensor of rank 0 or 1.

    Raises:
      errors.InvalidArgumentError: it has a higher rank.
    """
    if value.ndim > 1:
        raise invalid_argument("`filenames` must be a scalar or a vector.")
    return [os.fsdecode(name) for name in value.reshape(-1).tolist()]


class RecordDataset(Dataset):
    """The records of files, one file after the other."""

    def __init__(
        self, types: Any, shapes: Any, files: Sequence[Any], opens: _Open
    ) -> None:
        super().__init__(types, shapes)
        self.files, self._open = files, opens

    def of(self, files: Sequence[Any]) -> RecordDataset:
        """The same of other files."""
        return RecordDataset(self.types, self.shapes, files, self._open)

    def iterate(self, env: Environment) -> DatasetIterator:
        return _RecordIterator(self.files, self._open)


class _RecordIterator(DatasetIterator):
    def __init__(self, files: Sequence[Any], opens: _Open) -> None:
        self._left = list(reversed(files))
        self._open = opens
        self._read: _Read | None = None
        self._records: list[bytes] = []
        self._next = 0

    def _load(self) -> bool:
        """Reads the next records; False at the end of the last file."""
        while True:
            if self._read is None:
                if not self._left:
                    return False
                self._read = self._open(self._left.pop())
            try:
                self._records, self._next = self._read(), 0
            except Exception:
                # What is wrong with one file does not hide the next one.
                self._read = None
                raise
            if self._records:
                return True
            self._read = None

    @property
    def has_columns(self) -> bool:
        return True

    def __next__(self) -> Element:
        index = self._next
        if index >= len(self._records):
            self._records, self._next = [], 0
            if not self._load():
                raise StopIteration
            index = 0
        self._next = index + 1
        return (object_scalar(self._records[index]),)

    def take(self, count: int) -> Sequence[np.ndarray[Any, Any]]:
        found: list[bytes] = []
        while len(found) < count:
            if self._next >= len(self._records):
                self._records, self._next = [], 0
                if not self._load():
                    break
            part = self._records[self._next : self._next + count - len(found)]
            self._next += len(part)
            found += part
        column = np.empty(len(found), object)
        column[:] = found
        return [column]


# --- TFRecord ------------------------------------------------------------------


def _open_tfrecord(compression: bytes, buffer_size: int) -> _Open:
    def opens(file: tuple[str, int]) -> _Read:
        from tensorloom.storage.records.tfrecord import RecordReader

        name, offset = file
        reader = RecordReader(name, compression, buffer_size)

        def read() -> list[bytes]:
            records = reader.read_records()
            if not records:
                reader.close()
            return records

        return _from_offset(read, name, offset) if offset else read

    return opens


# What a TFRecord file holds of a record beside its bytes: length and two checksums.
_RECORD_OVERHEAD: Final = 16


def _from_offset(read: _Read, name: str, offset: int) -> _Read:
    """Without the records that begin before a place in the uncompressed file.

    Raises:
      errors.DataLossError: when read, no record begins there.
    """
    at = 0

    def rest() -> list[bytes]:
        nonlocal at
        while records := read():
            for index, record in enumerate(records):
                if at >= offset:
                    if at > offset:
                        raise errors.DataLossError(
                            None, None, f"corrupted record at {offset} of {name}"
                        )
                    at = offset  # of all that follows
                    return records[index:]
                at += _RECORD_OVERHEAD + len(record)
        return []

    return rest


def _byte_offsets(names: Any, given: tuple[Any, ...]) -> list[int]:
    """Where to begin in each file; TFRecordDataset, the first version, tells none."""
    if not given or not given[0].size:
        return [0] * names.size
    (offsets,) = given
    if offsets.shape != names.shape:
        raise invalid_argument("`byte_offsets` must be of same size as `filenames`")
    if (offsets < 0).any():
        raise invalid_argument("`byte_offsets` must be >= 0")
    return offsets.tolist()  # type: ignore[no-any-return]


def _checked_compression(value: Any) -> bytes:
    compression: bytes = value[()]
    if compression not in (b"", b"ZLIB", b"GZIP"):
        raise invalid_argument("Unsupported compression_type.")
    return compression


@dataset_kernel("TFRecordDataset", "TFRecordDatasetV2")
def tf_record_dataset(c: OpKernelConstruction) -> Compute:
    """The records of TFRecord files."""
    from tensorloom.framework.types import dtypes
    from tensorloom.framework.types.tensor_shape import TensorShape

    types, shapes = [dtypes.string], [TensorShape.of(())]

    def compute(
        names: Any, compression: Any, buffer_size: Any, *offsets: Any
    ) -> Dataset:
        # Newer clients say -1 where the program says nothing.
        if buffer_size < -1:
            raise invalid_argument("`buffer_size` must be >= 0 (0 == no buffering)")
        size = max(0, int(buffer_size))
        opens = _open_tfrecord(_checked_compression(compression), size)
        files = [*zip(file_names(names), _byte_offsets(names, offsets), strict=True)]
        return RecordDataset(types, shapes, files, opens)

    return compute


# --- lines ---------------------------------------------------------------------


def _open_lines(compression: bytes, buffer_size: int) -> _Open:
    def opens(name: str) -> Callable[[], list[bytes]]:
        from tensorloom.storage.files.byte_stream import ByteStream

        stream = ByteStream(name, compression, buffer_size or 256 * 1024)
        rest: list[bytes] = []  # the beginning of a line, in blocks
        ended: list[bool] = []

        def read() -> list[bytes]:
            while not ended and (block := stream.read_block()):
                head, newline, tail = block.rpartition(b"\n")
                if not newline:
                    rest.append(block)
                    continue
                text = b"".join([*rest, head])
                rest[:] = [tail] if tail else []
                return _without_returns(text).split(b"\n")
            ended.append(True)
            stream.close()
            last = b"".join(rest)
            rest.clear()
            return [_without_returns(last)] if last else []

        return read

    return opens


def _without_returns(text: bytes) -> bytes:
    """TensorFlow's line reader drops every carriage return."""
    return text.replace(b"\r", b"") if b"\r" in text else text


@dataset_kernel("TextLineDataset")
def text_line_dataset(c: OpKernelConstruction) -> Compute:
    """The lines of text files."""
    from tensorloom.framework.types import dtypes
    from tensorloom.framework.types.tensor_shape import TensorShape

    types, shapes = [dtypes.string], [TensorShape.of(())]

    def compute(names: Any, compression: Any, buffer_size: Any, *_: Any) -> Dataset:
        if buffer_size < 0:
            raise invalid_argument("`buffer_size` must be >= 0 (0 == default)")
        opens = _open_lines(_checked_compression(compression), int(buffer_size))
        return RecordDataset(types, shapes, file_names(names), opens)

    return compute


# --- records of fixed length ---------------------------------------------------


def _open_fixed(
    header: int, record: int, footer: int, compression: bytes, buffer_size: int
) -> _Open:
    def opens(name: str) -> Callable[[], list[bytes]]:
        from tensorloom.storage.files.byte_stream import ByteStream

        stream = ByteStream(name, compression, max(buffer_size, 256 * 1024))
        size = stream.size()
        if size is not None and (size - header - footer) % record:
            raise invalid_argument(
                f"Excluding the header ({header} bytes) and footer ({footer} bytes), "
                f'input file "{name}" has body length {size - header - footer} '
                f"bytes, which is not an exact multiple of the record length "
                f"({record} bytes)."
            )
        return _FixedReader(stream, header, record, footer)

    return opens


class _FixedReader:
    """Reads whole records; the last `footer` bytes of the file are none."""

    def __init__(self, stream: Any, header: int, record: int, footer: int) -> None:
        self._stream, self._record, self._footer = stream, record, footer
        self._skip = header
        self._data = b""

    def __call__(self) -> list[bytes]:
        record = self._record
        while True:
            body = len(self._data) - self._footer
            if body >= record and not self._skip:
                count = body // record
                data = self._data
                self._data = data[count * record :]
                return [data[i * record : (i + 1) * record] for i in range(count)]
            block = self._stream.read_block()
            if not block:
                self._stream.close()
                return self._end(body)
            self._data += block
            if self._skip:
                dropped = min(self._skip, len(self._data))
                self._data = self._data[dropped:]
                self._skip -= dropped

    def _end(self, body: int) -> list[bytes]:
        if body > 0:
            raise invalid_argument(
                f"Excluding the header and footer ({self._footer} bytes), input file "
                f'"{self._stream.name}" does not hold a whole number of records of '
                f"{self._record} bytes."
            )
        return []


@dataset_kernel("FixedLengthRecordDataset", "FixedLengthRecordDatasetV2")
def fixed_length_record_dataset(c: OpKernelConstruction) -> Compute:
    """The records of files of fixed-length records."""
    from tensorloom.framework.types import dtypes
    from tensorloom.framework.types.tensor_shape import TensorShape

    types, shapes = [dtypes.string], [TensorShape.of(())]

    def compute(
        names: Any,
        header: Any,
        record: Any,
        footer: Any,
        buffer_size: Any,
        *compression: Any,
    ) -> Dataset:
        for value, name in ((header, "header_bytes"), (footer, "footer_bytes")):
            if value < 0:
                raise invalid_argument(f"`{name}` must be >= 0")
        if record <= 0:
            raise invalid_argument("`record_bytes` must be > 0")
        if buffer_size < 0:
            raise invalid_argument("`buffer_size` must be >= 0 (0 == default)")
        kind = _checked_compression(compression[0]) if compression else b""
        opens = _open_fixed(
            int(header), int(record), int(footer), kind, int(buffer_size)
        )
        return RecordDataset(types, shapes, file_names(names), opens)

    return compute


# --- file names ----------------------------------------------------------------


class _NoFiles(Dataset):
    """What patterns give that match nothing: an error when an element is wanted."""

    def iterate(self, env: Environment) -> DatasetIterator:
        from tensorloom.kernels.host.data.pipeline.stored import Elements

        return Elements(self._elements())

    def _elements(self) -> Iterator[Element]:
        raise errors.NotFoundError(None, None, "Don't find any matched files")
        yield ()  # type: ignore[unreachable]


@dataset_kernel("MatchingFilesDataset", "ExperimentalMatchingFilesDataset")
def matching_files_dataset(c: OpKernelConstruction) -> Compute:
    """The names of files that match patterns."""
    from tensorloom.framework.types import dtypes
    from tensorloom.framework.types.tensor_shape import TensorShape

    types, shapes = [dtypes.string], [TensorShape.of(())]

    def compute(patterns: Any) -> Dataset:
        from tensorloom.storage.files import filesystem

        found = sorted(
            {name for p in file_names(patterns) for name in filesystem.glob(p)}
        )
        if not found:
            return _NoFiles(types, shapes)

        def opens(name: str) -> Callable[[], list[bytes]]:
            pending = [[os.fsencode(name)]]
            return lambda: pending.pop() if pending else []

        return RecordDataset(types, shapes, found, opens)

    return compute
