"""Blocks that variables are kept in: lent, kept, given back to the system."""

from __future__ import annotations

import os
import subprocess
import sys
import weakref
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tensorloom.framework.runtime import lendable_memory
from tensorloom.framework.runtime.lendable_memory import LEAST, Block

SIZE = 2 * LEAST


class Lender:
    """Stands for a connection."""


@pytest.fixture(autouse=True)
def nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """What other tests have left is not seen."""
    monkeypatch.setattr(lendable_memory, "_lenders", weakref.WeakSet())
    monkeypatch.setattr(lendable_memory, "_kept", deque())
    monkeypatch.setattr(lendable_memory, "used", {})


@pytest.fixture
def lender() -> Iterator[Lender]:
    held = Lender()
    lendable_memory.add_lender(held)
    yield held
    lendable_memory.remove_lender(held, ())


def address_of(array: Any) -> int:
    return int(array.ctypes.data)


def block_of(array: Any) -> Block:
    found = lendable_memory.find(address_of(array), array.nbytes)
    assert found is not None
    return found[0]


def stored_bytes(file: int) -> int:
    return os.fstat(file).st_blocks * 512


def test_without_a_peer_nothing_is_allocated() -> None:
    assert lendable_memory.allocate(SIZE) is None


def test_an_array_is_found_by_its_address(lender: Lender) -> None:
    array = lendable_memory.allocate(SIZE)
    assert array is not None
    assert len(array) == SIZE
    assert address_of(array) % 64 == 0
    assert lendable_memory.holds(address_of(array))
    block, start = lendable_memory.find(address_of(array) + 64, 100)  # type: ignore[misc]
    assert start == lendable_memory.START + 64
    assert lendable_memory.find(address_of(array) + SIZE - 1, LEAST) is None
    assert os.pread(block.file, 1, start) == array[64:65].tobytes()


def test_it_is_lent_until_all_have_given_it_back(lender: Lender) -> None:
    array = lendable_memory.allocate(SIZE)
    block = block_of(array)
    slots = [block.lend() for _ in range(lendable_memory.SLOTS)]
    assert slots == list(range(lendable_memory.SLOTS))
    assert block.lend() is None
    for slot in slots:
        assert lendable_memory.is_lent(address_of(array))
        assert slot is not None
        os.pwrite(block.file, b"\0", slot)  # as a receiver does
    assert not lendable_memory.is_lent(address_of(array))


def test_a_block_is_used_again_but_not_while_it_is_lent(lender: Lender) -> None:
    array = lendable_memory.allocate(SIZE)
    first = block_of(array)
    slot = first.lend()
    del array
    array = lendable_memory.allocate(SIZE)
    second = block_of(array)
    assert second is not first
    first.memory[slot] = 0
    del array
    array = lendable_memory.allocate(SIZE)
    other = lendable_memory.allocate(SIZE)
    assert {block_of(array), block_of(other)} == {first, second}


def test_kept_memory_has_a_limit(
    lender: Lender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lendable_memory, "_MOST_KEPT", SIZE)
    arrays = [lendable_memory.allocate(SIZE) for _ in range(3)]
    blocks = [block_of(array) for array in arrays]
    while arrays:
        arrays.pop(0)
    assert [block.is_retired for block in blocks] == [True, True, False]
    assert [block.memory[lendable_memory.RETIRED] for block in blocks] == [1, 1, 0]


def test_blocks_have_a_limit(lender: Lender, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lendable_memory, "_MOST_BLOCKS", 2)
    arrays = [lendable_memory.allocate(SIZE) for _ in range(2)]
    assert lendable_memory.allocate(SIZE) is None
    del arrays
    assert lendable_memory.allocate(8 * SIZE) is not None  # no kept one fits


def test_no_memory_file_to_be_had(
    lender: Lender, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> int:
        raise OSError("too many open files")

    monkeypatch.setattr(os, "memfd_create", refuse)
    assert lendable_memory.allocate(SIZE) is None
    monkeypatch.delattr(os, "memfd_create")
    assert lendable_memory.allocate(SIZE) is None


def test_retired_memory_is_freed_though_others_map_it(lender: Lender) -> None:
    array = lendable_memory.allocate(SIZE)
    array[:] = 1
    block = block_of(array)
    theirs = os.dup(block.file)
    assert stored_bytes(theirs) >= SIZE
    del array
    lendable_memory.remove_lender(lender, [block])
    assert block.is_retired
    assert stored_bytes(theirs) <= 4096  # but for the marks
    os.close(theirs)


def test_what_is_lent_when_it_is_retired_stays_whole(lender: Lender) -> None:
    array = lendable_memory.allocate(SIZE)
    array[:] = 7
    block = block_of(array)
    theirs = os.dup(block.file)
    block.lend()
    del array
    lendable_memory.remove_lender(lender, [block])
    assert block.is_retired
    read = os.pread(theirs, SIZE, lendable_memory.START)
    assert np.all(np.frombuffer(read, np.uint8) == 7)
    os.close(theirs)


def test_a_block_that_a_lost_peer_holds_is_never_used_again(lender: Lender) -> None:
    other = Lender()
    lendable_memory.add_lender(other)
    array = lendable_memory.allocate(SIZE)
    block = block_of(array)
    block.lend()
    lendable_memory.remove_lender(other, [block])
    assert lendable_memory.is_lent(address_of(array))
    assert not block.is_retired  # a value is in it
    del array
    assert block.is_retired
    assert block_of(lendable_memory.allocate(SIZE)) is not block


FORKED = """
import os, numpy
from tensorloom.framework.runtime import lendable_memory
class Lender: pass
lender = Lender()
lendable_memory.add_lender(lender)
array = lendable_memory.allocate(1 << 21)
array[:] = 3
address = array.ctypes.data
(block, _) = lendable_memory.find(address, 1)
child = os.fork()
if child == 0:
    assert lendable_memory.is_lent(address) and block.lend() is None
    del array  # gives nothing back: it is the parent's
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert not lendable_memory.is_lent(address) and not block.is_retired
assert numpy.all(array == 3)
"""


def test_a_forked_child_leaves_the_memory_alone() -> None:
    subprocess.run([sys.executable, "-c", FORKED], check=True)
