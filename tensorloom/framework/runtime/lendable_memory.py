"""Allocates variables in memory that other tasks of the host can map and read.

A block is an anonymous file (memfd) that this process maps. A variable whose value
lies in a block is not copied when it is sent: the receiver maps the same pages
(`transport/memory/lent_memory.py`) and says in the first bytes of the file when it
needs them no more. Until then the block is lent and is not written: an update moves the
variable to another block first
(`kernels/torch/state/variable_value.py`). A block that a dead
peer has not given back stays lent; the variable leaves it with its next update, and the
memory is freed.

    bytes 0..63: 1 for each receiver that uses the block | byte 64: 1 when its owner has
    retired it: no receiver need keep it mapped | unused up to byte 4096 | the value

This module loads without torch. Where there is no memfd nothing is lent.
"""

from __future__ import annotations

import contextlib
import itertools
import mmap
import os
import threading
import weakref
from collections import deque
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from tensorloom.framework.runtime import huge_pages, sealed_file

#: Smaller values are copied: that costs no more than the lending.
LEAST: Final = 1 << 20
#: Where the value begins in a block's file.
START: Final = 4096
#: How many receivers may use a block at once.
SLOTS: Final = 64
#: The byte that says whether the owner has retired the block.
RETIRED: Final = SLOTS
# Each has two open files, and two more on each connection over which it was lent.
_MOST_BLOCKS: Final = 64
# Bytes of blocks that are kept for the next value when no value is in them.
_MOST_KEPT: Final = 512 << 20

_NOT_LENT: Final = bytes(SLOTS)
_numbers = itertools.count()
_lending = threading.Lock()

# Finalizers come at any time, in any thread, so there is no lock: each change is one
# operation of the dict or the deque.
#: By address: the blocks that values are in. Others only read it.
used: Final[dict[int, Block]] = {}
# Blocks that no value is in, oldest first.
_kept: Final[deque[Block]] = deque()
# The connections over which something can be lent.
_lenders: Final[weakref.WeakSet[Any]] = weakref.WeakSet()


class Block:
    """One file and its mapping."""

    def __init__(self, capacity: int) -> None:
        """Makes a file with room for a value.

        Raises:
          OSError: there is no memory, or no file to be had.
        """
        #: Different from that of any other block of the process.
        self.number = next(_numbers)
        self.file = sealed_file.make("tensorloom-variable", START + capacity)
        try:
            self.memory = mmap.mmap(self.file, START + capacity)
        except OSError:
            os.close(self.file)
            raise
        huge_pages.ask_for(self.memory, capacity)
        self.capacity = capacity
        self.address: int = np.frombuffer(self.memory, np.uint8, 1, START).ctypes.data
        self.is_retired = False
        #: Whether a peer that may be gone has not given it back.
        self.is_forsaken = False

    @property
    def is_lent(self) -> bool:
        """Whether another task uses it, so that it must not be written."""
        return self.is_retired or self.memory[:SLOTS] != _NOT_LENT

    def lend(self) -> int | None:
        """Marks the block as used by one more receiver, which clears the mark.

        Returns:
          Which of its first bytes is the mark; None when all are taken.
        """
        with _lending:
            slot = self.memory.find(b"\0", 0, SLOTS)
            if slot < 0 or self.is_retired:
                return None
            self.memory[slot] = 1
            return slot

    def retire(self) -> None:
        """Gives the memory back: now, or when the last receiver unmaps it."""
        if self.is_retired:
            return
        # First the mark: a receiver that gives back later sees it and unmaps.
        self.memory[RETIRED] = 1
        is_lent = self.is_lent
        self.is_retired = True
        if not is_lent:
            # Receivers may have it mapped still, though they do not use it.
            with contextlib.suppress(OSError):
                self.memory.madvise(mmap.MADV_REMOVE, START)
        os.close(self.file)


def allocate(size: int) -> np.ndarray[Any, Any] | None:
    """Bytes in a block of their own, with any contents; None where it cannot be.

    The block is free again when nobody holds the array or a view of it. While no peer
    of this host is connected there is nobody to lend to, and so no block.
    """
    if not _lenders:
        return None
    block = _take(size) or _new(size)
    if block is None:
        return None
    array: np.ndarray[Any, Any] = np.frombuffer(block.memory, np.uint8, size, START)
    used[block.address] = block
    weakref.finalize(array, _keep, block).atexit = False
    return array


def holds(address: int) -> bool:
    """Whether a block's value begins at this address."""
    return address in used


def is_lent(address: int) -> bool:
    """Whether a value begins here that another task reads."""
    block = used.get(address)
    return block is not None and block.is_lent


def find(address: int, size: int) -> tuple[Block, int] | None:
    """The block that these bytes lie in, and where in its file."""
    for start, block in used.copy().items():
        if start <= address and address + size <= start + block.capacity:
            return block, address - start + START
    return None


def add_lender(lender: object) -> None:
    """A connection can lend; until `remove_lender`, or until nobody holds it."""
    _lenders.add(lender)


def remove_lender(lender: object, lent: Iterable[Block]) -> None:
    """A connection is over: what is lent over it may never be given back.

    Args:
      lender: as for `add_lender`.
      lent: the blocks that the other end has.
    """
    _lenders.discard(lender)
    for block in {*lent, *(() if _lenders else _kept)}:
        if block.is_lent:
            block.is_forsaken = True
        with contextlib.suppress(ValueError):  # a value is in it, or is just put there
            _kept.remove(block)
            block.retire()


def _new(size: int) -> Block | None:
    if not hasattr(os, "memfd_create"):
        return None
    if len(used) + len(_kept) >= _MOST_BLOCKS:
        with contextlib.suppress(IndexError):
            _kept.popleft().retire()
    if len(used) + len(_kept) >= _MOST_BLOCKS:
        return None
    try:
        return Block(-(-size // START) * START)
    except OSError:
        return None


def _take(size: int) -> Block | None:
    """A kept block that fits and that nobody reads."""
    for _ in range(len(_kept)):
        try:
            block = _kept.popleft()
        except IndexError:
            break
        if block.is_forsaken:
            block.retire()
        elif size <= block.capacity <= 2 * size and not block.is_lent:
            return block
        else:
            _kept.append(block)
    return None


def _keep(block: Block) -> None:
    """Keeps a block that no value is in any more; not too many of them."""
    used.pop(block.address, None)
    if block.is_forsaken or not _lenders:
        block.retire()
        return
    _kept.append(block)
    while sum(other.capacity for other in list(_kept)) > _MOST_KEPT:
        with contextlib.suppress(IndexError):  # others take from it, too
            _kept.popleft().retire()


def _leave_to_parent() -> None:
    """In a forked child: the blocks are the parent's, so they count as lent here."""
    global _lending
    _lending = threading.Lock()
    for block in (*used.values(), *_kept):
        if not block.is_retired:
            block.is_retired = block.is_forsaken = True
            os.close(block.file)
    _kept.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)
