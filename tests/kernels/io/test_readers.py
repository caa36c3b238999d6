"""Readers, beside keys, values and errors recorded from TensorFlow 1.15."""

from __future__ import annotations

import gzip
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.storage.tables.crc32c import masked_crc32c


def _record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    checks = [struct.pack("<I", masked_crc32c(part)) for part in (length, data)]
    return length + checks[0] + data + checks[1]


_RECORDS = b"".join(_record(data) for data in (b"one", b"two", b"three"))
_THREE = [("r:0", b"one"), ("r:19", b"two"), ("r:38", b"three")]
_FILES = {
    "a": b"h1\nl1\nl2\r\nl3",
    "b": b"h\nm1\n\n",
    "empty": b"",
    "f": b"HHaabbccddF",
    "r": _RECORDS,
    "bad": _RECORDS[:20] + b"X" + _RECORDS[21:],
    "cut": _RECORDS[:-3],
}
_PACKED = {"gz": gzip.compress(_RECORDS), "z": zlib.compress(_RECORDS)}


def _text(**options: Any) -> Any:
    return lambda: tf.TextLineReader(**options)


def _fixed(*lengths: int) -> Any:
    return lambda: tf.FixedLengthRecordReader(*lengths)


CASES: dict[str, tuple[Any, list[str], list[tuple[str, bytes]], tuple[int, int]]] = {
    "lines": (
        _text(),
        ["a", "empty", "b"],
        [
            ("a:1", b"h1"),
            ("a:2", b"l1"),
            ("a:3", b"l2"),
            ("a:4", b"l3"),
            ("b:1", b"h"),
            ("b:2", b"m1"),
            ("b:3", b""),
        ],
        (7, 3),
    ),
    "header": (
        _text(skip_header_lines=1),
        ["a", "b"],
        [
            ("a:2", b"l1"),
            ("a:3", b"l2"),
            ("a:4", b"l3"),
            ("b:2", b"m1"),
            ("b:3", b""),
        ],
        (5, 2),
    ),
    "whole": (
        lambda: tf.WholeFileReader(),
        ["a", "empty"],
        [("a", _FILES["a"]), ("empty", b"")],
        (2, 2),
    ),
    "fixed": (
        _fixed(2, 2, 1),
        ["f"],
        [("f:0", b"aa"), ("f:1", b"bb"), ("f:2", b"cc"), ("f:3", b"dd")],
        (4, 1),
    ),
    "hop": (
        _fixed(2, 2, 1, 3),
        ["f"],
        [("f:0", b"aa"), ("f:1", b"bc"), ("f:2", b"dd")],
        (3, 1),
    ),
    "remainder": (_fixed(4), ["f"], [("f:0", b"HHaa"), ("f:1", b"bbcc")], (2, 1)),
    "too long": (_fixed(40), ["f"], [], (0, 1)),
    "records": (lambda: tf.TFRecordReader(), ["r"], _THREE, (3, 1)),
}


def _queue(session: Any, folder: Path, names: list[str]) -> Any:
    queue = tf.FIFOQueue(10, [tf.string], shapes=[[]])
    session.run(queue.enqueue_many([[str(folder / name) for name in names]]))
    session.run(queue.close())
    return queue


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, data in {**_FILES, **_PACKED}.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


@pytest.mark.parametrize("name", CASES)
def test_records_and_counts(name: str, folder: Path) -> None:
    make, files, expected, counts = CASES[name]
    with tf.Graph().as_default(), tf.Session() as session:
        reader = make()
        record = reader.read(_queue(session, folder, files))
        found = []
        for _ in expected:
            key, value = session.run(record)
            found.append((key.decode().removeprefix(f"{folder}/"), value))
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(record)
        numbers = session.run(
            [reader.num_records_produced(), reader.num_work_units_completed()]
        )
    assert found == expected
    assert tuple(numbers) == counts


