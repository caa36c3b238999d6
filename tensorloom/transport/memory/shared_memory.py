"""Large bodies through memory that both ends of a local connection map.

A segment is an anonymous file (memfd): it has no name and goes away with the last
process that maps it, so a task that is killed leaves nothing behind. Its first bytes
say whether the receiver still uses it; the sender fills a segment anew only once the
receiver has let go of every array in it. Large variables are not even copied into
segments, see `lent_memory.py`.

    byte 0: 1 while the receiver uses the body | 63 bytes unused | body
"""

from __future__ import annotations

import mmap
import os
import socket
import struct
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.runtime import sealed_file
from tensorloom.transport import traffic
from tensorloom.transport.memory import lent_memory
from tensorloom.transport.memory.lent_memory import PART, Borrower, Lender, LentBody

if TYPE_CHECKING:
    from tensorloom.transport.wire.packing import Buffer

    Body = np.ndarray[Any, Any] | LentBody

#: Smaller bodies go through the socket.
MIN_BYTES: Final = 256 * 1024
_BODY_START: Final = 64
#: Files that one frame brings at most: those of lent parts, and a segment's.
MAX_FILES: Final = lent_memory.MAX_FILES + 1
_MAX_SEGMENTS: Final = 8  # of one connection; beyond them the socket carries bodies
_MIN_SEGMENT: Final = 1 << 20
# A larger segment gives its pages back after each use: filling fresh pages costs more
# time, but idle connections must not hold gigabytes.
_KEPT_BYTES: Final = 512 << 20

#: What stands for a body in a segment: segment number, body bytes, bytes of the file,
#: and 1 if the file comes with the frame.
REFERENCE: Final = struct.Struct("<QQQB")
#: What stands before it: how many parts of the body are lent (they follow), and 1 if
#: the rest is in a segment, 0 if it follows itself.
_FORM: Final = struct.Struct("<BB")
_ALL_IN_SEGMENT: Final = _FORM.pack(0, 1)


# Bytes copied at a time. In one go the processor would keep nothing in its cache.
_COPIED: Final = 512 << 10


def _copy(target: memoryview, source: memoryview) -> None:
    """Copies from the end: who reads from the front finds that in the cache."""
    for start in reversed(range(0, len(source), _COPIED)):
        end = start + _COPIED
        target[start:end] = source[start:end]


class _Segment:
    def __init__(self, size: int) -> None:
        self.file = sealed_file.make("tensorloom", size)
        try:
            self.memory = mmap.mmap(self.file, size)
        except OSError:
            os.close(self.file)
            raise
        self.size = size

    @property
    def is_used(self) -> bool:
        return self.memory[0] != 0

    def fill(self, buffers: Sequence[Buffer]) -> None:
        position = _BODY_START
        with memoryview(self.memory) as target:
            for buffer in buffers:
                end = position + len(buffer)
                if len(buffer) <= _COPIED:
                    target[position:end] = buffer
                else:
                    _copy(target[position:end], memoryview(buffer))
                position = end
        self.memory[0] = 1

    def close(self) -> None:
        os.close(self.file)


