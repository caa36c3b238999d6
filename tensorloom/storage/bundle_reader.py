"""Reading TensorFlow's tensor bundles (checkpoints, version 2).

A bundle is `PREFIX.index`, a table of protos by tensor name, and the shards
`PREFIX.data-00000-of-00001` with the bytes. Nothing in the files is believed: sizes
are checked before memory is asked for, checksums on every read.
"""

from __future__ import annotations

import functools
import math
import struct
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tensorloom.framework import dtypes, errors
from tensorloom.storage import byte_rows, filesystem, slices, variants
from tensorloom.storage.bundle_files import data_name, index_name, kept_name
from tensorloom.storage.bundle_writer import key_text, length_bytes
from tensorloom.storage.coding import decode_varint
from tensorloom.storage.crc32c import crc32c, mask
from tensorloom.storage.file_errors import data_loss, invalid_argument
from tensorloom.storage.shard_file import ShardFile
from tensorloom.storage.table_reader import TableReader

if TYPE_CHECKING:
    from tensorloom.framework.dtypes import DType
    from tensorloom.protos import tensor_bundle_pb2
    from tensorloom.storage.slices import Shape, Slice
    from tensorloom.storage.table_block import Block

T = TypeVar("T")

# What makes an array of a shape and dtype, with any contents.
Empty = Callable[[tuple[int, ...], Any], Any]

_MAX_RANK = 254  # TensorFlow's

# The bits that tell whether an entry begins with a dtype of a byte and a shape whose
# length is a byte, and those of an entry that does.
_SIMPLE = np.uint32(0x80FF80FF)
_SIMPLE_HEAD = np.uint32(0x00120008)


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
        self._keys = self._from_blocks(lambda block: block.keys)

    @functools.cached_property
    def _rows(self) -> dict[bytes, bytes]:
        values = self._from_blocks(lambda block: block.values)
        return dict(zip(self._keys, values, strict=True))

    def _from_blocks(self, part: Callable[[Block], list[bytes]]) -> list[bytes]:
        """A part of all entries but the header, which comes first."""
        found: list[bytes] = []
        for block in self._blocks:
            found += part(block)
        del found[:1]
        return found

    def _read_header(self) -> tensor_bundle_pb2.BundleHeaderProto:
        """The header, whose key is empty."""
        from tensorloom.protos import tensor_bundle_pb2

        if not self._blocks or self._blocks[0].keys[0]:
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
        return self._keys[self._first_name() :]

    def _first_name(self) -> int:
        return bisect_left(self._keys, b"\1")  # slices have keys with a 0 before

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
        return self._dtype(self.entry(key))

    def _dtype(self, entry: tensor_bundle_pb2.BundleEntryProto) -> DType:
        try:
            return dtypes.as_dtype(entry.dtype)
        except TypeError:
            if 23 < entry.dtype < 64:  # 8-bit floats, 4-bit integers, and to come
                raise errors.UnimplementedError(
                    None,
                    None,
                    f"{self._index}: a tensor has dtype {entry.dtype} of TensorFlow 2, "
                    "which does not exist here; the other tensors can be read",
                ) from None
            raise data_loss(
                self._index, None, f"Invalid dtype {entry.dtype} in checkpoint"
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
        """The shape of every tensor."""
        return dict(zip(self.names, self._facts(self._shape), strict=True))

    def shape_lists(self) -> Iterable[list[int]]:
        """The shapes in the order of `names`, each as a list of its own."""
        return map(list.copy, self._facts(lambda entry: list(self._shape(entry))))

    def dtypes(self) -> dict[bytes, DType]:
        """The dtype of every tensor."""
        return dict(zip(self.names, self._facts(self._dtype), strict=True))

    def _facts(self, fact: Callable[[Any], T]) -> Iterable[T]:
        """What the entries say, of each tensor."""
        first = self._first_name()
        heads = self._heads(first)
        if heads is not None:
            known = _Known(lambda head: fact(self._parsed(head[: 4 + head[3]])))
            return map(known.__getitem__, heads)
        values = self._from_blocks(lambda block: block.values)
        return [fact(self._parsed(value)) for value in values[first:]]

    def _heads(self, first: int) -> list[bytes] | None:
        """dtype and shape of the entries from one on, of which few are different.

        Entries begin with these fields: a tag and a byte; a tag, a length and so many
        bytes. Behind them are zeros, up to the longest.

        Returns:
          None if an entry is not of that kind.
        """

        def of_entries(part: Callable[[Block], Any]) -> Any:
            parts = [part(block) for block in self._blocks]
            return np.concatenate(parts)[first + 1 :]  # without the header

        words = of_entries(lambda block: block.words())
        ends = (words >> 24) + 4
        if (words & _SIMPLE != _SIMPLE_HEAD).any() or (
            ends > of_entries(lambda block: block.sizes)
        ).any():
            return None
        longest = int(ends.max(initial=4))
        result = of_entries(lambda block: block.heads(longest))
        result &= ~byte_rows.from_column(ends, longest)
        return byte_rows.as_list(result)

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

    def _stored_slices(self, key: bytes, entry: Any, shape: Shape) -> Iterator[Slice]:
        for proto in entry.slices:
            try:
                yield slices.from_proto(proto, shape)
            except ValueError as error:
                raise data_loss(
                    self._index, None, f"Invalid slice of {key_text(key)}: {error}"
                ) from None

    def _read_slices(self, key: bytes, entry: Any, wanted: Slice, empty: Empty) -> Any:
        shape, dtype = self._shape(entry), self._dtype(entry)
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
        dtype = self._dtype(entry)
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
        if entry.offset < 0 or entry.offset + entry.size > file.size:
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
        shape, dtype = self._shape(entry), self._dtype(entry)
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


class _Known(dict[bytes, T]):
    """What was found out from bytes, once for each."""

    def __init__(self, find: Callable[[bytes], T]) -> None:
        self._find = find

    def __missing__(self, key: bytes) -> T:
        found = self[key] = self._find(key)
        return found


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
