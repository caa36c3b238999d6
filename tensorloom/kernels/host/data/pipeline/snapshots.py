"""Snapshots of pipelines: elements are written to files once, and read from then on.

The layout is that of TensorFlow 1.15. A directory has a folder for each pipeline, by
its fingerprint; the folder has `snapshot.metadata`, which names a run, and the run's
files `00000000.snapshot`, `00000001.snapshot`, ... A file is a row of records, each
behind its length in eight bytes: a message with the TensorProto of each component.
"""

from __future__ import annotations

import gzip
import os
import secrets
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.types import dtypes, tensor_proto
from tensorloom.framework.types.varint import decode_varint, encode_varint
from tensorloom.kernels.host.data.pipeline.dataset import (
    Dataset,
    DatasetIterator,
    Element,
    as_dataset,
    dataset_kernel,
)
from tensorloom.kernels.host.data.pipeline.dataset_graph import fingerprint
from tensorloom.kernels.host.data.pipeline.stored import Elements
from tensorloom.storage.files.file_errors import as_file_errors

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.kernels.host.data.pipeline.environment import Environment

_METADATA: Final = "snapshot.metadata"
_LENGTH: Final = struct.Struct("<Q")
# Fields of the metadata: the fingerprint, the run, the time, and whether all is there.
_HASH, _RUN, _TIME, _DONE = 1, 2, 3, 1000
_SMALLEST_SHARD: Final = 1 << 20
# What -1 stands for.
_DEFAULT_SHARD: Final = 10 << 30
_DEFAULT_EXPIRY_S: Final = 86_400


@dataclass(frozen=True, slots=True)
class _Options:
    """The attrs of the node."""

    compression: bytes
    reader_prefix: str
    writer_prefix: str
    shard_bytes: int
    #: After this many seconds a run that was not finished counts as given up.
    expiry_s: int


@dataclass(frozen=True, slots=True)
class _Metadata:
    """What `snapshot.metadata` says."""

    fingerprint: str
    run: str
    time_us: int
    is_done: bool = False

    def encode(self) -> bytes:
        """The file's bytes."""
        content = b"".join(
            [
                _field(_HASH, self.fingerprint.encode()),
                _field(_RUN, self.run.encode()),
                encode_varint(_TIME << 3) + encode_varint(self.time_us),
                encode_varint(_DONE << 3) + b"\x01" if self.is_done else b"",
            ]
        )
        return _LENGTH.pack(len(content)) + content

    @staticmethod
    def read(folder: str) -> _Metadata | None:
        """None where there is no file.

        Raises:
          errors.DataLossError: it is malformed.
        """
        try:
            with open(os.path.join(folder, _METADATA), "rb") as file:
                content = file.read()[_LENGTH.size :]
        except FileNotFoundError:
            return None
        try:
            fields = dict(_fields(content))
            return _Metadata(
                fields[_HASH].decode(),
                fields[_RUN].decode(),
                fields.get(_TIME, 0),
                bool(fields.get(_DONE)),
            )
        except (IndexError, ValueError, KeyError, AttributeError):
            message = f"{folder}/{_METADATA} is malformed"
            raise errors.DataLossError(None, None, message) from None

    def write(self, folder: str) -> None:
        """Writes beside the final name, then renames: a reader sees all or nothing."""
        name = os.path.join(folder, _METADATA)
        temporary = f"{name}.tmp{os.getpid()}"
        with open(temporary, "wb") as file:
            file.write(self.encode())
        os.replace(temporary, name)


def _field(number: int, value: bytes) -> bytes:
    return encode_varint(number << 3 | 2) + encode_varint(len(value)) + value


def _fields(content: bytes) -> Iterator[tuple[int, Any]]:
    position = 0
    while position < len(content):
        tag, position = decode_varint(content, position)
        value: Any
        value, position = decode_varint(content, position)
        if tag & 7 == 2:
            end = position + value
            value, position = content[position:end], end
        yield tag >> 3, value


class _Writer:
    """The files of a run, one after the other."""

    def __init__(self, folder: str, options: _Options, types: Any) -> None:
        self._folder, self._options, self._types = folder, options, types
        self._count = self._bytes = 0
        self._file: Any = None
        with as_file_errors(folder):
            os.makedirs(folder, exist_ok=True)

    def write(self, element: Element) -> None:
        """Adds an element; a file that is full is the last to have it."""
        if self._file is None:
            name = os.path.join(self._folder, f"{self._count:08d}.snapshot")
            self._file = _open(name, "wb", self._options.compression)
            self._count += 1
        parts = []
        for value, dtype in zip(element, self._types, strict=True):
            array = np.asarray(value)
            parts.append(_field(1, _content(array, dtype)))
            self._bytes += array.nbytes
        record = b"".join(parts)
        self._file.write(_LENGTH.pack(len(record)) + record)
        if self._bytes > self._options.shard_bytes:
            self.close()

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close()
        self._file, self._bytes = None, 0


