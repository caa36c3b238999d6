"""TensorFlow's old checkpoints (version 1): one table for each shard, data inside.

The entry of the empty key tells names, shapes, dtypes and slices; every slice has an
entry under its encoded key, whose values are in the typed fields of a TensorProto.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.types import dtypes
from tensorloom.storage.checkpoints import slices
from tensorloom.storage.checkpoints.bundle_reader import Empty, empty_array
from tensorloom.storage.checkpoints.bundle_strings import as_bytes, key_text
from tensorloom.storage.files import filesystem
from tensorloom.storage.files.file_errors import data_loss, file_error
from tensorloom.storage.tables.table_reader import TableReader
from tensorloom.storage.tables.table_writer import TableWriter

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.storage.checkpoints.slices import Shape, Slice

# The field of a TensorProto that holds the values of a dtype, and the dtype in it.
_FIELDS: dict[str, tuple[str, Any]] = {
    "float32": ("float_val", np.float32),
    "float64": ("double_val", np.float64),
    "int64": ("int64_val", np.int64),
    "bool": ("bool_val", np.bool_),
    "float16": ("half_val", np.uint16),
    "complex64": ("scomplex_val", np.float32),
    "complex128": ("dcomplex_val", np.float64),
    **{
        name: ("int_val", np.int32)
        for name in (
            *("int32", "int16", "int8", "uint16", "uint8"),
            *("qint8", "quint8", "qint16", "quint16", "qint32"),
        )
    },
}


@dataclass(slots=True)
class _Stored:
    """What the tables say of one tensor."""

    dtype: DType
    shape: Shape
    parts: list[tuple[Slice, TableReader, str]] = field(default_factory=list)


class CheckpointReaderV1:
    """Reads the shards of an old checkpoint.

    Args:
      pattern: the file, or what matches those of all shards.

    Raises:
      NotFoundError: there is no such file.
      DataLossError: one is damaged, is no checkpoint, or cannot be read.
    """

    def __init__(self, pattern: str) -> None:
        self.prefix = pattern
        self._tensors: dict[bytes, _Stored] = {}
        self._tables: list[TableReader] = []
        try:
            for path in filesystem.glob(pattern):
                self._open(path)
        except BaseException:
            self.close()
            raise
        if not self._tables:
            raise errors.NotFoundError(
                None,
                None,
                "Unsuccessful TensorSliceReader constructor: "
                f"Failed to find any matching files for {pattern}",
            )

    def _open(self, path: str) -> None:
        from google.protobuf.message import DecodeError

        from tensorloom.protos import saved_tensor_slice_pb2

        try:
            table = TableReader(path, whole=False)
        except errors.OpError as error:
            # As in TensorFlow, a directory, what cannot be read, and any other file.
            raise errors.DataLossError(
                None,
                None,
                f"Unable to open table file {path}: {error.message}: perhaps it is of "
                "another format and needs another way to restore it",
            ) from None
        self._tables.append(table)
        message = saved_tensor_slice_pb2.SavedTensorSlices()
        try:
            message.ParseFromString(table.get(b""))
        except (errors.NotFoundError, DecodeError):
            raise data_loss(
                path, None, "Failed to find or parse the metadata of the checkpoint"
            ) from None
        for meta in message.meta.tensor:
            self._add(table, path, meta)

    def _add(self, table: TableReader, path: str, meta: Any) -> None:
        shape = tuple([dim.size for dim in meta.shape.dim])
        try:
            dtype = dtypes.as_dtype(meta.type)
            if min(shape, default=0) < 0 or len(shape) > 254:
                raise ValueError("negative size")
            parts = [slices.from_proto(one, shape) for one in meta.slice]
        except (TypeError, ValueError) as error:
            raise data_loss(
                path, None, f"Invalid metadata of tensor {meta.name}: {error}"
            ) from None
        name = meta.name.encode()
        stored = self._tensors.setdefault(name, _Stored(dtype, shape))
        if stored.dtype != dtype or stored.shape != shape:
            raise data_loss(
                path, None, f"Shards tell different shapes or dtypes of {meta.name}"
            )
        stored.parts.extend((part, table, path) for part in parts)

    def __enter__(self) -> CheckpointReaderV1:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the files."""
        for table in self._tables:
            table.close()

    @property
    def names(self) -> list[bytes]:
        """The names of the tensors, in order."""
        return sorted(self._tensors)

    def texts(self) -> list[str]:
        """The names as text."""
        return [key_text(name) for name in self.names]

    def __contains__(self, key: bytes) -> bool:
        return key in self._tensors

    def _stored(self, key: bytes) -> _Stored:
        stored = self._tensors.get(key)
        if stored is None:
            raise errors.NotFoundError(
                None,
                None,
                f'Tensor name "{key_text(key)}" not found in checkpoint files '
                f"{self.prefix}",
            )
        return stored

    def part_count(self, key: bytes) -> int:
        """How many slices a tensor was saved in."""
        return len(self._stored(key).parts)

    def dtype(self, key: bytes) -> DType:
        """A tensor's dtype."""
        return self._stored(key).dtype

    def shape(self, key: bytes) -> Shape:
        """A tensor's shape."""
        return self._stored(key).shape

    def shapes(self) -> dict[bytes, Shape]:
        """The shape of every tensor, in the order of `names`."""
        return {name: self._tensors[name].shape for name in self.names}

    def shape_lists(self) -> list[list[int]]:
        """The shapes in the order of `names`, each as a list of its own."""
        return [list(self._tensors[name].shape) for name in self.names]

    def dtypes(self) -> dict[bytes, DType]:
        """The dtype of every tensor, in the order of `names`."""
        return {name: self._tensors[name].dtype for name in self.names}

    def read_later(
        self, key: bytes, part: Slice | None = None, empty: Empty = empty_array
    ) -> Callable[[], Any]:
        """What gives a tensor, or a slice of it, in an array that `empty` makes."""
        self._stored(key)
        return lambda: self.read(key, part, empty)

    def read(
        self, key: bytes, part: Slice | None = None, empty: Empty = empty_array
    ) -> Any:
        """A tensor, or a slice of it, in an array that `empty` makes."""
        stored = self._stored(key)
        shape = stored.shape
        wanted = slices.bounds(part or slices.whole(shape), shape)
        found = []
        for raw, table, path in stored.parts:
            have = slices.bounds(raw, shape)
            common = slices.overlap(have, wanted)
            if common is not None or not math.prod(slices.size_of(have)):
                found.append((raw, have, common or have, table, path))
        # The values come first: they tell that the file holds what it says.
        values = [self._value(key, stored, *one) for one in found]
        slices.check_cover(key_text(key), self.prefix, wanted, [x[2] for x in found])
        result = empty(slices.size_of(wanted), stored.dtype)
        for (_, have, common, _, _), value in zip(found, values, strict=True):
            if value.size:
                result[slices.index_of(common, wanted)] = value[
                    slices.index_of(common, have)
                ]
        return result

    def _value(
        self,
        key: bytes,
        stored: _Stored,
        raw: Slice,
        have: Slice,
        common: Slice,
        table: TableReader,
        path: str,
    ) -> Any:
        from google.protobuf.message import DecodeError

        from tensorloom.protos import saved_tensor_slice_pb2

        message = saved_tensor_slice_pb2.SavedTensorSlices()
        try:
            message.ParseFromString(table.get(slices.slice_key(key, raw)))
        except (errors.NotFoundError, DecodeError):
            raise data_loss(
                path, None, f"No data of tensor {key_text(key)} in checkpoint"
            ) from None
        values = _from_proto(message.data.data, stored.dtype)
        size = slices.size_of(have)
        if values.size != math.prod(size):
            raise data_loss(
                path,
                None,
                f"Tensor {key_text(key)} has {values.size} values instead of "
                f"{math.prod(size)}",
            )
        return values.reshape(size)


