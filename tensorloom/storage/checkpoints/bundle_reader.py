"""Reading TensorFlow's tensor bundles (checkpoints, version 2).

A bundle is `PREFIX.index`, a table of protos by tensor name, and the shards
`PREFIX.data-00000-of-00001` with the bytes. Nothing in the files is believed: sizes
are checked before memory is asked for, checksums on every read.
"""

from __future__ import annotations

import functools
import itertools
import math
import struct
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.varint import decode_varint
from tensorloom.storage.checkpoints import bundle_entries, slices, variants
from tensorloom.storage.checkpoints.bundle_files import data_name, index_name, kept_name
from tensorloom.storage.checkpoints.bundle_strings import key_text, length_bytes
from tensorloom.storage.checkpoints.later_dtypes import LaterDType, later_dtype
from tensorloom.storage.files import filesystem
from tensorloom.storage.files.file_errors import data_loss
from tensorloom.storage.files.shard_file import ShardFile
from tensorloom.storage.tables.crc32c import crc32c, mask, masked_crc32c
from tensorloom.storage.tables.table_reader import TableReader

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.protos import tensor_bundle_pb2
    from tensorloom.storage.checkpoints.slices import Shape, Slice
    from tensorloom.storage.tables.table_block import Block

T = TypeVar("T")

# What makes an array of a shape and dtype, with any contents.
Empty = Callable[[tuple[int, ...], Any], Any]

_MAX_RANK = 254  # TensorFlow's

_HEADER = b""  # its key
_NAMES = b"\1"  # from here on keys are names: slices have keys with a 0 before


def empty_array(shape: Shape, dtype: DType) -> Any:
    """An array in NumPy's memory."""
    return np.empty(shape, dtypes.memory_dtype(dtype))


