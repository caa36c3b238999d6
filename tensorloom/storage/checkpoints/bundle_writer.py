"""Writing TensorFlow's tensor bundles (checkpoints, version 2)."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.object_arrays import as_object_array
from tensorloom.framework.types.varint import encode_varint
from tensorloom.storage.checkpoints import bundle_files, slices, variants
from tensorloom.storage.checkpoints.bundle_files import data_name
from tensorloom.storage.checkpoints.bundle_reader import BundleReader
from tensorloom.storage.checkpoints.bundle_strings import (
    as_bytes,
    key_text,
    length_bytes,
)
from tensorloom.storage.files import filesystem
from tensorloom.storage.files.file_errors import file_error
from tensorloom.storage.tables.crc32c import CHUNK, crc32c, mask

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.protos import tensor_bundle_pb2
    from tensorloom.storage.checkpoints.later_dtypes import LaterDType
    from tensorloom.storage.checkpoints.slices import Shape, Slice

_JOINED = 1 << 22  # bytes of strings that are copied together


def _string_chunks(array: Any) -> Iterator[tuple[bytes, bytes]]:
    """What is written for strings, and what is hashed for that."""
    items = as_bytes(array.reshape(-1).tolist())
    lengths = b"".join([length_bytes(len(x)) for x in items])
    yield b"".join([encode_varint(len(x)) for x in items]), lengths
    check = struct.pack("<I", mask(crc32c(lengths)))
    yield check, check
    if sum(map(len, items)) < _JOINED:
        items = [b"".join(items)]
    for item in items:
        yield item, item


def _chunks(array: Any) -> Iterator[tuple[Any, Any]]:
    if array.dtype == object:
        yield from _string_chunks(array)
        return
    if array.dtype.byteorder == ">" or (
        array.dtype.byteorder == "=" and not np.little_endian
    ):
        array = array.astype(array.dtype.newbyteorder("<"))
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    for at in range(0, flat.size, CHUNK):
        chunk = flat[at : at + CHUNK]
        yield chunk, chunk


def header_row(shards: int) -> bytes:
    """The entry of the empty key."""
    from tensorloom.protos import tensor_bundle_pb2

    header = tensor_bundle_pb2.BundleHeaderProto(num_shards=shards)
    header.version.producer = 1
    return header.SerializeToString()


def set_shape(entry: tensor_bundle_pb2.BundleEntryProto, shape: Iterable[int]) -> None:
    """Writes a shape into an entry."""
    entry.shape.SetInParent()
    for size in shape:
        entry.shape.dim.add(size=size)


class BundleWriter:
    """Writes one bundle of one shard. Nothing has its name before `finish`.

    Args:
      prefix: of the names of its files. Its directory is made, as TensorFlow does,
        if the one above it exists.
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._entries: dict[bytes, tensor_bundle_pb2.BundleEntryProto] = {}
        self._offset = 0
        self._name = data_name(prefix, 0, 1)
        directory = filesystem.parent(prefix)
        if directory and not filesystem.is_directory(directory):
            # What is wrong shows when the file is made.
            with contextlib.suppress(errors.AlreadyExistsError, errors.NotFoundError):
                filesystem.make_directory(directory)
        self._staged = filesystem.stage_file(self._name)

    def __enter__(self) -> BundleWriter:
        return self

    def __exit__(self, *exc: object) -> None:
        self._staged.discard()

    def expect(self, values: Iterable[Any]) -> None:
        """Tells, before the first is added, which arrays will be.

        Their room on the disk is then taken at once.
        """
        self._staged.reserve(sum([getattr(value, "nbytes", 0) for value in values]))

    def add(self, key: bytes, dtype: DType, value: Any) -> None:
        """Adds a whole tensor, or what stands under the key of a slice.

        Raises:
          InvalidArgumentError: the key was added before.
          UnimplementedError: a dtype that has no bytes.
        """
        if key in self._entries:
            raise invalid_argument(f"Adding duplicate key: {key_text(key)}")
        if dtype == dtypes.resource:
            raise errors.UnimplementedError(
                None,
                None,
                f"Saving tensors of type {dtype.name} is not supported "
                f"({key_text(key)})",
            )
        is_variant = dtype == dtypes.variant
        array = as_object_array(value) if is_variant else np.asarray(value)
        parts = variants.chunks(array) if is_variant else _chunks(array)
        self._append(key, dtype, array.shape, parts)

    def add_stored(
        self, key: bytes, dtype: LaterDType, shape: Shape, data: bytes
    ) -> None:
        """Adds a whole tensor of a dtype that does not exist here.

        Args:
          data: its bytes, as a `BundleReader` reads what is stored.
        """
        flat = np.frombuffer(data, np.uint8)
        self._append(key, dtype, shape, _chunks(flat))

    def _append(
        self,
        key: bytes,
        dtype: DType | LaterDType,
        shape: Shape,
        parts: Iterable[tuple[Any, Any]],
    ) -> None:
        from tensorloom.protos import tensor_bundle_pb2

        entry = tensor_bundle_pb2.BundleEntryProto(
            dtype=dtype.as_datatype_enum,  # type: ignore[arg-type]
            offset=self._offset,
        )
        set_shape(entry, shape)
        crc = size = 0
        try:
            for written, hashed in parts:
                crc = crc32c(hashed, crc)
                self._staged.append(written)
                size += len(written)
        except OSError as error:
            raise file_error(self._name, error) from None
        entry.size, entry.crc32c = size, mask(crc)
        self._offset += size
        self._entries[key] = entry

    def add_slice(
        self, key: bytes, dtype: DType, value: Any, shape: Shape, part: Slice
    ) -> None:
        """Adds a slice of a tensor of a shape."""
        from tensorloom.protos import tensor_bundle_pb2

        if slices.bounds(part, shape) == slices.whole(shape):
            self.add(key, dtype, value)
            return
        full = self._entries.get(key)
        if full is None:
            full = tensor_bundle_pb2.BundleEntryProto(
                dtype=dtype.as_datatype_enum  # type: ignore[arg-type]
            )
            set_shape(full, shape)
        elif (
            not full.slices
            or tuple(d.size for d in full.shape.dim) != shape
            or full.dtype != dtype.as_datatype_enum
        ):
            raise invalid_argument(f"Adding duplicate key: {key_text(key)}")
        self.add(slices.slice_key(key, part), dtype, value)
        self._entries[key] = full
        slices.to_proto(part, full.slices.add())

    def finish(self) -> None:
        """Makes the files what their names say: data first, index last."""
        rows = {k: e.SerializeToString() for k, e in self._entries.items()}
        rows[b""] = header_row(1)
        self._staged.seal()
        index = bundle_files.stage_index(self._prefix, rows)
        try:
            bundle_files.publish(
                self._prefix, [(self._name, self._staged.publish)], index
            )
        except BaseException:
            index.discard()
            raise