def _from_proto(proto: Any, dtype: DType) -> Any:
    if dtype == dtypes.string:
        result = np.empty(len(proto.string_val), object)
        result[:] = list(proto.string_val)
        return result
    if dtype.name not in _FIELDS:
        raise errors.UnimplementedError(
            None, None, f"Restoring data type {dtype.name} not yet supported"
        )
    name, kind = _FIELDS[dtype.name]
    flat = np.array(getattr(proto, name), np.int64 if name == "half_val" else kind)
    if name == "half_val":
        return flat.astype(np.uint16).view(np.float16)
    if name.endswith("complex_val"):
        if flat.size % 2:
            return flat[:0]
        return flat.view(dtype.as_numpy_dtype)
    return flat.astype(dtypes.memory_dtype(dtype), copy=False)


def _fill_proto(proto: Any, dtype: DType, value: Any) -> None:
    flat = np.asarray(value).reshape(-1)
    if dtype == dtypes.string:
        proto.string_val.extend(as_bytes(flat.tolist()))
        return
    if dtype.name not in _FIELDS:
        raise errors.UnimplementedError(
            None, None, f"Saving data type {dtype.name} not yet supported"
        )
    name, kind = _FIELDS[dtype.name]
    flat = np.ascontiguousarray(flat)
    if name == "half_val" or name.endswith("complex_val"):
        flat = flat.view(kind)
    getattr(proto, name).extend(flat.tolist())