@pytest.mark.parametrize(("file", "compression"), [("gz", "GZIP"), ("z", "ZLIB")])
def test_compressed_records(file: str, compression: str, folder: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        reader = tf.TFRecordReader(options=compression)
        record = reader.read(_queue(session, folder, [file]))
        values = [session.run(record)[1] for _ in range(3)]
    assert values == [b"one", b"two", b"three"]


# Maker, file, how many good records there are, error.
ERRORS: dict[str, tuple[Any, str, int, type[Exception], str]] = {
    "missing": (
        _text(),
        "none",
        0,
        tf.errors.NotFoundError,
        "none; No such file or directory",
    ),
    "directory": (_text(), "", 0, tf.errors.FailedPreconditionError, "Is a directory"),
    "corrupted": (
        lambda: tf.TFRecordReader(),
        "bad",
        1,
        tf.errors.DataLossError,
        "corrupted record at 19",
    ),
    "truncated": (
        lambda: tf.TFRecordReader(),
        "cut",
        2,
        tf.errors.DataLossError,
        "truncated record at 38",
    ),
    "not compressed": (
        lambda: tf.TFRecordReader(options="GZIP"),
        "r",
        0,
        tf.errors.DataLossError,
        "incorrect header check",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_bad_files(name: str, folder: Path) -> None:
    make, file, good, kind, message = ERRORS[name]
    with tf.Graph().as_default(), tf.Session() as session:
        record = make().read(_queue(session, folder, [file]))
        for _ in range(good):
            session.run(record)
        for _ in range(2):  # the error stays
            with pytest.raises(kind, match=message):
                session.run(record)


def test_records_of_an_lmdb_database(tmp_path: Path) -> None:
    lmdb = pytest.importorskip("lmdb")
    with (
        lmdb.open(str(tmp_path), map_size=1 << 20) as database,
        database.begin(write=True) as transaction,
    ):
        for number in (2, 0, 1):
            transaction.put(b"k%d" % number, b"v%d" % number)
    with tf.Graph().as_default(), tf.Session() as session:
        reader = tf.LMDBReader(options=None)
        record = reader.read(_queue(session, tmp_path, ["data.mdb"]))
        found = [tuple(session.run(record)) for _ in range(3)]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(record)
        produced = session.run(reader.num_records_produced())
    assert found == [(b"k0", b"v0"), (b"k1", b"v1"), (b"k2", b"v2")]
    assert produced == 3


def test_nodes_of_an_lmdb_reader() -> None:
    """The only reader without a resource: what it reads of is a reference, too."""
    with tf.Graph().as_default() as graph:
        tf.LMDBReader(name="r").read(tf.FIFOQueue(1, [tf.string], name="q"))
    assert [
        (op.type, [t.name for t in op.inputs]) for op in graph.get_operations()
    ] == [
        ("LMDBReader", []),
        ("FIFOQueueV2", []),
        ("FakeQueue", ["q:0"]),
        ("ReaderRead", ["r:0", "FakeQueue:0"]),
    ]


def test_up_to_ends_with_the_file(folder: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        reader = tf.TextLineReader()
        records = reader.read_up_to(_queue(session, folder, ["a", "b"]), 3)
        sizes = [len(session.run(records)[0]) for _ in range(3)]
    assert sizes == [3, 1, 3]


def test_state_of_an_identity_reader(folder: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        reader = tf.IdentityReader()
        record = reader.read(_queue(session, folder, ["x", "y"]))
        session.run(record)
        state = session.run(reader.serialize_state())
        produced = reader.num_records_produced()
        session.run(reader.reset())
        assert session.run(produced) == 0
        session.run(reader.restore_state(state))
        assert session.run(produced) == 1
        with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse"):
            session.run(reader.restore_state(b"\xff\xff"))


@pytest.mark.parametrize("capacity", [1, 2, 2**31 - 1])
def test_record_input_gives_each_record_once_a_pass(
    tmp_path: Path, capacity: int
) -> None:
    (tmp_path / "r").write_bytes(_RECORDS)
    with tf.Graph().as_default(), tf.Session() as session:
        records = tf.raw_ops.RecordInput(
            file_pattern=str(tmp_path / "r"), file_buffer_size=capacity, batch_size=3
        )
        for _ in range(4):
            assert sorted(session.run(records)) == [b"one", b"three", b"two"]
