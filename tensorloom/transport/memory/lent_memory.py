"""Tensors that are not copied at all: the receiver maps the memory that they are in.

What lies in a block of `framework/runtime/lendable_memory.py` is lent: the frame says
which block, and where in it; the block's file comes along when the connection carries
it for the first time. The receiver maps it so that what it wrote, by mistake, would be
a copy of its own, and clears the mark in the block when the last array there is gone.
"""

from __future__ import annotations

import mmap
import os
import struct
import threading
import weakref
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.runtime import lendable_memory, sealed_file
from tensorloom.framework.runtime.lendable_memory import LEAST, RETIRED, SLOTS, START

if TYPE_CHECKING:
    from tensorloom.transport.wire.packing import Buffer

#: A lent part: where in the body it stands, its bytes, the number of the block, the
#: bytes of its file, where in the file the part is, which byte there marks it as used,
#: and 1 if the file comes with the frame.
PART: Final = struct.Struct("<QQQQQBB")
#: Parts of one frame; the others are copied.
MAX_PARTS: Final = 255
#: New files of one frame.
MAX_FILES: Final = 16


@dataclass(slots=True)
class Lent:
    """A body with lent parts."""

    parts: list[bytes] = field(default_factory=list)
    rest: list[Buffer] = field(default_factory=list)  # to be copied
    rest_size: int = 0  # their bytes
    files: list[int] = field(default_factory=list)  # to be sent along


class Lender:
    """One end of a connection, as it lends. One thread at a time."""

    def __init__(self) -> None:
        # Those that the other end has, and the lock for them.
        self._lock = threading.Lock()
        self._known: weakref.WeakSet[lendable_memory.Block] = weakref.WeakSet()
        lendable_memory.add_lender(self)

    def lend(self, buffers: Sequence[Buffer]) -> Lent:
        """Lends what can be lent of a body."""
        lent = Lent()
        position = 0
        for buffer in buffers:
            size = len(buffer)
            part = self._part(buffer, position, lent) if size >= LEAST else None
            if part is None:
                lent.rest.append(buffer)
                lent.rest_size += size
            else:
                lent.parts.append(part)
            position += size
        return lent

    def _part(self, buffer: Buffer, position: int, lent: Lent) -> bytes | None:
        size = len(buffer)
        address = np.frombuffer(buffer, np.uint8).ctypes.data
        found = lendable_memory.find(address, size)
        if found is None or len(lent.parts) == MAX_PARTS:
            return None
        block, start = found
        is_new = block not in self._known
        if is_new and len(lent.files) == MAX_FILES:
            return None
        slot = block.lend()
        if slot is None:
            return None
        if is_new:
            with self._lock:
                self._known.add(block)
            lent.files.append(block.file)
        total = START + block.capacity
        return PART.pack(position, size, block.number, total, start, slot, is_new)

    def end(self) -> None:
        """The other end is gone: what is lent may never be given back. Any thread."""
        with self._lock:
            known = list(self._known)
        lendable_memory.remove_lender(self, known)


# A lent part as it was received: where in the body it stands, and its bytes.
Borrowed = tuple[int, np.ndarray[Any, Any]]


class LentBody:
    """A received body with lent parts, sliced like an array of its bytes."""

    def __init__(self, rest: np.ndarray[Any, Any], parts: Sequence[Borrowed]) -> None:
        """Puts a body together.

        Args:
          rest: the bytes that are not lent, of which the first are the body's first.
          parts: those that are, in their order.

        Raises:
          ValueError: the parts overlap, or leave gaps.
        """
        self.rest = rest
        self._positions = [position for position, _ in parts]
        self._parts = [part for _, part in parts]
        # Lent bytes before each part, and before the end.
        self._before = [0]
        for position, part in parts:
            before = self._before[-1]
            if not before <= position <= before + len(rest):
                raise ValueError(f"a lent tensor at {position}")
            self._before.append(before + len(part))

    def __len__(self) -> int:
        return len(self.rest) + self._before[-1]

    def __getitem__(self, cut: slice) -> np.ndarray[Any, Any]:
        """The bytes from `cut.start` to `cut.stop`, which lie in one part.

        Raises:
          ValueError: they do not.
        """
        index = bisect(self._positions, cut.start) - 1
        if index >= 0:
            part = self._parts[index]
            start = cut.start - self._positions[index]
            if start < len(part):
                found = part[start : cut.stop - self._positions[index]]
                return _whole(found, cut)
        before = self._before[index + 1]
        return _whole(self.rest[cut.start - before : cut.stop - before], cut)


def _whole(found: np.ndarray[Any, Any], cut: slice) -> np.ndarray[Any, Any]:
    if len(found) != cut.stop - cut.start:
        raise ValueError(f"a tensor at {cut.start} in two parts")
    return found


class _Mapping:
    """A block of another task."""

    def __init__(self, file: int, total: int) -> None:
        """Maps a file, and closes it.

        Raises:
          ValueError, OSError: it cannot be mapped.
        """
        try:
            if total < START:
                raise ValueError(f"a block of {total} bytes")
            sealed_file.check(file, total)
            self.marks = mmap.mmap(file, START)
            self.memory = mmap.mmap(file, total, access=mmap.ACCESS_COPY)
        finally:
            os.close(file)

    @property
    def is_retired(self) -> bool:
        return self.marks[RETIRED] != 0


class Borrower:
    """One end of a connection, as it is lent to. One thread at a time."""

    def __init__(self) -> None:
        # Finalizers look for nothing here: they have the marks.
        self._mappings: dict[int, _Mapping] = {}

    def take(self, parts: bytes, files: list[int]) -> list[Borrowed]:
        """The lent parts of a body; a part is given back with its array.

        Args:
          parts: as `Lent.parts`, joined.
          files: received files in their order; the parts' are taken out.

        Raises:
          LookupError, ValueError, OSError, struct.error: malformed.
        """
        taken = []
        for part in PART.iter_unpack(parts):
            position, size, number, total, start, slot, is_new = part
            if is_new:
                self._forget_retired()
                self._mappings[number] = _Mapping(files.pop(0), total)
            mapping = self._mappings[number]
            if start < START or slot >= SLOTS or start + size > len(mapping.memory):
                raise ValueError(f"{size} bytes at {start}, marked by {slot}")
            array = np.frombuffer(mapping.memory, np.uint8, size, start)
            weakref.finalize(array, _give_back, self._mappings, number, mapping, slot)
            taken.append((position, array))
        return taken

    def _forget_retired(self) -> None:
        for number, mapping in list(self._mappings.items()):
            if mapping.is_retired:
                self._mappings.pop(number, None)


def _give_back(
    mappings: dict[int, _Mapping], number: int, mapping: _Mapping, slot: int
) -> None:
    mapping.marks[slot] = 0
    # A number is never used again, so this is the mapping that is meant.
    if mapping.is_retired:
        mappings.pop(number, None)
