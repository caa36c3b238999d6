"""Tensors that are lent instead of copied, over connections of one host."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorloom.framework import errors
from tensorloom.framework.runtime import lendable_memory
from tensorloom.framework.runtime.lendable_memory import LEAST
from tensorloom.transport.memory import lent_memory, shared_memory
from tensorloom.transport.memory.lent_memory import LentBody
from tensorloom.transport.memory.shared_memory import Inbox, Outbox
from tensorloom.transport.wire import frames, packing

Pair = tuple[Outbox, Inbox]


@pytest.fixture
def ends() -> Iterator[Pair]:
    outbox = Outbox()
    yield outbox, Inbox()
    outbox.close()


def lendable(values: Any) -> np.ndarray[Any, Any]:
    """An array with these values where it can be lent."""
    array = np.asarray(values)
    memory = lendable_memory.allocate(array.nbytes)
    assert memory is not None
    made = memory.view(array.dtype).reshape(array.shape)
    made[...] = array
    return made


def numbers(count: int = LEAST // 2, dtype: Any = np.int32) -> np.ndarray[Any, Any]:
    return (np.arange(count) % 30011).astype(dtype)


def is_lent(array: np.ndarray[Any, Any]) -> bool:
    return lendable_memory.is_lent(array.ctypes.data)


def send(ends: Pair, values: list[Any]) -> list[Any]:
    outbox, inbox = ends
    buffers, size = packing.pack(values)
    found = outbox.put(buffers, size)
    assert found is not None
    reference, files = found
    return packing.unpack(inbox.take(reference, [os.dup(file) for file in files]))


def test_the_receiver_reads_the_same_memory(ends: Pair) -> None:
    array = lendable(numbers())
    (received,) = send(ends, [array])
    np.testing.assert_array_equal(received, numbers())
    assert received.flags.writeable  # torch asks for it
    array[5] = -1  # what nobody does while it is lent
    assert received[5] == -1
    assert is_lent(array)
    part = received[100:]
    del received
    assert is_lent(array)
    del part
    assert not is_lent(array)


def test_the_receiver_cannot_change_it(ends: Pair) -> None:
    array = lendable(numbers())
    (received,) = send(ends, [array])
    received[3] = -1
    np.testing.assert_array_equal(array, numbers())


def test_it_is_sent_again_without_its_file(ends: Pair) -> None:
    array = lendable(numbers())
    for _ in range(3):
        (received,) = send(ends, [array])
        np.testing.assert_array_equal(received, array)
        del received
        array += 1
    assert len(ends[1]._borrower._mappings) == 1
    assert not ends[0]._segments


@pytest.mark.parametrize(
    "dtype",
    [
        *(np.float16, np.float32, np.float64, np.int8, np.uint8, np.int16, np.uint16),
        *(np.int32, np.uint32, np.int64, np.uint64, np.bool_, np.complex64),
        *(np.complex128, ml_dtypes.bfloat16),
    ],
)
def test_all_dtypes(ends: Pair, dtype: Any) -> None:
    array = lendable(numbers(LEAST, dtype).reshape(2, -1, 8))
    (received,) = send(ends, [array])
    assert is_lent(array)
    assert received.dtype == array.dtype
    np.testing.assert_array_equal(received, array)


def test_a_slice_is_lent_too(ends: Pair) -> None:
    array = lendable(numbers(LEAST).reshape(64, -1))
    (received,) = send(ends, [array[16:48]])
    assert is_lent(array)
    np.testing.assert_array_equal(received, array[16:48])
    columns = array[:, 1000:]  # not contiguous: it is copied to be sent
    del received
    (received,) = send(ends, [columns])
    assert not is_lent(array)
    np.testing.assert_array_equal(received, columns)


@pytest.mark.parametrize("large_rest", [False, True])
def test_lent_and_copied_side_by_side(ends: Pair, large_rest: bool) -> None:
    values: list[Any] = [
        np.float32(3.5),
        lendable(numbers()),
        np.array([b"a", b"bc"], object),
        lendable(-numbers()),
        lendable(numbers() * 2),
        np.zeros((0, 3), np.int64),
        numbers(LEAST if large_rest else 100),
    ]
    received = send(ends, values)
    for value, got in zip(values, received, strict=True):
        np.testing.assert_array_equal(got, value)
    assert [is_lent(values[i]) for i in (1, 3, 4)] == [True] * 3
    assert bool(ends[0]._segments) == large_rest
    del received, got
    assert [is_lent(values[i]) for i in (1, 3, 4)] == [False] * 3


def test_many_new_ones_in_one_frame(
    ends: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lent_memory, "MAX_FILES", 3)
    arrays = [lendable(numbers() + i) for i in range(5)]
    for lent in ([1, 1, 1, 0, 0], [1, 1, 1, 1, 1]):
        received = send(ends, arrays)
        assert [is_lent(array) for array in arrays] == [bool(i) for i in lent]
        for array, got in zip(arrays, received, strict=True):
            np.testing.assert_array_equal(got, array)
        del received, got


def test_the_receiver_forgets_retired_blocks(
    ends: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lendable_memory, "_MOST_KEPT", 0)
    mappings = ends[1]._borrower._mappings
    array = lendable(numbers())
    (received,) = send(ends, [array])
    del array
    np.testing.assert_array_equal(received, numbers())  # it is there still
    assert len(mappings) == 1
    del received
    assert not mappings
    # One that is not lent when it is retired goes with the next that comes.
    array = lendable(numbers())
    send(ends, [array])
    other = lendable(numbers())
    del array
    assert len(mappings) == 1
    (received,) = send(ends, [other])
    assert len(mappings) == 1
    np.testing.assert_array_equal(received, other)


def test_what_is_lent_outlives_the_connection() -> None:
    outbox, inbox = Outbox(), Inbox()
    array = lendable(numbers())
    (received,) = send((outbox, inbox), [array])
    outbox.close()
    del inbox
    assert is_lent(array)
    np.testing.assert_array_equal(received, numbers())
    del array
    np.testing.assert_array_equal(received, numbers())


READER = """
import socket, sys, time
from tensorloom.transport.wire import frames
from tensorloom.transport.wire import packing
reader = frames.FrameReader(socket.socket(fileno=int(sys.argv[1])))
(value,) = packing.unpack(reader.read().body)
print(int(value.sum()), flush=True)
time.sleep(600)
"""


def test_a_reader_that_is_killed() -> None:
    """What it held is lent for ever; its memory goes when the value moves."""
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    with ours, theirs:
        reader = subprocess.Popen(
            [sys.executable, "-c", READER, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdout=subprocess.PIPE,
        )
        try:
            writer = frames.FrameWriter(ours)
            array = lendable(numbers())
            body, size = packing.pack([array])
            writer.write(frames.VALUES, 1, b"", body, size)
            del body
            assert reader.stdout is not None
            assert int(reader.stdout.readline()) == numbers().sum(dtype=np.int64)
        finally:
            reader.kill()
            reader.communicate()
        assert is_lent(array)
        found = lendable_memory.find(array.ctypes.data, 1)
        assert found is not None
        writer.close()
        assert is_lent(array)
        del array
        assert found[0].is_retired


def test_frames_carry_what_is_lent() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    with ours, theirs:
        writer, reader = frames.FrameWriter(ours), frames.FrameReader(theirs)
        arrays = [lendable(numbers() + i) for i in range(2)]
        for array in (*arrays, *arrays):
            body, size = packing.pack([array, np.float32(1)])
            writer.write(frames.VALUES, 1, b"", body, size)
        writer.write(frames.VALUES, 2)
        for array in (*arrays, *arrays):
            received, _ = packing.unpack(reader.read().body)
            np.testing.assert_array_equal(received, array)
        assert reader.read().method == 2
        writer.close()
        reader.close()


def test_writer_and_readers_at_once() -> None:
    """Each value that is read is one that was written whole."""
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    rounds = 60
    failures: list[Any] = []

    def read() -> None:
        reader = frames.FrameReader(theirs)
        held: list[Any] = []
        try:
            for index in range(rounds):
                (value,) = packing.unpack(reader.read().body)
                held.append((index, value))
                if len(held) > 3:
                    held.pop(0)
                for number, old in held:
                    if old.min() != number or old.max() != number:
                        failures.append((number, old.min(), old.max()))
        except Exception as error:
            failures.append(error)

    thread = threading.Thread(target=read)
    with ours, theirs:
        thread.start()
        writer = frames.FrameWriter(ours)
        array = lendable(np.zeros(LEAST, np.int32))
        for index in range(rounds):
            if is_lent(array):  # as `variable_value.exclusive` does
                array = lendable(array)
            array[:] = index
            body, size = packing.pack([array])
            writer.write(frames.VALUES, 1, b"", body, size)
            del body
        thread.join()
        writer.close()
    assert not failures


def reference_of(ends: Pair) -> tuple[bytes, list[int]]:
    buffers, size = packing.pack([lendable(numbers())])
    found = ends[0].put(buffers, size)
    assert found is not None
    return found


FORM = shared_memory._FORM.size
FIELDS = ("position", "size", "number", "total", "start", "slot", "is_new")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("position", 2**40), ("position", 2**63), ("size", 2**40), ("size", 2**63)),
        *(("number", 10**6), ("total", 2**40), ("total", 1), ("total", 2**63)),
        *(("start", 0), ("start", 2**63), ("slot", 64), ("slot", 255)),
    ],
)
def test_malformed_references(ends: Pair, field: str, value: int) -> None:
    reference, files = reference_of(ends)
    end = FORM + lent_memory.PART.size
    fields = list(lent_memory.PART.unpack(reference[FORM:end]))
    fields[FIELDS.index(field)] = value
    if field == "number":
        fields[FIELDS.index("is_new")] = 0
    changed = reference[:FORM] + lent_memory.PART.pack(*fields) + reference[end:]
    with pytest.raises(errors.InvalidArgumentError, match="Malformed"):
        ends[1].take(changed, [os.dup(file) for file in files])


def test_cut_references(ends: Pair) -> None:
    reference, files = reference_of(ends)
    for end in range(FORM + lent_memory.PART.size):
        copies = [os.dup(file) for file in files]
        with pytest.raises(errors.InvalidArgumentError, match="Malformed"):
            ends[1].take(reference[:end], copies)
        for file in copies:
            os.close(file)
    with pytest.raises(errors.InvalidArgumentError, match="Malformed"):
        ends[1].take(reference, [])


def test_a_tensor_in_two_parts_is_malformed() -> None:
    rest = np.zeros(64, np.uint8)
    body = LentBody(rest, [(64, np.ones(128, np.uint8))])
    assert len(body) == 192
    for cut in (slice(32, 96), slice(128, 193), slice(100, 300)):
        with pytest.raises(ValueError, match="in two parts"):
            body[cut]
    head = struct.pack("<IHHqQ", 1, 1, 1, 40, 160)  # 40 floats, partly lent
    rest = np.frombuffer(head.ljust(96, b"\0"), np.uint8)
    with pytest.raises(errors.InvalidArgumentError, match="Malformed"):
        packing.unpack(LentBody(rest, [(96, np.ones(128, np.uint8))]))


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 50)), min_size=1, max_size=12))
def test_a_body_is_cut_as_if_it_were_whole(pieces: list[tuple[bool, int]]) -> None:
    whole = np.arange(sum(size for _, size in pieces)).astype(np.uint8)
    rest, parts, cuts, position = [], [], [], 0
    for is_part, size in pieces:
        piece = whole[position : position + size]
        if is_part:
            parts.append((position, piece))
        else:
            rest.append(piece)
        cuts.append(slice(position, position + size))
        position += size
    plain = np.concatenate(rest) if rest else np.empty(0, np.uint8)
    body = LentBody(plain, parts)
    assert len(body) == len(whole)
    for cut in cuts:
        np.testing.assert_array_equal(body[cut], whole[cut])