def merge_bundles(prefixes: Sequence[str], destination: str) -> None:
    """Makes one bundle of several; theirs are gone afterwards.

    Raises:
      InvalidArgumentError: a tensor, or slices with another dtype or shape, are in two.
    """
    entries: dict[bytes, tensor_bundle_pb2.BundleEntryProto] = {}
    shards: dict[str, int] = {}
    for prefix in prefixes:
        reader = BundleReader(prefix)
        for key in reader.keys:
            entry = reader.entry(key)
            earlier = entries.get(key)
            if earlier is None:
                name = data_name(prefix, entry.shard_id, reader.shards)
                entry.shard_id = shards.setdefault(name, len(shards))
                entries[key] = entry
            else:
                _merge_slices(key, earlier, entry, prefix)
    _move_into_place(destination, entries, shards)
    for prefix in prefixes:
        if prefix != destination:
            filesystem.remove_if_exists(bundle_files.index_name(prefix))


def _merge_slices(key: bytes, earlier: Any, entry: Any, prefix: str) -> None:
    if not (earlier.slices and entry.slices):
        raise invalid_argument(
            f"Duplicate tensor keyed by {key_text(key)} encountered, "
            f"when merging prefix: {prefix}"
        )
    if earlier.dtype != entry.dtype or earlier.shape != entry.shape:
        raise invalid_argument(
            f"Slices of {key_text(key)} have different dtypes or shapes, "
            f"when merging prefix: {prefix}"
        )
    earlier.slices.extend(entry.slices)


def _move_into_place(
    destination: str,
    entries: dict[bytes, tensor_bundle_pb2.BundleEntryProto],
    shards: dict[str, int],
) -> None:
    rows = {k: e.SerializeToString() for k, e in entries.items()}
    rows[b""] = header_row(len(shards))

    def mover(name: str, final: str) -> Any:
        return lambda: filesystem.rename(name, final)

    moves = []
    for name, shard in shards.items():
        final = data_name(destination, shard, len(shards))
        moves.append((final, mover(name, final)))
    index = bundle_files.stage_index(destination, rows)
    try:
        bundle_files.publish(destination, moves, index)
    except BaseException:
        index.discard()
        raise
