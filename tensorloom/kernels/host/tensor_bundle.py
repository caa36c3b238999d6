"""TensorFlow's tensor bundle (checkpoints, version 2): its reader and its writer.

A bundle is `PREFIX.index`, a LevelDB-style table of protos by tensor name, and the
shards `PREFIX.data-00000-of-00001` with the bytes. Nothing in the files is believed:
sizes are checked before memory is asked for, checksums on every read.
"""

from __future__ import annotations

import contextlib
import math
import os
import struct
import uuid
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from tensorloom.framework import dtypes, errors
from tensorloom.kernels.host.math_ops_errors import invalid_argument, shape_text
from tensorloom.kernels.host.string_arrays import to_strings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tensorloom.framework.dtypes import DType
    from tensorloom.protos import tensor_bundle_pb2

# Start and length by dimension; a length of -1 is the whole dimension.
Slice = tuple[tuple[int, int], ...]
Shape = tuple[int, ...]

_MAGIC = 0xDB4775248B80FB57
_FOOTER = 48
_TRAILER = 5
_BLOCK_SIZE = 262144
_CHUNK = 1 << 20
_KINDS: dict[type, type[errors.OpError]] = {
    FileNotFoundError: errors.NotFoundError,
    PermissionError: errors.PermissionDeniedError,
    IsADirectoryError: errors.FailedPreconditionError,
    NotADirectoryError: errors.FailedPreconditionError,
}


def index_name(prefix: str) -> str:
    """The file of the index."""
    return prefix + ".index"


def data_name(prefix: str, shard: int, shards: int) -> str:
    """The file of a shard."""
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


def file_error(name: str, error: OSError) -> errors.OpError:
    """What TensorFlow raises for a failed system call."""
    kind: Any = _KINDS.get(type(error), errors.UnknownError)
    return kind(None, None, f"{name}; {error.strerror}")  # type: ignore[no-any-return]


def _data_loss(text: str) -> errors.DataLossError:
    return errors.DataLossError(None, None, text)


def _mask(crc: int) -> int:
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _crc(data: bytes) -> int:
    import google_crc32c  # only checkpoints need it

    return google_crc32c.value(data)  # type: ignore[no-any-return]


def _extend(crc: int, data: bytes) -> int:
    import google_crc32c

    return google_crc32c.extend(crc, data)  # type: ignore[no-any-return]


