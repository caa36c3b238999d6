"""Records by number, in files of any compression.

The places of the records are found when they are first needed, by reading the lengths
(of a plain file) or everything (of a compressed one). A compressed file also gets
restart points: states of the decompressor, from which it can go on.
"""

from __future__ import annotations

import struct
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from tensorloom.storage.files import filesystem
from tensorloom.storage.files.byte_stream import compression_of, decompressor
from tensorloom.storage.files.file_errors import as_file_errors, data_loss
from tensorloom.storage.records.tfrecord import FRAME, MAX_COMPRESSED_RECORD, checksum
from tensorloom.storage.tables.crc32c import mask

if TYPE_CHECKING:
    from tensorloom.framework import errors

_HEADER: Final = struct.Struct("<QI")
_BLOCK: Final = 1 << 18
_RESTART_EVERY: Final = 1 << 22  # bytes of contents; a state takes about 40 kB
_MAX_RESTARTS: Final = 512


class _Contents:
    """The decompressed bytes of a file, from any place on."""

    def __init__(self, name: str, compression: bytes) -> None:
        self._name = name
        self._compression = compression
        with as_file_errors(name):
            self._file: BinaryIO = filesystem.open_file(name)
        # (place in the contents, place in the file, state there), in order.
        self._restarts: list[tuple[int, int, Any]] = [(0, 0, None)]
        self._spacing = _RESTART_EVERY

    def size(self) -> int | None:
        """The number of bytes, where it is known without reading."""
        return None if self._compression else filesystem.stat(self._name).length

    def read(self, place: int, count: int) -> bytes:
        """`count` bytes from a place on; fewer at the end only."""
        if self._compression:
            return b"".join(self._blocks(place, count))
        with as_file_errors(self._name):
            self._file.seek(place)
            return self._file.read(count)

    def _blocks(self, place: int, count: int) -> Iterator[bytes]:
        for at, block in self.blocks_from(place):
            skip = max(0, place - at)
            part = block[skip : skip + count]
            count -= len(part)
            yield part
            if count <= 0:
                return

    def blocks_from(self, place: int) -> Iterator[tuple[int, bytes]]:
        """(place, bytes) of the blocks of a compressed file, from before `place` on.

        Raises:
          errors.DataLossError: the compression is damaged.
        """
        index = bisect_right(self._restarts, place, key=lambda entry: entry[0]) - 1
        at, file_at, state = self._restarts[index]
        inflate = decompressor(self._compression) if state is None else state.copy()
        rest = b""
        while True:
            if not rest:
                with as_file_errors(self._name):
                    self._file.seek(file_at)
                    rest = self._file.read(_BLOCK)
                file_at += len(rest)
            if not rest:
                if file_at and not inflate.eof:
                    raise data_loss(self._name, None, "truncated compressed data")
                return
            if inflate.eof:  # several compressed files may stand behind each other
                inflate = decompressor(self._compression)
            try:
                out = inflate.decompress(rest, _BLOCK)
            except zlib.error as error:
                raise data_loss(
                    self._name, None, f"inflate() failed: {error}"
                ) from None
            rest = inflate.unconsumed_tail or inflate.unused_data
            if out:
                yield at, out
                at += len(out)
            if not inflate.eof:
                self._remember(at, file_at - len(rest), inflate)

    def _remember(self, at: int, file_at: int, inflate: Any) -> None:
        if at < self._restarts[-1][0] + self._spacing:
            return
        self._restarts.append((at, file_at, inflate.copy()))
        if len(self._restarts) > _MAX_RESTARTS:
            # Half as many, so that a huge file takes no more memory than a large one.
            del self._restarts[1::2]
            self._spacing *= 2

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def __del__(self) -> None:
        # Who reads a few records by number may well drop the file open.
        file = getattr(self, "_file", None)
        if file is not None:
            file.close()


class RecordFile:
    """The records of a file as a sequence: `len(file)`, `file[i]`, slices, iteration.

    Not safe for several threads at once.

    Args:
      name: the file, of any file system.
      compression: empty, b"GZIP" or b"ZLIB".

    Raises:
      errors.NotFoundError: there is no file.
    """

    def __init__(self, name: str, compression: bytes | str = b"") -> None:
        self.name = name
        self._contents = _Contents(name, compression_of(compression))
        self._crc = checksum()
        self._places: array[int] | None = None

    def __len__(self) -> int:
        """The number of records.

        Raises:
          errors.DataLossError: the file is damaged.
        """
        return len(self.places()) - 1

    def __getitem__(self, index: Any) -> Any:
        """A record, or a list of them for a slice.

        Raises:
          IndexError: there is none of that number.
          errors.DataLossError: it is damaged.
        """
        places = self.places()
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        count = len(places) - 1
        if not -count <= index < count:
            raise IndexError(f"record {index} of {count} in {self.name}")
        index %= count
        place = places[index]
        data = self._contents.read(place, places[index + 1] - place)
        record = data[12:-4]
        if mask(self._crc(record)) != int.from_bytes(data[-4:], "little"):
            raise data_loss(self.name, place, f"corrupted record at {place}")
        return record

    def __iter__(self) -> Iterator[bytes]:
        for index in range(len(self)):
            yield self[index]

    def places(self) -> array[int]:
        """Where each record begins in the contents, and where the last one ends.

        Raises:
          errors.DataLossError: a length is damaged, or the end is cut off.
        """
        if self._places is None:
            size = self._contents.size()
            self._places = self._scan() if size is None else self._jump(size)
        return self._places

    def _length(self, header: bytes, place: int) -> int:
        length, stored = _HEADER.unpack(header)
        if mask(self._crc(header[:8])) != stored:
            raise data_loss(self.name, place, f"corrupted record at {place}")
        return int(length)

    def _jump(self, size: int) -> array[int]:
        """Of a plain file: from length to length, read in blocks."""
        places, place = array("Q", [0]), 0
        block, block_at = b"", 0
        while place < size:
            at = place - block_at
            if at + _HEADER.size > len(block):
                block, block_at, at = self._contents.read(place, _BLOCK), place, 0
            header = block[at : at + _HEADER.size]
            if len(header) < _HEADER.size:
                raise self._truncated(place)
            after = place + self._length(header, place) + FRAME
            if after > size:
                raise self._truncated(place)
            places.append(after)
            place = after
        return places

    def _scan(self) -> array[int]:
        """Of a compressed file: everything goes by, nothing is kept."""
        places, place = array("Q", [0]), 0
        header = b""
        end = 0
        for at, block in self._contents.blocks_from(0):
            end = at + len(block)
            while place < end:
                start = max(place + len(header), at) - at
                header += block[start : start + _HEADER.size - len(header)]
                if len(header) < _HEADER.size:
                    break
                length = self._length(header, place)
                if length > MAX_COMPRESSED_RECORD:
                    raise data_loss(self.name, place, f"corrupted record at {place}")
                header = b""
                place += length + FRAME
                places.append(place)
        if header or place > end:
            raise self._truncated(place if header else places[-2])
        return places

    def _truncated(self, place: int) -> errors.DataLossError:
        return data_loss(self.name, place, f"truncated record at {place}")

    def close(self) -> None:
        """Closes the file."""
        self._contents.close()

    def __enter__(self) -> RecordFile:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