class BundleReader:
    """Reads a bundle.

    Raises:
      NotFoundError: there is no index.
      DataLossError: the index is damaged.
      UnimplementedError: the bundle was written on a big-endian machine.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self._index = index_name(prefix)
        self._table = TableReader(self._index)
        self._files: dict[int, ShardFile] = {}
        self._blocks = list(self._table.blocks())
        self._header = self._read_header()

    @functools.cached_property
    def _keys(self) -> list[bytes]:
        """All keys but that of the header, which comes first."""
        return list(itertools.chain(*[block.keys for block in self._blocks]))[1:]

    @functools.cached_property
    def _rows(self) -> dict[bytes, bytes]:
        """The values by their keys."""
        rows: dict[bytes, bytes] = {}
        for block in self._blocks:
            rows.update(zip(block.keys, block.values, strict=True))
        del rows[_HEADER]
        return rows

    def _read_header(self) -> tensor_bundle_pb2.BundleHeaderProto:
        """The header, whose key is empty."""
        from tensorloom.protos import tensor_bundle_pb2

        if not self._blocks or self._blocks[0].key(0) != _HEADER:
            raise data_loss(self._index, None, "Unable to read header")
        header = tensor_bundle_pb2.BundleHeaderProto()
        self._parse(header, self._blocks[0].value(0))
        if header.endianness:
            raise errors.UnimplementedError(
                None,
                None,
                "Reading a bundle with different endianness from the reader is not "
                f"supported ({self._index})",
            )
        if header.num_shards < 0:
            raise data_loss(
                self._index, None, f"Invalid number of shards: {header.num_shards}"
            )
        if header.version.min_consumer > 1:
            raise invalid_argument(
                f"Checkpoint min consumer version {header.version.min_consumer} above "
                f"current version 1 ({self._index})"
            )
        return header

    def __enter__(self) -> BundleReader:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the files."""
        self._table.close()
        for file in self._files.values():
            file.close()
        self._files.clear()

    def is_replaced(self) -> bool:
        """Whether the bundle is replaced by now: its shards may be those of another."""
        try:
            for number, file in self._files.items():
                kept = kept_name(self._data_name(number), self._table.data)
                if file.path != kept and filesystem.exists(kept):
                    return True
            return filesystem.read_file(self._index) != self._table.data
        except errors.OpError:
            return True

    # --- the index -------------------------------------------------------------------

    def _parse(self, message: Any, data: bytes) -> None:
        from google.protobuf.message import DecodeError

        try:
            message.ParseFromString(data)
        except DecodeError:
            raise data_loss(self._index, None, "Corrupt entry") from None

    @property
    def shards(self) -> int:
        """How many shards there are."""
        return self._header.num_shards

    @property
    def keys(self) -> Sequence[bytes]:
        """All keys, those of slices too, in order."""
        return self._keys

    @property
    def names(self) -> list[bytes]:
        """The names of the tensors, in order."""
        return self._keys[bisect_left(self._keys, _NAMES) :]

    def texts(self) -> list[str]:
        """The names as text."""
        found: list[str] = []
        for block in self._blocks:
            texts = block.texts()
            if texts is None:
                return [key_text(name) for name in self.names]
            found += texts
        return found

    def __contains__(self, key: bytes) -> bool:
        return key in self._rows

    def entry(self, key: bytes) -> tensor_bundle_pb2.BundleEntryProto:
        """What the index says of a key. Raises NotFoundError."""
        data = self._rows.get(key)
        if data is None:
            raise errors.NotFoundError(
                None, None, f"Key {key_text(key)} not found in checkpoint"
            )
        return self._parsed(data)

    def _parsed(self, data: bytes) -> tensor_bundle_pb2.BundleEntryProto:
        from tensorloom.protos import tensor_bundle_pb2

        entry = tensor_bundle_pb2.BundleEntryProto()
        self._parse(entry, data)
        return entry

    def dtype(self, key: bytes) -> DType:
        """A tensor's dtype."""
        return self._dtype(self.entry(key).dtype)

    def stored_dtype(self, key: bytes) -> DType | LaterDType:
        """A tensor's dtype, though it may not exist here."""
        return self._stored_dtype(self.entry(key).dtype)

    def _dtype(self, number: int) -> DType:
        found = self._stored_dtype(number)
        if isinstance(found, LaterDType):
            raise errors.UnimplementedError(
                None,
                None,
                f"{self._index}: a tensor has dtype {found.name} of TensorFlow 2, "
                "which does not exist here; the other tensors can be read",
            )
        return found

    def _stored_dtype(self, number: int) -> DType | LaterDType:
        later = later_dtype(number)
        if later is not None:
            return later
        try:
            return dtypes.as_dtype(number)
        except TypeError:
            raise data_loss(
                self._index, None, f"Invalid dtype {number} in checkpoint"
            ) from None

    def shape(self, key: bytes) -> Shape:
        """A tensor's shape."""
        return self._shape(self.entry(key))

    def _shape(self, entry: tensor_bundle_pb2.BundleEntryProto) -> Shape:
        shape = tuple([dim.size for dim in entry.shape.dim])
        if (
            entry.shape.unknown_rank
            or len(shape) > _MAX_RANK
            or min(shape, default=0) < 0
        ):
            raise data_loss(
                self._index, None, f"Invalid tensor shape: {slices.shape_text(shape)}"
            )
        return shape

    def shapes(self) -> dict[bytes, Shape]:
        """The shape of every tensor, in the order of `names`."""
        return dict(zip(self.names, map(tuple, self.shape_lists()), strict=True))

    def shape_lists(self) -> list[list[int]]:
        """The shapes in the order of `names`, each as a list of its own."""
        return self._facts(
            bundle_entries.shape_lists, lambda entry: list(self._shape(entry))
        )

    def dtypes(self) -> dict[bytes, DType | LaterDType]:
        """The dtypes in the order of `names`, though some may not exist here."""
        numbers = self._facts(bundle_entries.dtype_numbers, lambda entry: entry.dtype)
        known = {number: self._stored_dtype(number) for number in set(numbers)}
        return dict(zip(self.names, map(known.__getitem__, numbers), strict=True))

    def _facts(
        self,
        at_once: Callable[[Block, int], list[T] | None],
        fact: Callable[[Any], T],
    ) -> list[T]:
        """What the entries say, of each tensor.

        Args:
          at_once: reads it from a block, from an entry on, if these are simple.
          fact: reads it from an entry.
        """
        found: list[T] = []
        for block in self._blocks:
            first = block.first_from(_NAMES)
            facts = at_once(block, first)
            if facts is None:
                facts = [fact(self._parsed(value)) for value in block.values[first:]]
            found += facts
        return found

    # --- values ----------------------------------------------------------------------

    def read(self, key: bytes, part: Slice | None = None) -> Any:
        """A tensor, or a slice of it.

        Raises:
          NotFoundError: no tensor has that name, or a shard is missing.
          DataLossError: a checksum or size is wrong.
        """
        return self.read_later(key, part)()

    def read_later(
        self, key: bytes, part: Slice | None = None, empty: Empty = empty_array
    ) -> Callable[[], Any]:
        """Begins to read a tensor, or a slice of it; what is returned gives it.

        Args:
          empty: makes the array that is filled, of a shape and dtype.
        """
        entry = self.entry(key)
        shape = self._shape(entry)
        whole = slices.whole(shape)
        wanted = whole if part is None else slices.bounds(part, shape)
        if entry.slices:
            return lambda: self._read_slices(key, entry, wanted, empty)
        value = self._read_entry(key, entry, empty)
        if wanted == whole:
            return value
        return lambda: value()[slices.index_of(wanted, whole)].copy()

    def read_stored(self, key: bytes) -> tuple[Shape, bytes]:
        """Shape and bytes of a whole tensor of a dtype that does not exist here.

        Raises:
          DataLossError: the checksum or the size is wrong.
          UnimplementedError: it is stored in slices.
        """
        entry = self.entry(key)
        if entry.slices:
            self._dtype(entry.dtype)
        file = self._located(key, entry)
        data = file.read(entry.offset, entry.size)
        crc = masked_crc32c(data)
        if crc != entry.crc32c:
            raise _mismatch(key, file, entry, entry.crc32c, crc)
        return self._shape(entry), data

    def _stored_slices(self, key: bytes, entry: Any, shape: Shape) -> Iterator[Slice]:
        for proto in entry.slices:
            try:
                yield slices.from_proto(proto, shape)
            except ValueError as error:
                raise data_loss(
                    self._index, None, f"Invalid slice of {key_text(key)}: {error}"
                ) from None

    def _read_slices(self, key: bytes, entry: Any, wanted: Slice, empty: Empty) -> Any:
        shape, dtype = self._shape(entry), self._dtype(entry.dtype)
        found: list[tuple[Slice, Slice, bytes]] = []
        for raw in self._stored_slices(key, entry, shape):
            stored = slices.bounds(raw, shape)
            common = slices.overlap(stored, wanted)
            if common is not None:
                found.append((stored, common, slices.slice_key(key, raw)))
        for stored, _, name in found:
            one = self.entry(name)
            if one.dtype != entry.dtype or self._shape(one) != slices.size_of(stored):
                raise data_loss(
                    self._index,
                    None,
                    f"Slice of {key_text(key)} has another dtype or shape",
                )
            self._check(name, one)
        slices.check_cover(key_text(key), self._index, wanted, [c for _, c, _ in found])
        result = empty(slices.size_of(wanted), dtype)
        for stored, common, name in found:
            value = self._read_entry(name, self.entry(name))()
            result[slices.index_of(common, wanted)] = value[
                slices.index_of(common, stored)
            ]
        return result

    def _data_name(self, shard: int) -> str:
        return data_name(self.prefix, shard, self.shards)

    def _shard(self, number: int) -> ShardFile:
        file = self._files.get(number)
        if file is None:
            if not 0 <= number < max(self.shards, 1):
                raise data_loss(self._index, None, f"Invalid shard number {number}")
            name = self._data_name(number)
            kept = kept_name(name, self._table.data)
            if filesystem.exists(kept):
                name = kept
            file = self._files[number] = ShardFile(name)
        return file

    def _check(
        self, key: bytes, entry: tensor_bundle_pb2.BundleEntryProto
    ) -> ShardFile:
        """The file of an entry whose bytes are all there."""
        dtype = self._dtype(entry.dtype)
        if dtype == dtypes.resource:
            raise errors.UnimplementedError(
                None,
                None,
                f"Restoring tensors of type {dtype.name} is not supported "
                f"({key_text(key)})",
            )
        file = self._shard(entry.shard_id)
        count = math.prod(self._shape(entry))
        varies = dtype in (dtypes.string, dtypes.variant)
        if dtype == dtypes.variant:
            expected = 5 * count
        else:
            expected = count + 4 if varies else count * dtype.size
        if entry.size < expected or (entry.size != expected and not varies):
            raise data_loss(
                file.path,
                entry.offset,
                f"Invalid size in bundle entry: key {key_text(key)}; stored size "
                f"{entry.size}; expected size {expected}",
            )
        return self._located(key, entry)

    def _located(
        self, key: bytes, entry: tensor_bundle_pb2.BundleEntryProto
    ) -> ShardFile:
        """The file of an entry whose place is in it."""
        file = self._shard(entry.shard_id)
        if entry.offset < 0 or entry.size < 0 or entry.offset + entry.size > file.size:
            raise data_loss(
                file.path,
                entry.offset,
                f"Bytes of {key_text(key)} are past the end: {entry.size} of a file of "
                f"{file.size} bytes",
            )
        return file

    def _read_entry(
        self, key: bytes, entry: Any, empty: Empty = empty_array
    ) -> Callable[[], Any]:
        file = self._check(key, entry)
        shape, dtype = self._shape(entry), self._dtype(entry.dtype)
        if dtype == dtypes.string:
            return lambda: self._strings(key, file, entry, shape)
        if dtype == dtypes.variant:
            return lambda: self._variants(key, file, entry, shape)
        value = empty(shape, dtype)
        flat = value.reshape(-1).view(np.uint8)
        wait = file.read_into(flat, entry.offset)

        def finish() -> Any:
            crc = mask(wait())
            if crc != entry.crc32c:
                raise _mismatch(key, file, entry, entry.crc32c, crc)
            return value

        return finish

    def _variants(self, key: bytes, file: ShardFile, entry: Any, shape: Shape) -> Any:
        data = file.read(entry.offset, entry.size)
        try:
            values, crc = variants.parse(data, math.prod(shape))
        except ValueError as error:
            raise data_loss(
                file.path, entry.offset, f"Corrupt variant {key_text(key)}: {error}"
            ) from None
        if crc != entry.crc32c:
            raise _mismatch(key, file, entry, entry.crc32c, crc)
        array = np.empty(len(values), object)
        for index, value in enumerate(values):
            array[index] = value
        return array.reshape(shape)

    def _strings(self, key: bytes, file: ShardFile, entry: Any, shape: Shape) -> Any:
        data = file.read(entry.offset, entry.size)
        lengths: list[int] = []
        at = 0
        try:
            for _ in range(math.prod(shape)):
                length, at = decode_varint(data, at)
                lengths.append(length)
        except IndexError:
            raise _corrupt_lengths(key, file, entry) from None
        crc = crc32c(b"".join([length_bytes(x) for x in lengths]))
        check = data[at : at + 4]
        if check != struct.pack("<I", mask(crc)):
            stored = int.from_bytes(check, "little")
            raise _mismatch(key, file, entry, stored, mask(crc))
        if at + 4 + sum(lengths) != len(data):
            raise _corrupt_lengths(key, file, entry)
        crc = mask(crc32c(data[at:], crc))
        if crc != entry.crc32c:
            raise _mismatch(key, file, entry, entry.crc32c, crc)
        return _string_array(data, at + 4, lengths, shape)


def _string_array(data: bytes, at: int, lengths: Sequence[int], shape: Shape) -> Any:
    result = np.empty(len(lengths), object)
    for index, length in enumerate(lengths):
        result[index] = data[at : at + length]
        at += length
    return result.reshape(shape)


def _corrupt_lengths(key: bytes, file: ShardFile, entry: Any) -> errors.DataLossError:
    return data_loss(
        file.path, entry.offset, f"Corrupt lengths of string tensor {key_text(key)}"
    )


def _mismatch(
    key: bytes, file: ShardFile, entry: Any, stored: int, found: int
) -> errors.DataLossError:
    return data_loss(
        file.path,
        entry.offset,
        f"Checksum does not match for {key_text(key)}: stored {stored:08x} vs. "
        f"calculated on the restored bytes {found:08x}",
    )