class Outbox:
    """The segments that one end of a connection fills. One thread at a time."""

    way = traffic.SHARED_MEMORY

    def __init__(self) -> None:
        self._segments: dict[int, _Segment] = {}
        self._lender = Lender()

    def put(
        self, buffers: Sequence[Buffer], size: int
    ) -> tuple[bytes, list[int]] | None:
        """Lends what can be lent of a body, and puts the rest into a segment.

        Returns:
          The reference for the frame, and the files that the receiver does not know
          yet; None when the socket is to carry the body.
        """
        if size < MIN_BYTES:
            return None
        lent = self._lender.lend(buffers)
        if not lent.parts:
            found = self._fill(buffers, size)
            return found and (_ALL_IN_SEGMENT + found[0], found[1])
        found = self._fill(lent.rest, lent.rest_size)
        form = _FORM.pack(len(lent.parts), found is not None)
        reference, files = found or (b"".join(lent.rest), [])
        return b"".join((form, *lent.parts, reference)), lent.files + files

    def _fill(
        self, buffers: Sequence[Buffer], size: int
    ) -> tuple[bytes, list[int]] | None:
        """Puts bytes into a segment, if they are many."""
        if size < MIN_BYTES:
            return None
        needed = size + _BODY_START
        number, is_new = self._find(needed)
        if number is None:
            return None
        segment = self._segments[number]
        segment.fill(buffers)
        reference = REFERENCE.pack(number, size, segment.size, is_new)
        return reference, [segment.file] if is_new else []

    def _find(self, needed: int) -> tuple[int | None, bool]:
        """A free segment with room, made or made anew if need be."""
        free = [n for n, segment in self._segments.items() if not segment.is_used]
        fitting = [n for n in free if self._segments[n].size >= needed]
        if fitting:
            return min(fitting, key=lambda n: self._segments[n].size), False
        if len(self._segments) < _MAX_SEGMENTS:
            number = len(self._segments)
        elif free:
            number = free[0]
            self._segments[number].close()
        else:
            return None, False
        size = max(_MIN_SEGMENT, 1 << (needed - 1).bit_length())
        try:
            self._segments[number] = _Segment(size)
        except OSError:
            self._segments.pop(number, None)
            return None, False
        return number, True

    def hung_up(self) -> None:
        """What is lent to the other end may never be given back."""
        self._lender.end()

    def close(self) -> None:
        """Lets go of all segments."""
        self._lender.end()
        for segment in self._segments.values():
            segment.close()
        self._segments.clear()


class Inbox:
    """The segments that the other end fills. One thread at a time."""

    def __init__(self) -> None:
        self._memory: dict[int, mmap.mmap] = {}
        self._borrower = Borrower()

    def take(self, reference: bytes, files: list[int]) -> Body:
        """The body that a frame refers to; its memory is free again with the array.

        Args:
          reference: as the frame has it.
          files: received files in their order; the frame's own are taken out.

        Raises:
          errors.InvalidArgumentError: the reference is malformed.
        """
        try:
            count, is_in_segment = _FORM.unpack_from(reference)
            end = _FORM.size + count * PART.size
            if len(reference) < end:
                raise ValueError(f"{len(reference)} bytes for {count} parts")
            parts = self._borrower.take(reference[_FORM.size : end], files)
            rest = reference[end:]
            if is_in_segment:
                body = self._segment(rest, files)
            else:
                body = np.frombuffer(bytearray(rest), np.uint8)
            return LentBody(body, parts) if parts else body
        except (struct.error, LookupError, ValueError, OSError) as error:
            raise errors.InvalidArgumentError(
                None, None, f"Malformed reference to shared memory: {error}"
            ) from None

    def _segment(self, reference: bytes, files: list[int]) -> np.ndarray[Any, Any]:
        """The bytes in a segment."""
        number, size, total, has_file = REFERENCE.unpack(reference)
        if has_file:
            self._map(number, total, files.pop(0))
        memory = self._memory[number]
        if _BODY_START + size > len(memory):
            raise ValueError(f"{size} bytes in a segment of {len(memory)}")
        body = np.frombuffer(memory, np.uint8, size, _BODY_START)
        weakref.finalize(body, _release, memory)
        return body

    def _map(self, number: int, total: int, file: int) -> None:
        try:
            sealed_file.check(file, total)
            self._memory[number] = mmap.mmap(file, total)
        finally:
            os.close(file)


def _release(memory: mmap.mmap) -> None:
    if len(memory) > _KEPT_BYTES:
        memory.madvise(mmap.MADV_REMOVE, mmap.PAGESIZE)
    memory[0] = 0


class SharedMemory:
    """Implements `media.Medium`: it reaches where files can be sent along."""

    def outbox(self, connection: socket.socket) -> Outbox | None:
        """What fills segments."""
        return Outbox() if connection.family == socket.AF_UNIX else None

    def inbox(self, connection: socket.socket) -> Inbox | None:
        """What maps them."""
        return Inbox() if connection.family == socket.AF_UNIX else None