def _varint(value: int) -> bytes:
    result = bytearray()
    while value > 127:
        result.append(value & 127 | 128)
        value >>= 7
    result.append(value)
    return bytes(result)


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at a place, and where it ends. Raises IndexError at the end."""
    value = 0
    for shift in range(0, 64, 7):
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise IndexError("varint is too long")


# Slices.


def _ordered_number(value: int) -> bytes:
    size = (value.bit_length() + 7) // 8
    return bytes([size]) + value.to_bytes(size, "big")


def _ordered_signed(value: int) -> bytes:
    magnitude = ~value if value < 0 else value
    size = magnitude.bit_length() // 7 + 1
    header = ((1 << size) - 1) << (7 * size)
    return ((value & ((1 << 8 * size) - 1)) ^ header).to_bytes(size, "big")


def slice_key(name: bytes, part: Slice) -> bytes:
    """The key under which a slice of a tensor stands (OrderedCode)."""
    escaped = name.replace(b"\xff", b"\xff\xfe").replace(b"\x00", b"\x00\xff")
    escaped = escaped.replace(b"\xff\xfe", b"\xff\x00")
    result = _ordered_number(0) + escaped + b"\x00\x01" + _ordered_number(len(part))
    return result + b"".join(_ordered_signed(x) for pair in part for x in pair)


def bounds(part: Slice, shape: Shape) -> Slice:
    """The slice with every length a number."""
    return tuple(
        (start, size if length < 0 else length)
        for (start, length), size in zip(part, shape, strict=True)
    )


def _overlap(first: Slice, second: Slice) -> Slice | None:
    """What two slices have in common; their lengths are numbers."""
    result = []
    for (a, m), (b, n) in zip(first, second, strict=True):
        start, end = max(a, b), min(a + m, b + n)
        if start >= end:
            return None
        result.append((start, end - start))
    return tuple(result)


def _index(part: Slice, origin: Slice) -> tuple[slice, ...]:
    return tuple(
        slice(start - zero, start - zero + length)
        for (start, length), (zero, _) in zip(part, origin, strict=True)
    )


# The table: writing.


def _shared(first: bytes, second: bytes) -> int:
    """How many bytes both begin with."""
    for at, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return at
    return min(len(first), len(second))


class _Block:
    def __init__(self, interval: int) -> None:
        self._interval = interval
        self._data = bytearray()
        self._restarts = [0]
        self._since = 0
        self._last = b""

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self._since == self._interval:
            self._restarts.append(len(self._data))
            self._since = 0
        elif self._since:
            shared = _shared(self._last, key)
        self._since += 1
        self._last = key
        sizes = (shared, len(key) - shared, len(value))
        self._data += b"".join(map(_varint, sizes)) + key[shared:] + value

    @property
    def size(self) -> int:
        return len(self._data) + 4 * len(self._restarts) + 4

    def finish(self) -> bytes:
        count = len(self._restarts)
        return bytes(self._data) + struct.pack(f"<{count + 1}I", *self._restarts, count)


def _separator(key: bytes, following: bytes) -> bytes:
    at = _shared(key, following)
    if at < min(len(key), len(following)) and key[at] + 1 < following[at]:
        return key[:at] + bytes([key[at] + 1])
    return key


def _successor(key: bytes) -> bytes:
    for at, byte in enumerate(key):
        if byte != 255:
            return key[:at] + bytes([byte + 1])
    return key


def _table(entries: Mapping[bytes, bytes]) -> bytes:
    """The bytes of a table."""
    result, handles = bytearray(), _Block(1)

    def emit(block: _Block) -> bytes:
        data = block.finish() + b"\x00"
        handle = _varint(len(result)) + _varint(len(data) - 1)
        result.extend(data + struct.pack("<I", _mask(_crc(data))))
        return handle

    block, handle, last = _Block(16), b"", b""
    for key in sorted(entries):
        if handle:
            handles.add(_separator(last, key), handle)
            handle = b""
        block.add(key, entries[key])
        last = key
        if block.size >= _BLOCK_SIZE:
            handle, block = emit(block), _Block(16)
    if not handle:
        handle = emit(block)
    meta = emit(_Block(16))
    handles.add(_successor(last), handle)
    footer = (meta + emit(handles)).ljust(_FOOTER - 8, b"\x00")
    return bytes(result) + footer + struct.pack("<Q", _MAGIC)


# The table: reading.


def _unsnappy(data: bytes) -> bytes:
    size, at = _read_varint(data, 0)
    result = bytearray()
    while at < len(data) and len(result) <= size:
        tag, at = data[at], at + 1
        if tag & 3 == 0:
            length, extra = tag >> 2, max(0, (tag >> 2) - 59)
            if extra:
                length = int.from_bytes(data[at : at + extra], "little")
            at += extra
            result += data[at : at + length + 1]
            at += length + 1
            continue
        width = (1, 2, 4)[(tag & 3) - 1]
        offset = int.from_bytes(data[at : at + width], "little")
        at += width
        length = (tag >> 2) + 1
        if width == 1:
            length, offset = (tag >> 2 & 7) + 4, offset | (tag >> 5) << 8
        if not 0 < offset <= len(result):
            raise IndexError("copy from before the start")
        for _ in range(length):
            result.append(result[-offset])
    if len(result) != size or at != len(data):
        raise IndexError("size differs")
    return bytes(result)


def _read_block(data: bytes, offset: int, size: int) -> bytes:
    end = offset + size
    if end + _TRAILER > len(data) - _FOOTER:
        raise _data_loss("truncated block read")
    (crc,) = struct.unpack_from("<I", data, end + 1)
    if _mask(_crc(data[offset : end + 1])) != crc:
        raise _data_loss("block checksum mismatch")
    if data[end] == 0:
        return data[offset:end]
    if data[end] != 1:
        raise _data_loss("bad block type")
    return _unsnappy(data[offset:end])


def _entries(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    if len(block) < 4:
        raise IndexError("no restarts")
    end = len(block) - 4 - 4 * int.from_bytes(block[-4:], "little")
    if end < 0:
        raise IndexError("too many restarts")
    at, key = 0, b""
    while at < end:
        shared, at = _read_varint(block, at)
        unshared, at = _read_varint(block, at)
        length, at = _read_varint(block, at)
        if shared > len(key) or at + unshared + length > end:
            raise IndexError("bad entry in block")
        key = key[:shared] + block[at : at + unshared]
        at += unshared
        yield key, block[at : at + length]
        at += length


def _read_table(data: bytes) -> dict[bytes, bytes]:
    if len(data) < _FOOTER:
        raise _data_loss("file is too short to be an sstable")
    if struct.unpack_from("<Q", data, len(data) - 8)[0] != _MAGIC:
        raise _data_loss("not an sstable (bad magic number)")
    result: dict[bytes, bytes] = {}
    try:
        footer = data[-_FOOTER:-8]
        at = _read_varint(footer, _read_varint(footer, 0)[1])[1]
        offset, at = _read_varint(footer, at)
        size, _ = _read_varint(footer, at)
        for _, handle in _entries(_read_block(data, offset, size)):
            offset, at = _read_varint(handle, 0)
            size, _ = _read_varint(handle, at)
            result.update(_entries(_read_block(data, offset, size)))
    except IndexError as error:
        raise _data_loss(f"corrupted index block: {error}") from None
    return result


# Writing.


def replace_file(name: str, data: bytes) -> None:
    """Writes a file whole: beside it, to the disk, then under its name."""
    beside = f"{name}.tempstate{uuid.uuid4().hex}"
    try:
        with open(beside, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, name)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.remove(beside)
        raise file_error(name, error) from None


def write_index(
    prefix: str,
    shards: int,
    entries: Mapping[bytes, tensor_bundle_pb2.BundleEntryProto],
) -> None:
    """Writes the index of a bundle."""
    from tensorloom.protos import tensor_bundle_pb2

    header = tensor_bundle_pb2.BundleHeaderProto(num_shards=shards)
    header.version.producer = 1
    rows = {b"": header.SerializeToString()}
    rows.update((key, entry.SerializeToString()) for key, entry in entries.items())
    replace_file(index_name(prefix), _table(rows))


def _length_bytes(length: int) -> bytes:
    return struct.pack("<I" if length < 1 << 32 else "<Q", length)


def _string_chunks(array: Any) -> Iterator[tuple[bytes, bytes]]:
    """What is written for strings, and what is hashed for that."""
    items: list[bytes] = [
        x.encode() if isinstance(x, str) else x for x in array.reshape(-1).tolist()
    ]
    lengths = b"".join(_length_bytes(len(x)) for x in items)
    yield b"".join(_varint(len(x)) for x in items), lengths
    check = struct.pack("<I", _mask(_crc(lengths)))
    yield check, check
    for item in items:
        yield item, item


def _chunks(array: Any) -> Iterator[tuple[bytes, bytes]]:
    if array.dtype == object:
        yield from _string_chunks(array)
        return
    view = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    for at in range(0, len(view), _CHUNK):
        chunk = view[at : at + _CHUNK].tobytes()
        yield chunk, chunk


class BundleWriter:
    """Writes one bundle of one shard. Nothing has its name before `finish`."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._entries: dict[bytes, tensor_bundle_pb2.BundleEntryProto] = {}
        self._offset = 0
        self._name = data_name(prefix, 0, 1)
        self._beside = f"{self._name}.tempstate{uuid.uuid4().hex}"
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(os.path.dirname(prefix) or ".")
            self._file: BinaryIO = open(self._beside, "xb")  # noqa: SIM115
        except OSError as error:
            raise file_error(self._beside, error) from None

    def __enter__(self) -> BundleWriter:
        return self

    def __exit__(self, *exc: object) -> None:
        self._file.close()
        with contextlib.suppress(OSError):
            os.remove(self._beside)

    def add(self, key: bytes, dtype: DType, value: Any) -> None:
        """Adds a whole tensor, or what stands under the key of a slice."""
        from tensorloom.protos import tensor_bundle_pb2

        if key in self._entries:
            raise invalid_argument(f"Adding duplicate key: {_text(key)}")
        if dtype in (dtypes.variant, dtypes.resource):
            raise errors.UnimplementedError(
                None, None, f"Saving tensors of type {dtype.name} is not supported"
            )
        array = np.asarray(value)
        entry = tensor_bundle_pb2.BundleEntryProto(
            dtype=_number(dtype), offset=self._offset
        )
        _set_shape(entry, array.shape)
        crc = size = 0
        try:
            for written, hashed in _chunks(array):
                self._file.write(written)
                size += len(written)
                crc = _extend(crc, hashed)
        except OSError as error:
            raise file_error(self._beside, error) from None
        entry.size, entry.crc32c = size, _mask(crc)
        self._offset += size
        self._entries[key] = entry

    def add_slice(
        self, key: bytes, dtype: DType, value: Any, shape: Shape, part: Slice
    ) -> None:
        """Adds a slice of a tensor."""
        from tensorloom.protos import tensor_bundle_pb2

        if bounds(part, shape) == tuple((0, size) for size in shape):
            self.add(key, dtype, value)
            return
        full = self._entries.get(key)
        if full is None:
            full = tensor_bundle_pb2.BundleEntryProto(dtype=_number(dtype))
            _set_shape(full, shape)
        elif not full.slices or _shape(full) != shape or full.dtype != dtype:
            raise invalid_argument(f"Adding duplicate key: {_text(key)}")
        self.add(slice_key(key, part), dtype, value)
        self._entries[key] = full
        extents = full.slices.add().extent
        for start, length in part:
            extent = extents.add()
            if length >= 0:
                extent.start, extent.length = start, length

    def finish(self) -> None:
        """Makes the files what their names say: data first, index last."""
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            os.replace(self._beside, self._name)
        except OSError as error:
            raise file_error(self._name, error) from None
        write_index(self._prefix, 1, self._entries)


