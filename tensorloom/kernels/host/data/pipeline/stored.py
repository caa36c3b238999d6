"""Datasets saved to directories, and snapshots of them.

The layout is that of TensorFlow 2's `Dataset.save`: `snapshot.metadata` names a run,
`<run>/<shard>.shard/00000000.snapshot` is a file of records, and each record the
TensorProto of one component.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.types import tensor_proto
from tensorloom.framework.types.varint import decode_varint, encode_varint
from tensorloom.kernels.host.data.pipeline.dataset import (
    Dataset,
    DatasetIterator,
    Element,
    as_dataset,
    dataset_kernel,
    signature,
)
from tensorloom.kernels.host.data.pipeline.environment import (
    Cancellation,
    CapturedFunction,
    Environment,
    capture,
)
from tensorloom.kernels.host.data.pipeline.sources import ElementDataset
from tensorloom.storage.files.file_errors import as_file_errors

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import (
        Compute,
        OpKernelConstruction,
        OpKernelContext,
    )

_METADATA = "snapshot.metadata"
_FORMAT = 2
# Fields of the metadata: the name of the run, the time, the format, the dtypes, the
# number of elements, and whether all were written.
_RUN, _TIME, _VERSION, _DTYPES, _COUNT, _DONE = 2, 3, 4, 5, 6, 1000


# --- metadata ----------------------------------------------------------------


def _number(field: int, value: int) -> bytes:
    return encode_varint(field << 3) + encode_varint(value)


def _text(field: int, value: bytes) -> bytes:
    return encode_varint(field << 3 | 2) + encode_varint(len(value)) + value


def _encode_metadata(run: str, types: Sequence[Any], count: int, done: bool) -> bytes:
    enums = b"".join(encode_varint(t.as_datatype_enum) for t in types)
    return b"".join(
        [
            _text(_RUN, run.encode()),
            _number(_TIME, time.time_ns() // 1000),
            _number(_VERSION, _FORMAT),
            _text(_DTYPES, enums),
            _number(_COUNT, count),
            _number(_DONE, done),
        ]
    )


def _read_metadata(path: str) -> dict[int, Any] | None:
    """The fields by number; None where there is no file.

    Raises:
      errors.DataLossError: it is malformed.
    """
    try:
        with open(os.path.join(path, _METADATA), "rb") as file:
            content = file.read()
    except FileNotFoundError:
        return None
    fields: dict[int, Any] = {}
    position = 0
    try:
        while position < len(content):
            tag, position = decode_varint(content, position)
            value: Any
            value, position = decode_varint(content, position)
            if tag & 7 == 2:
                end = position + value
                value, position = content[position:end], end
            fields[tag >> 3] = value
    except (IndexError, ValueError):
        message = f"{path}/{_METADATA} is malformed"
        raise errors.DataLossError(None, None, message) from None
    return fields


def _write_metadata(path: str, content: bytes) -> None:
    """Writes beside the final name, then renames: a reader sees all or nothing."""
    name = os.path.join(path, _METADATA)
    temporary = f"{name}.tmp{os.getpid()}"
    with open(temporary, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, name)


# --- writing and reading -----------------------------------------------------


class _Writer:
    """One run of a directory: its shards, opened as elements come for them."""

    def __init__(self, path: str, compression: bytes, types: Sequence[Any]) -> None:
        if compression not in (b"", b"GZIP"):
            raise errors.UnimplementedError(
                None, None, f"no compression {compression.decode()!r}: use GZIP or none"
            )
        self._path, self._compression, self._types = path, compression, types
        self._run = str(random.getrandbits(63))
        self._files: dict[int, Any] = {}
        self._count = 0
        with as_file_errors(path):
            os.makedirs(os.path.join(path, self._run), exist_ok=True)
        _write_metadata(path, _encode_metadata(self._run, types, 0, done=False))

    def write(self, element: Element, shard: int = 0) -> None:
        """Adds an element to a shard."""
        file = self._files.get(shard) or self._open(shard)
        for value, dtype in zip(element, self._types, strict=True):
            proto = tensor_proto.encode_tensor(np.asarray(value), dtype)
            file.write(proto.SerializeToString())
        self._count += 1

    def _open(self, shard: int) -> Any:
        from tensorloom.storage.records.tfrecord import RecordWriter

        folder = os.path.join(self._path, self._run, f"{shard:08d}.shard")
        os.makedirs(folder, exist_ok=True)
        name = os.path.join(folder, "00000000.snapshot")
        self._files[shard] = RecordWriter(name, self._compression)
        return self._files[shard]

    def finish(self) -> None:
        """Closes the files and says that all is there."""
        for file in self._files.values():
            file.close()
        done = _encode_metadata(self._run, self._types, self._count, done=True)
        _write_metadata(self._path, done)


class _ShardDataset(Dataset):
    """The elements of the files of one shard."""

    def __init__(
        self, types: Any, shapes: Any, folder: str, compression: bytes
    ) -> None:
        super().__init__(types, shapes)
        self._folder, self._compression = folder, compression

    def iterate(self, env: Environment) -> DatasetIterator:
        return Elements(self._elements())

    def _elements(self) -> Iterator[Element]:
        from tensorloom.protos import tensor_pb2
        from tensorloom.storage.records.tfrecord import RecordReader

        width = len(self.types)
        for name in sorted(os.listdir(self._folder)):
            reader = RecordReader(
                os.path.join(self._folder, name), self._compression or b""
            )
            element: list[Any] = []
            for record in reader:
                proto = tensor_pb2.TensorProto.FromString(bytes(record))
                element.append(tensor_proto.decode_tensor(proto))
                if len(element) == width:
                    yield tuple(element)
                    element = []
            reader.close()
            if element:
                message = f"{self._folder}/{name} ends within an element"
                raise errors.DataLossError(None, None, message)


class Elements(DatasetIterator):
    """The elements of a generator."""

    def __init__(self, elements: Iterator[Element]) -> None:
        self._elements = elements

    def __next__(self) -> Element:
        return next(self._elements)


def _shards(types: Any, shapes: Any, path: str, compression: bytes) -> list[Dataset]:
    """The shards of a finished run.

    Raises:
      errors.NotFoundError: there is none.
    """
    metadata = _read_metadata(path)
    if metadata is None or not metadata.get(_DONE):
        message = f"Could not find metadata file [{path}/{_METADATA}]"
        raise errors.NotFoundError(None, None, message)
    if metadata.get(_VERSION) != _FORMAT:
        message = f"version {metadata.get(_VERSION)} of saved datasets is not known"
        raise errors.UnimplementedError(None, None, message)
    run = os.path.join(path, metadata[_RUN].decode())
    return [
        _ShardDataset(types, shapes, os.path.join(run, name), compression)
        for name in sorted(os.listdir(run))
    ]


class _Chain(Dataset):
    """Datasets one after the other."""

    def iterate(self, env: Environment) -> DatasetIterator:
        def elements() -> Iterator[Element]:
            for source in self.inputs:
                yield from source.iterate(env)

        return Elements(elements())


# --- save and load -----------------------------------------------------------


def _shard_of(function: CapturedFunction | None, env: Environment, e: Element) -> int:
    return 0 if function is None else int(function(env, e)[0])


@host_kernel("SaveDataset", devices=("CPU",), context=True, large=True)
def save_dataset(c: OpKernelConstruction) -> Compute:
    """Writes all elements."""
    captured = capture(c, "shard_func") if c["use_shard_func"] else None

    def compute(context: OpKernelContext, source: Any, path: Any, *args: Any) -> None:
        dataset, root = as_dataset(source), Cancellation()
        env = Environment(context, root)
        function = captured(args) if captured else None
        writer = _Writer(path[()].decode(), c["compression"], dataset.types)
        try:
            for element in dataset.iterate(env):
                writer.write(element, _shard_of(function, env, element))
                context.cancellation.check()
            writer.finish()
        finally:
            root.cancel()

    return compute


class _SavedDataset(Dataset):
    """The elements of another dataset, which are saved as they come."""

    def __init__(
        self, source: Dataset, path: str, compression: bytes, function: Any = None
    ) -> None:
        super().__init__(source.types, source.shapes, source)
        self._path, self._compression, self._function = path, compression, function

    @property
    def cardinality(self) -> int:
        return self.inputs[0].cardinality

    def iterate(self, env: Environment) -> DatasetIterator:
        def elements() -> Iterator[Element]:
            writer = _Writer(self._path, self._compression, self.types)
            for element in self.inputs[0].iterate(env):
                writer.write(element, _shard_of(self._function, env, element))
                yield element
            writer.finish()

        return Elements(elements())


@dataset_kernel("SaveDatasetV2", retains=("shard_func_other_args",))
def save_dataset_v2(c: OpKernelConstruction) -> Compute:
    """Elements that are saved as they come."""
    captured = capture(c, "shard_func") if c["use_shard_func"] else None

    def compute(source: Any, path: Any, *args: Any) -> Dataset:
        function = captured(args) if captured else None
        name = path[()].decode()
        return _SavedDataset(as_dataset(source), name, c["compression"], function)

    return compute


class _LoadedDataset(Dataset):
    """What a reader function makes of a dataset of shards."""

    def __init__(
        self, types: Any, shapes: Any, shards: list[Dataset], function: CapturedFunction
    ) -> None:
        super().__init__(types, shapes)
        self._shards, self._function = shards, function

    def iterate(self, env: Environment) -> DatasetIterator:
        nested = ElementDataset(self.types, self.shapes, [(s,) for s in self._shards])
        (made,) = self._function(env, (nested,))
        return as_dataset(made).iterate(env)


@dataset_kernel("LoadDataset", retains=("reader_func_other_args",))
def load_dataset(c: OpKernelConstruction) -> Compute:
    """A saved dataset."""
    types, shapes = signature(c)
    captured = capture(c, "reader_func")

    def compute(path: Any, *args: Any) -> Dataset:
        shards = _shards(types, shapes, path[()].decode(), c["compression"])
        return _LoadedDataset(types, shapes, shards, captured(args))

    return compute


# --- snapshots ---------------------------------------------------------------


def _signature_text(dataset: Dataset) -> str:
    """A pipeline's kinds and types: what names its snapshot within a directory."""
    inputs = ",".join(_signature_text(source) for source in dataset.inputs)
    types = ",".join(t.name for t in dataset.types)
    return f"{type(dataset).__name__}<{types}>({inputs})"


