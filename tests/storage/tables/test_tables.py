"""Tables, their numbers and their compression, and what is not believed of them."""

from __future__ import annotations

import base64
import contextlib
import io
import struct
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tensorloom.framework import errors
from tensorloom.framework.types.varint import encode_varint
from tensorloom.storage.checkpoints import slices
from tensorloom.storage.tables import ordered_code, snappy
from tensorloom.storage.tables.crc32c import masked_crc32c
from tensorloom.storage.tables.table_reader import TableReader
from tensorloom.storage.tables.table_writer import MAGIC, TableWriter, shared_length

# By Google's library.
COMPRESSED = {
    b"the quick brown fox jumps over the lazy dog; " * 9 + b"end": (
        "mAN4dGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVyIAEfIGxhenkgZG9nOwUO/i0A/i0A/i0A/i0A"
        "/i0Aji0ACGVuZA=="
    ),
    b"abc" * 2: "BhRhYmNhYmM=",
    b"": "AA==",
}


@pytest.mark.parametrize("data", COMPRESSED, ids=len)
def test_snappy(data: bytes) -> None:
    assert snappy.decompress(base64.b64decode(COMPRESSED[data])) == data


@pytest.mark.parametrize(
    "block",
    [
        b"",
        b"\x05",  # nothing comes
        b"\xff\xff\xff\xff\x0f\x00a",  # says 4 GB
        b"\xff" * 12,  # an endless number
        b"\x04\x0cab",  # a literal past the end
        b"\x08\x00a\x01\x02",  # a copy from before the start
        b"\x08\x00a\x01\x00",  # a copy from itself
        b"\x02\x00a\x0e\x01",  # an offset that is cut
        b"\x01\x04ab",  # more than it says
        b"\x05\xf4\xff\xff",  # a literal whose length is cut
    ],
)
def test_bad_snappy(block: bytes) -> None:
    with pytest.raises(IndexError):
        snappy.decompress(block)


@given(st.binary(max_size=200))
@example(b"\x10\x00a\xfe\x01\x00")
def test_any_snappy_ends(data: bytes) -> None:
    with contextlib.suppress(IndexError):
        assert len(snappy.decompress(data)) <= 22 * len(data)


numbers = st.integers(-(2**63), 2**63 - 1)


@given(numbers, numbers)
@example(-64, 63)
@example(2**55, -(2**55))
@example(2**62, 2**63 - 1)
def test_ordered_numbers(a: int, b: int) -> None:
    assert (ordered_code.signed(a) < ordered_code.signed(b)) == (a < b)


Key = tuple[bytes, list[tuple[int, int]]]
lengths = st.integers(-1, 2**40)
keys = st.tuples(
    st.text("\0\1\xfe\xff", max_size=4).map(lambda text: text.encode("latin-1")),
    st.lists(st.tuples(st.integers(0, 2**40), lengths), max_size=3),
)


@given(keys, keys)
@example((b"\0", []), (b"\0\xfe", []))
def test_slice_keys_sort_as_names_and_slices(a: Key, b: Key) -> None:
    first, second = (slices.slice_key(name, tuple(part)) for name, part in (a, b))
    order = (a[0], len(a[1]), a[1]), (b[0], len(b[1]), b[1])
    assert (first < second) == (order[0] < order[1])
    assert (first == second) == (a == b)


def test_slice_key_of_tensorflow() -> None:
    assert slices.slice_key(b"p", ((0, 2), (0, 2))).hex() == "0070000101028082" + "8082"


@given(st.binary(max_size=30), st.binary(max_size=30))
def test_shared_length(a: bytes, b: bytes) -> None:
    length = shared_length(a, b)
    assert a[:length] == b[:length]
    assert a[length : length + 1] != b[length : length + 1] or length == min(
        len(a), len(b)
    )


def table(rows: dict[bytes, bytes], block_size: int = 64) -> bytes:
    file = io.BytesIO()
    writer = TableWriter(file, block_size)
    for key in sorted(rows):
        writer.add(key, rows[key])
    writer.finish()
    return file.getvalue()


def read(data: bytes, path: Path, whole: bool = True) -> dict[bytes, bytes]:
    path.write_bytes(data)
    reader = TableReader(str(path), whole)
    try:
        rows = dict(reader.items())
        for key in rows:
            assert reader.get(key) == rows[key]
        return rows
    finally:
        reader.close()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables") / "t"


@given(
    rows=st.dictionaries(st.binary(max_size=20), st.binary(max_size=200), max_size=60),
    whole=st.booleans(),
)
@settings(max_examples=60)
def test_round_trip(path: Path, rows: dict[bytes, bytes], whole: bool) -> None:
    assert read(table(rows), path, whole) == rows


ROWS = {b"": b"header", **{b"key%03d" % i: b"v" * i for i in range(40)}}