def _number(dtype: DType) -> Any:
    return dtype.as_datatype_enum


def _text(key: bytes) -> str:
    return key.decode("utf-8", "backslashreplace")


def _set_shape(entry: tensor_bundle_pb2.BundleEntryProto, shape: Iterable[int]) -> None:
    entry.shape.SetInParent()
    for size in shape:
        entry.shape.dim.add(size=size)


def _shape(entry: tensor_bundle_pb2.BundleEntryProto) -> Shape:
    shape = tuple(dim.size for dim in entry.shape.dim)
    if entry.shape.unknown_rank or min(shape, default=0) < 0 or len(shape) > 32:
        raise _data_loss(f"Invalid tensor shape: {shape_text(shape)}")
    return shape


# Reading.


class BundleReader:
    """Reads a bundle."""

    def __init__(self, prefix: str) -> None:
        from tensorloom.protos import tensor_bundle_pb2

        self._prefix = prefix
        self._header = tensor_bundle_pb2.BundleHeaderProto()
        try:
            with open(index_name(prefix), "rb") as file:
                self._rows = _read_table(file.read())
        except OSError as error:
            raise file_error(index_name(prefix), error) from None
        if b"" not in self._rows:
            raise _data_loss(f"Unable to read header of {index_name(prefix)}")
        self._parse(self._header, self._rows.pop(b""))
        if self._header.endianness:
            raise errors.UnimplementedError(
                None,
                None,
                "Reading a bundle with different endianness is not supported",
            )

    def _parse(self, message: Any, data: bytes) -> None:
        from google.protobuf.message import DecodeError

        try:
            message.ParseFromString(data)
        except DecodeError:
            raise _data_loss(f"Corrupt entry in {index_name(self._prefix)}") from None

    @property
    def shards(self) -> int:
        """How many shards there are."""
        return self._header.num_shards

    @property
    def keys(self) -> Sequence[bytes]:
        """All keys, those of slices too, in order."""
        return list(self._rows)

    def entry(self, key: bytes) -> tensor_bundle_pb2.BundleEntryProto:
        """What the index says of a key."""
        from tensorloom.protos import tensor_bundle_pb2

        if key not in self._rows:
            raise errors.NotFoundError(
                None, None, f"Key {_text(key)} not found in checkpoint"
            )
        entry = tensor_bundle_pb2.BundleEntryProto()
        self._parse(entry, self._rows[key])
        return entry

    def dtype(self, key: bytes) -> DType:
        """A tensor's dtype."""
        return self._dtype(self.entry(key))

    def _dtype(self, entry: tensor_bundle_pb2.BundleEntryProto) -> DType:
        try:
            return dtypes.as_dtype(entry.dtype)
        except TypeError:
            raise _data_loss(f"Invalid dtype {entry.dtype} in checkpoint") from None

    def shape(self, key: bytes) -> Shape:
        """A tensor's shape."""
        return _shape(self.entry(key))

    def read(self, key: bytes, part: Slice | None = None) -> Any:
        """A tensor, or a slice of it."""
        entry = self.entry(key)
        shape = _shape(entry)
        whole = tuple((0, size) for size in shape)
        wanted = whole if part is None else bounds(part, shape)
        if entry.slices:
            return self._read_slices(key, entry, wanted)
        value = self._read_entry(key, entry)
        return value if wanted == whole else value[_index(wanted, whole)].copy()

    def _read_slices(
        self, key: bytes, entry: tensor_bundle_pb2.BundleEntryProto, wanted: Slice
    ) -> Any:
        shape, dtype = _shape(entry), self._dtype(entry)
        found: list[tuple[Slice, Slice, bytes]] = []
        for proto in entry.slices:
            raw = tuple(
                (e.start, e.length if e.HasField("length") else -1)
                for e in proto.extent
            )
            if len(raw) != len(shape):
                raise _data_loss(f"Invalid slice of {_text(key)} in checkpoint")
            stored = bounds(raw, shape)
            common = _overlap(stored, wanted)
            if common is None:
                continue
            if any(_overlap(common, other) for _, other, _ in found):
                raise _data_loss(f"Slices of {_text(key)} overlap")
            found.append((stored, common, slice_key(key, raw)))
        size = sum(math.prod(n for _, n in common) for _, common, _ in found)
        if size < math.prod(n for _, n in wanted):
            raise invalid_argument(
                "Does not have sufficient slices for partitioned tensor "
                f"{_text(key)} to restore in slice_spec: {slice_text(wanted)}"
            )
        for stored, _, name in found:
            one = self.entry(name)
            if one.dtype != entry.dtype or _shape(one) != tuple(n for _, n in stored):
                raise _data_loss(f"Slice of {_text(key)} has another dtype or shape")
            self._check(name, one)
        result = np.empty(tuple(n for _, n in wanted), dtype.as_numpy_dtype)
        for stored, common, name in found:
            value = self._read_entry(name, self.entry(name))
            result[_index(common, wanted)] = value[_index(common, stored)]
        return result

    def _check(self, key: bytes, entry: tensor_bundle_pb2.BundleEntryProto) -> str:
        """The file of an entry whose bytes are all there."""
        dtype = self._dtype(entry)
        name = data_name(self._prefix, entry.shard_id, self.shards)
        try:
            size = os.path.getsize(name)
        except OSError as error:
            raise file_error(name, error) from None
        count = math.prod(_shape(entry))
        where = (
            f"TensorBundle at {self._prefix} shard {entry.shard_id} ({size} bytes): "
        )
        if dtype in (dtypes.variant, dtypes.resource):
            raise errors.UnimplementedError(
                None, None, f"Restoring tensors of type {dtype.name} is not supported"
            )
        strings = dtype == dtypes.string
        expected = count + 4 if strings else count * dtype.size
        if entry.size < expected or (entry.size != expected and not strings):
            raise _data_loss(
                f"{where}Invalid size in bundle entry: key {_text(key)}; stored size "
                f"{entry.size}; expected size {expected}"
            )
        if entry.offset < 0 or entry.offset + entry.size > size:
            raise _data_loss(f"{where}Requested bytes are past the end: {_text(key)}")
        return name

    def _read_entry(self, key: bytes, entry: tensor_bundle_pb2.BundleEntryProto) -> Any:
        name = self._check(key, entry)
        dtype, shape = self._dtype(entry), _shape(entry)
        try:
            with open(name, "rb") as file:
                file.seek(entry.offset)
                if dtype == dtypes.string:
                    value, crc = self._strings(file.read(entry.size), shape)
                else:
                    value = np.empty(shape, dtype.as_numpy_dtype)
                    crc = self._fill(file, value)
        except OSError as error:
            raise file_error(name, error) from None
        if _mask(crc) != entry.crc32c:
            raise self._mismatch(entry.crc32c, _mask(crc))
        return value

    def _mismatch(self, stored: int, found: int) -> errors.DataLossError:
        return _data_loss(
            f"TensorBundle at {self._prefix}: Checksum does not match: stored "
            f"{stored:08d} vs. calculated on the restored bytes {found:08d}"
        )

    def _fill(self, file: BinaryIO, value: Any) -> int:
        flat, crc, at = value.reshape(-1).view(np.uint8), 0, 0
        while at < flat.size:
            chunk = file.read(min(_CHUNK, flat.size - at))
            if not chunk:
                raise _data_loss(f"TensorBundle at {self._prefix}: truncated read")
            flat[at : at + len(chunk)] = np.frombuffer(chunk, np.uint8)
            crc = _extend(crc, chunk)
            at += len(chunk)
        return crc

    def _strings(self, data: bytes, shape: Shape) -> tuple[Any, int]:
        lengths, at, hashed = [], 0, bytearray()
        try:
            for _ in range(math.prod(shape)):
                length, at = _read_varint(data, at)
                lengths.append(length)
                hashed += _length_bytes(length)
        except IndexError:
            raise _data_loss("Corrupt lengths of a string tensor") from None
        check = data[at : at + 4]
        crc = _crc(bytes(hashed))
        if check != struct.pack("<I", _mask(crc)):
            raise self._mismatch(int.from_bytes(check, "little"), _mask(crc))
        at += 4
        if at + sum(lengths) != len(data):
            raise _data_loss("Corrupt lengths of a string tensor")
        crc = _extend(crc, data[at - 4 :])
        items = []
        for length in lengths:
            items.append(data[at : at + length])
            at += length
        return to_strings(items, shape), crc


def slice_text(part: Slice) -> str:
    """A slice as TensorFlow prints it."""
    return ":".join("-" if n < 0 else f"{start},{n}" for start, n in part)


# Merging.


def merge_bundles(prefixes: Sequence[str], destination: str) -> None:
    """Makes one bundle of several; theirs are gone afterwards."""
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
            elif not (earlier.slices and entry.slices):
                raise invalid_argument(
                    f"Duplicate tensor keyed by {_text(key)} encountered, "
                    f"when merging prefix: {prefix}"
                )
            else:
                earlier.slices.extend(entry.slices)
    for name, shard in shards.items():
        try:
            os.replace(name, data_name(destination, shard, len(shards)))
        except OSError as error:
            raise file_error(name, error) from None
    write_index(destination, len(shards), entries)
    for prefix in prefixes:
        if prefix != destination:
            with contextlib.suppress(OSError):
                os.remove(index_name(prefix))