class CheckpointWriterV1:
    """Writes one shard of an old checkpoint; it appears whole on `finish`."""

    def __init__(self, path: str) -> None:
        from tensorloom.protos import saved_tensor_slice_pb2

        self._path = path
        self._header = saved_tensor_slice_pb2.SavedTensorSlices()
        self._header.meta.versions.producer = 1
        self._metas: dict[bytes, Any] = {}
        self._rows: dict[bytes, bytes] = {}

    def add(
        self,
        key: bytes,
        dtype: DType,
        value: Any,
        shape: Shape | None = None,
        part: Slice | None = None,
    ) -> None:
        """Adds a tensor, or a slice of one of a shape.

        Raises:
          InvalidArgumentError: it was added before, or with another shape or dtype.
        """
        from tensorloom.protos import saved_tensor_slice_pb2

        if shape is None:
            shape = np.shape(value)
        if part is None or slices.bounds(part, shape) == slices.whole(shape):
            part = tuple((0, -1) for _ in shape)
        row_key = slices.slice_key(key, part)
        if row_key in self._rows:
            raise invalid_argument(f"Adding duplicate key: {key_text(key)}")
        slices.to_proto(part, self._meta(key, dtype, shape).slice.add())
        row = saved_tensor_slice_pb2.SavedTensorSlices()
        row.data.name = key_text(key)
        slices.to_proto(part, row.data.slice)
        _fill_proto(row.data.data, dtype, value)
        self._rows[row_key] = row.SerializeToString()

    def _meta(self, key: bytes, dtype: DType, shape: Shape) -> Any:
        meta = self._metas.get(key)
        if meta is None:
            meta = self._metas[key] = self._header.meta.tensor.add()
            meta.name = key_text(key)
            meta.type = dtype.as_datatype_enum  # type: ignore[assignment]
            meta.shape.SetInParent()
            for size in shape:
                meta.shape.dim.add(size=size)
        elif (
            tuple(dim.size for dim in meta.shape.dim) != shape
            or meta.type != dtype.as_datatype_enum
        ):
            raise invalid_argument(
                f"Slices of {key_text(key)} have different dtypes or shapes"
            )
        return meta

    def finish(self) -> None:
        """Writes the file."""
        with filesystem.open_writer(self._path) as file:
            try:
                table = TableWriter(file)
                for key, row in self._all_rows():
                    table.add(key, row)
                table.finish()
            except OSError as error:
                raise file_error(self._path, error) from None

    def _all_rows(self) -> Iterator[tuple[bytes, bytes]]:
        yield b"", self._header.SerializeToString()
        yield from sorted(self._rows.items())