@given(
    at=st.integers(0, len(table(ROWS)) - 1),
    bit=st.integers(0, 7),
    cut=st.booleans(),
    whole=st.booleans(),
)
@settings(max_examples=150)
def test_damage_is_seen(path: Path, at: int, bit: int, cut: bool, whole: bool) -> None:
    """No bit can be turned and nothing cut off without an error or the same rows."""
    data = bytearray(table(ROWS))
    if cut:
        del data[at:]
    else:
        data[at] ^= 1 << bit
    try:
        rows = read(bytes(data), path, whole)
    except errors.DataLossError:
        return
    assert rows == ROWS  # a byte that nothing depends on


def block(*entries: bytes, restarts: bytes = struct.pack("<II", 0, 1)) -> bytes:
    data = b"".join(entries) + restarts + b"\0"
    return data + struct.pack("<I", masked_crc32c(data))


def with_index(first: bytes, index: bytes, footer: bytes | None = None) -> bytes:
    at = len(first)
    if footer is None:
        footer = b"\0\0" + encode_varint(at) + encode_varint(len(index) - 5)
    return first + index + footer.ljust(40, b"\0") + struct.pack("<Q", MAGIC)


def entry(key: bytes, value: bytes, shared: int = 0) -> bytes:
    sizes = (shared, len(key), len(value))
    return b"".join(map(encode_varint, sizes)) + key + value


def handle(offset: int, size: int) -> bytes:
    return encode_varint(offset) + encode_varint(size)


DATA = block(entry(b"a", b"1"))
GOOD = handle(0, len(DATA) - 5)
HOSTILE = {
    "empty": b"",
    "magic only": struct.pack("<Q", MAGIC),
    "huge index offset": with_index(DATA, block(), handle(0, 0) + handle(2**63, 1)),
    "huge index size": with_index(DATA, block(), handle(0, 0) + handle(0, 2**63)),
    "endless varint": with_index(DATA, block(), b"\xff" * 40),
    "data offset past the end": with_index(DATA, block(entry(b"b", handle(2**62, 5)))),
    "data size of 2**63": with_index(DATA, block(entry(b"b", handle(0, 2**63)))),
    "same block twice": with_index(DATA, block(entry(b"b", GOOD), entry(b"c", GOOD))),
    "index is its own data": with_index(b"", block(entry(b"b", handle(0, 12)))),
    "no handle": with_index(DATA, block(entry(b"b", b""))),
    "duplicate keys": with_index(
        two := block(entry(b"a", b"1"), entry(b"a", b"2")),
        block(entry(b"b", handle(0, len(two) - 5))),
    ),
    "keys fall": with_index(
        two := block(entry(b"b", b"1"), entry(b"a", b"2")),
        block(entry(b"b", handle(0, len(two) - 5))),
    ),
    "key longer than the one before": with_index(
        two := block(entry(b"a", b"1", shared=9)),
        block(entry(b"b", handle(0, len(two) - 5))),
    ),
    "value past the block": with_index(
        two := block(b"\0\1\x7fa"), block(entry(b"b", handle(0, len(two) - 5)))
    ),
    "value of 2**63": with_index(
        two := block(b"\0\1" + encode_varint(2**63) + b"a"),
        block(entry(b"b", handle(0, len(two) - 5))),
    ),
    "restarts of 4 GB": with_index(
        two := block(entry(b"a", b"1"), restarts=b"\xff" * 8),
        block(entry(b"b", handle(0, len(two) - 5))),
    ),
    "no restarts": with_index(
        two := block(restarts=b"ab"), block(entry(b"b", handle(0, len(two) - 5)))
    ),
}


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile(path: Path, name: str, whole: bool) -> None:
    with pytest.raises(errors.DataLossError) as caught:
        read(HOSTILE[name], path, whole)
    assert str(path) in caught.value.message


def test_compressed_block(path: Path) -> None:
    inner = entry(b"a", b"x" * 30) + struct.pack("<II", 0, 1)
    packed = encode_varint(len(inner)) + b"".join(
        bytes([(len(part) - 1) << 2]) + part
        for part in (inner[i : i + 50] for i in range(0, len(inner), 50))
    )
    data = packed + b"\1"
    data += struct.pack("<I", masked_crc32c(data))
    index = block(entry(b"b", handle(0, len(packed))))
    assert read(with_index(data, index), path) == {b"a": b"x" * 30}
    for bad in (packed[:-3], b"\xff\xff\xff\xff\x0f"):
        data = bad + b"\1"
        data += struct.pack("<I", masked_crc32c(data))
        with pytest.raises(errors.DataLossError, match="compressed block"):
            read(with_index(data, block(entry(b"b", handle(0, len(bad))))), path)
    data = packed + b"\2"
    data += struct.pack("<I", masked_crc32c(data))
    with pytest.raises(errors.DataLossError, match="bad block type"):
        read(with_index(data, index), path)


def test_keys_must_increase() -> None:
    writer = TableWriter(io.BytesIO())
    writer.add(b"b", b"")
    for key in (b"b", b"a"):
        with pytest.raises(ValueError, match="increase"):
            writer.add(key, b"")