class _SnapshotDataset(Dataset):
    """The elements from files, once one pass over the source has written them."""

    def __init__(self, source: Dataset, path: str, compression: bytes) -> None:
        super().__init__(source.types, source.shapes, source)
        self._path, self._compression = path, compression

    @property
    def cardinality(self) -> int:
        return self.inputs[0].cardinality

    def iterate(self, env: Environment) -> DatasetIterator:
        metadata = _read_metadata(self._path)
        if metadata and metadata.get(_DONE):
            parts = _shards(self.types, self.shapes, self._path, self._compression)
            return _Chain(self.types, self.shapes, *parts).iterate(env)
        saved = _SavedDataset(self.inputs[0], self._path, self._compression)
        return saved.iterate(env)


@dataset_kernel(
    "SnapshotDatasetV2", retains=("reader_func_other_args", "shard_func_other_args")
)
def snapshot_dataset_v2(c: OpKernelConstruction) -> Compute:
    """A snapshot in a directory of its pipeline."""
    import zlib

    # Files of our own: a codec that is not here only changes how large they are.
    compression = b"GZIP" if c["compression"] == b"GZIP" else b""

    def compute(source: Any, path: Any, *_: Any) -> Dataset:
        dataset = as_dataset(source)
        name = f"{zlib.crc32(_signature_text(dataset).encode()):08x}"
        folder = os.path.join(path[()].decode(), name)
        return _SnapshotDataset(dataset, folder, compression)

    return compute