def _content(array: np.ndarray[Any, Any], dtype: DType) -> bytes:
    """A serialized TensorProto with the raw bytes, even of few and of strings."""
    if dtype == dtypes.string:
        texts = [bytes(text) for text in array.ravel().tolist()]
        content = b"".join(encode_varint(len(text)) for text in texts) + b"".join(texts)
    elif dtype.is_numpy_compatible:
        content = array.tobytes()
    else:
        whole = tensor_proto.encode_tensor(array, dtype)
        return bytes(whole.SerializeToString())
    from tensorloom.protos.tensor_pb2 import TensorProto

    header: Any = TensorProto()
    header.dtype = dtype.as_datatype_enum
    header.tensor_shape.SetInParent()
    for size in array.shape:
        header.tensor_shape.dim.add().size = size
    header.tensor_content = content
    return bytes(header.SerializeToString())


def _open(name: str, mode: str, compression: bytes) -> BinaryIO:
    with as_file_errors(name):
        if compression == b"GZIP":
            return gzip.open(name, mode)  # type: ignore[return-value]
        return open(name, mode)  # type: ignore[return-value]


class _SnapshotDataset(Dataset):
    """Elements that are written, read, or handed on while another one writes."""

    def __init__(self, source: Dataset, path: str, options: _Options) -> None:
        super().__init__(source.types, source.shapes, source)
        self._options = options
        self._path = path

    @property
    def cardinality(self) -> int:
        return self.inputs[0].cardinality

    def iterate(self, env: Environment) -> DatasetIterator:
        return Elements(self._elements(env))

    def _elements(self, env: Environment) -> Iterator[Element]:
        """Decides with the first element, as TensorFlow does."""
        mark = fingerprint(self.inputs[0])
        folder = os.path.join(self._path, mark)
        found = _Metadata.read(folder)
        now_us = time.time_ns() // 1000
        if found is not None and found.is_done:
            yield from self._read(_joined(self._options.reader_prefix, folder), found)
        elif (
            found is not None
            and found.time_us + self._options.expiry_s * 1_000_000 >= now_us
        ):
            yield from self.inputs[0].iterate(env)
        else:
            with as_file_errors(folder):
                os.makedirs(folder, exist_ok=True)
            metadata = _Metadata(mark, secrets.token_hex(8), now_us)
            metadata.write(folder)
            yield from self._written(env, folder, metadata)

    def _written(
        self, env: Environment, folder: str, metadata: _Metadata
    ) -> Iterator[Element]:
        place = _joined(self._options.writer_prefix, folder)
        place = os.path.join(place, metadata.run)
        writer = _Writer(place, self._options, self.types)
        try:
            for element in self.inputs[0].iterate(env):
                writer.write(element)
                yield element
        finally:
            writer.close()
        _Metadata(metadata.fingerprint, metadata.run, metadata.time_us, True).write(
            folder
        )

    def _read(self, folder: str, metadata: _Metadata) -> Iterator[Element]:
        run = os.path.join(folder, metadata.run)
        with as_file_errors(run):
            names = sorted(os.listdir(run))
        for name in names:
            path = os.path.join(run, name)
            with _open(path, "rb", self._options.compression) as file:
                while length := file.read(_LENGTH.size):
                    yield _element(file, length, path)


def _element(file: BinaryIO, length: bytes, path: str) -> Element:
    from tensorloom.protos.tensor_pb2 import TensorProto

    if len(length) == _LENGTH.size:
        (size,) = _LENGTH.unpack(length)
        record = file.read(size)
        if len(record) == size:
            return tuple(
                tensor_proto.decode_tensor(TensorProto.FromString(value))
                for _, value in _fields(record)
            )
    raise errors.DataLossError(None, None, f"{path} ends within an element")


def _given(value: int, default: int) -> int:
    return default if value == -1 else value


def _joined(prefix: str, path: str) -> str:
    return os.path.join(prefix, path.lstrip("/")) if prefix else path


@dataset_kernel("SnapshotDataset")
def snapshot_dataset(c: OpKernelConstruction) -> Compute:
    """A snapshot in a directory of its pipeline."""
    options = _Options(
        c["compression"],
        c["reader_path_prefix"].decode(),
        c["writer_path_prefix"].decode(),
        _given(c["shard_size_bytes"], _DEFAULT_SHARD),
        _given(c["pending_snapshot_expiry_seconds"], _DEFAULT_EXPIRY_S),
    )
    if options.compression not in (b"", b"GZIP"):
        raise invalid_argument("compression must be either '' or 'GZIP'.")
    if options.shard_bytes < _SMALLEST_SHARD:
        raise invalid_argument("shard_size_bytes must be at least 1 MiB.")
    if options.expiry_s < 1:
        raise invalid_argument(
            "pending_snapshot_expiry_seconds must be at least 1 second."
        )
    return lambda source, path: _SnapshotDataset(
        as_dataset(source), path[()].decode(), options
    )
