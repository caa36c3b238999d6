"""Blocks of tables: many entries at once read as they are one by one."""

from __future__ import annotations

import itertools
import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tensorloom.framework.types.varint import decode_varint, encode_varint
from tensorloom.storage.tables.table_block import Block
from tensorloom.storage.tables.table_writer import shared_length

Entries = tuple[list[bytes], list[bytes]]


def block(rows: dict[bytes, bytes], interval: int = 16) -> bytes:
    """A block of these rows, as the format says."""
    data, restarts, last = b"", [], b""
    for index, key in enumerate(sorted(rows)):
        shared = shared_length(last, key) if index % interval else 0
        if index % interval == 0:
            restarts.append(len(data))
        for number in (shared, len(key) - shared, len(rows[key])):
            data += encode_varint(number)
        data += key[shared:] + rows[key]
        last = key
    return data + struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts))


def one_by_one(data: bytes) -> Entries | None:
    """The entries of a block, read as the format says; None if it is damaged."""
    end = len(data) - 4 - 4 * int.from_bytes(data[-4:], "little")
    keys: list[bytes] = []
    values: list[bytes] = []
    at, key = 0, b""
    try:
        while at < end:
            shared, at = decode_varint(data, at)
            unshared, at = decode_varint(data, at)
            size, at = decode_varint(data, at)
            if shared > len(key) or at + unshared + size > end:
                return None
            keys.append(key := key[:shared] + data[at : at + unshared])
            values.append(data[at + unshared : at + unshared + size])
            at += unshared + size
    except IndexError:
        return None
    return (keys, values) if end >= 0 else None


def read(data: bytes) -> Entries | None:
    try:
        result = Block(data)
    except IndexError:
        return None
    keys = result.keys
    assert result.in_order == all(a < b for a, b in itertools.pairwise(keys))
    assert result.sizes.tolist() == list(map(len, result.values))
    assert [result.key(i) for i in range(len(result))] == keys
    texts = result.texts()
    assert texts is None or texts == [key.decode() for key in keys if key]
    return keys, result.values


NAMES = st.integers(0, 400).map(lambda i: f"tower_{i % 3}/layer_{i // 3}/w".encode())
KEYS = st.one_of(NAMES, st.binary(max_size=5), st.binary(min_size=100, max_size=140))
VALUES = st.binary(max_size=20)


@given(st.dictionaries(KEYS, VALUES, max_size=300), st.sampled_from([1, 2, 16, 50]))
def test_entries(rows: dict[bytes, bytes], interval: int) -> None:
    keys = sorted(rows)
    assert read(block(rows, interval)) == (keys, [rows[key] for key in keys])


MANY = {
    f"layer_{i}/kernel".encode(): b"\x08\x01\x12" + b"v" * (i % 5) for i in range(200)
}


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(MANY, id="plain"),
        pytest.param({b"": b"header", **MANY}, id="empty key"),
        pytest.param({**MANY, b"layer_1\0": b""}, id="zero at the end"),
        pytest.param({**MANY, b"\0layer\0\0\x80": b"x"}, id="zeros within"),
        pytest.param({**MANY, b"n" * 128: b"x"}, id="long key"),
        pytest.param({**MANY, b"m": b"x" * 128}, id="long value"),
        pytest.param({**MANY, "größe".encode(): b"x", b"\xff": b"y"}, id="high bytes"),
        pytest.param({b"k%03d" % i: b"" for i in range(64)}, id="no values"),
    ],
)
def test_many_entries(rows: dict[bytes, bytes]) -> None:
    keys = sorted(rows)
    assert read(block(rows)) == (keys, [rows[key] for key in keys])


@given(
    at=st.integers(0, len(block(MANY)) - 1),
    byte=st.integers(0, 255),
    cut=st.integers(0, 3),
)
@example(at=0, byte=5, cut=0)  # the first key shares with none
@example(at=1, byte=0, cut=0)
@example(at=len(block(MANY)) - 6, byte=255, cut=0)  # a restart past the end
@example(at=len(block(MANY)) - 4, byte=0, cut=0)  # no restarts
def test_damaged_blocks_read_as_they_do_one_by_one(
    at: int, byte: int, cut: int
) -> None:
    data = bytearray(block(MANY))
    data[at] = byte
    damaged = bytes(data[cut:])
    assert read(damaged) == one_by_one(damaged)


@pytest.mark.parametrize(
    ("entry", "count"),
    [
        pytest.param(b"\0\0\1x", 96, id="no keys"),
        pytest.param(b"\0\1\0x", 96, id="equal keys"),
    ],
)
def test_many_equal_entries(entry: bytes, count: int) -> None:
    restarts = range(0, count * len(entry), 16 * len(entry))
    end = struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts))
    data = entry * count + end
    assert read(data) == one_by_one(data)
    assert not Block(data).in_order


def test_more_entries_behind_the_last_restart_than_behind_others() -> None:
    rows = {b"k%03d" % i: b"v" for i in range(200)}
    data = block(rows)
    (count,) = struct.unpack("<I", data[-4:])
    restarts = struct.unpack(f"<{count}I", data[-4 - 4 * count : -4])[:-3]
    data = data[: -4 - 4 * count] + struct.pack(f"<{count - 2}I", *restarts, count - 3)
    assert read(data) == one_by_one(data) == (sorted(rows), [b"v"] * 200)


def test_keys_out_of_order_are_noticed() -> None:
    data = bytearray(block({b"k%03d" % i: b"" for i in range(100)}))
    data[6] = ord("z")  # the first key
    assert not Block(bytes(data)).in_order
