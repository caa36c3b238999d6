"""Record files: round trips, TensorFlow's bytes, and damage of every kind."""

from __future__ import annotations

import gc
import random
import struct
import tracemalloc
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorloom.framework import errors
from tensorloom.storage.records import tfrecord
from tensorloom.storage.records.tfrecord import Deflation, RecordReader, RecordWriter
from tensorloom.storage.tables.crc32c import masked_crc32c

KINDS = [b"", b"GZIP", b"ZLIB"]
# What TensorFlow 1.15's TFRecordWriter wrote for the record b"abc".
ONE_RECORD = bytes.fromhex("0300000000000000b099490e6162636e57f121")


def _write(path: Path, records: list[bytes], kind: bytes = b"") -> None:
    with RecordWriter(str(path), kind) as writer:
        for record in records:
            writer.write(record)


def _read(path: Path, kind: bytes = b"") -> tuple[list[bytes], str]:
    found = []
    try:
        reader = RecordReader(str(path), kind)
        while records := reader.read_records():
            found += records
    except errors.DataLossError as error:
        return found, error.message
    return found, ""


def _read_traced(path: Path, kind: bytes) -> tuple[list[bytes], str, int]:
    """As `_read`, and the most bytes that reading held."""
    tracemalloc.start()
    try:
        found, message = _read(path, kind)
        return found, message, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", KINDS)
def test_round_trip(kind: bytes, tmp_path: Path) -> None:
    records = [b"", b"x", bytes(300_000), b"abc" * 7, b"y" * 65_536] * 3
    _write(tmp_path / "r", records, kind)
    assert _read(tmp_path / "r", kind) == (records, "")


def test_bytes_are_tensorflows(tmp_path: Path) -> None:
    _write(tmp_path / "r", [b"abc"])
    assert (tmp_path / "r").read_bytes() == ONE_RECORD


def test_concatenated_gzip_files_are_one(tmp_path: Path) -> None:
    _write(tmp_path / "a", [b"1"], b"GZIP")
    _write(tmp_path / "b", [b"2"], b"GZIP")
    both = (tmp_path / "a").read_bytes() + (tmp_path / "b").read_bytes()
    (tmp_path / "c").write_bytes(both)
    assert _read(tmp_path / "c", b"GZIP") == ([b"1", b"2"], "")


@pytest.mark.parametrize("cut", range(1, 19))
def test_a_cut_record_is_a_loss_behind_the_whole_ones(cut: int, tmp_path: Path) -> None:
    (tmp_path / "r").write_bytes(ONE_RECORD + ONE_RECORD[:cut])
    found, message = _read(tmp_path / "r")
    assert found == [b"abc"]
    assert message.startswith("truncated record at 19")
    assert str(tmp_path / "r") in message


@settings(max_examples=60, deadline=None)
@given(at=st.integers(0, 2 * 19 - 1), bit=st.integers(0, 7))
def test_a_flipped_bit_is_found(
    at: int, bit: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = bytearray(ONE_RECORD * 2)
    data[at] ^= 1 << bit
    path = tmp_path_factory.mktemp("records") / "r"
    path.write_bytes(bytes(data))
    found, message = _read(path)
    assert found == [b"abc"] * (at // 19)
    assert f"corrupted record at {at // 19 * 19}" in message


@pytest.mark.parametrize("length", [2**63, 2**31, 2**62 + 5])
@pytest.mark.parametrize("kind", KINDS)
def test_a_huge_length_takes_no_memory(
    length: int, kind: bytes, tmp_path: Path
) -> None:
    size = struct.pack("<Q", length)
    data = ONE_RECORD + size + struct.pack("<I", masked_crc32c(size)) + b"xyz"
    if kind:
        packer = zlib.compressobj(wbits=31 if kind == b"GZIP" else 15)
        data = packer.compress(data) + packer.flush()
    (tmp_path / "r").write_bytes(data)
    found, message = _read(tmp_path / "r", kind)
    assert found == [b"abc"]
    assert "record at 19" in message


@pytest.mark.parametrize("kind", KINDS[1:])
def test_damage_of_compressed_files(kind: bytes, tmp_path: Path) -> None:
    _write(tmp_path / "r", [bytes(range(256)) * 40], kind)
    whole = (tmp_path / "r").read_bytes()
    (tmp_path / "r").write_bytes(whole[: len(whole) // 2])
    assert "truncated compressed data" in _read(tmp_path / "r", kind)[1]
    (tmp_path / "r").write_bytes(b"not compressed at all")
    assert "inflate() failed" in _read(tmp_path / "r", kind)[1]


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(errors.NotFoundError, match="No such file or directory"):
        RecordReader(str(tmp_path / "missing"))


def test_unknown_compression(tmp_path: Path) -> None:
    with pytest.raises(errors.InvalidArgumentError):
        RecordWriter(str(tmp_path / "r"), b"LZ4")


@pytest.mark.parametrize("level", [0, 1, 9])
@pytest.mark.parametrize("kind", KINDS[1:])
def test_compression_levels(kind: bytes, level: int, tmp_path: Path) -> None:
    records = [bytes(range(256)) * 200] * 20
    with RecordWriter(str(tmp_path / "r"), kind, Deflation(level=level)) as writer:
        for record in records:
            writer.write(record)
    size = (tmp_path / "r").stat().st_size
    assert (size > 1_000_000) == (level == 0)
    assert _read(tmp_path / "r", kind) == (records, "")


def test_bad_options(tmp_path: Path) -> None:
    with pytest.raises(errors.InvalidArgumentError, match="memory_level=77"):
        RecordWriter(str(tmp_path / "r"), b"GZIP", Deflation(memory_level=77))


@pytest.mark.parametrize("kind", KINDS)
def test_flushed_records_can_be_read(kind: bytes, tmp_path: Path) -> None:
    writer = RecordWriter(str(tmp_path / "r"), kind)
    for i in range(3):
        writer.write(b"%d" % i)
        writer.flush()
        assert _read(tmp_path / "r", kind)[0] == [b"0", b"1", b"2"][: i + 1]
    writer.close()


def test_a_dropped_writer_finishes_its_file(tmp_path: Path) -> None:
    writer = RecordWriter(str(tmp_path / "r"), b"GZIP")
    writer.write(b"abc")
    del writer
    gc.collect()
    assert _read(tmp_path / "r", b"GZIP") == ([b"abc"], "")


def test_writing_after_the_end(tmp_path: Path) -> None:
    writer = RecordWriter(str(tmp_path / "r"))
    writer.close()
    writer.close()
    with pytest.raises(errors.FailedPreconditionError, match="previously closed"):
        writer.write(b"abc")
    with pytest.raises(TypeError):
        RecordWriter(str(tmp_path / "r")).write(7)


@pytest.mark.parametrize("record", ["text", 3, None])
def test_only_bytes_are_records(record: Any, tmp_path: Path) -> None:
    kind = type(record).__name__
    with (
        RecordWriter(str(tmp_path / "a")) as writer,
        pytest.raises(TypeError, match=f"expected bytes, {kind} found"),
    ):
        writer.write(record)


def test_flushing_after_the_end(tmp_path: Path) -> None:
    writer = RecordWriter(str(tmp_path / "a"))
    writer.close()
    with pytest.raises(errors.FailedPreconditionError, match="previously closed"):
        writer.flush()


def test_records_that_are_not_bytes_are_copied(tmp_path: Path) -> None:
    record = bytearray(b"abc")
    with RecordWriter(str(tmp_path / "r")) as writer:
        writer.write(record)
        record[0] = 0
        writer.write(memoryview(record))
    assert _read(tmp_path / "r")[0] == [b"abc", b"\0bc"]


def test_a_full_disk_is_told_by_name() -> None:
    with pytest.raises(errors.ResourceExhaustedError, match="/dev/full; No space"):
        _write_file_of(Path("/dev/full"))


def _write_file_of(path: Path) -> None:
    with RecordWriter(str(path)) as writer:
        for _ in range(1000):
            writer.write(bytes(1000))


@pytest.mark.parametrize("kind", KINDS[1:])
def test_a_bomb_is_unpacked_in_small_pieces(kind: bytes, tmp_path: Path) -> None:
    # Half a gigabyte of zeros: each block of them is a wrong length.
    packer = zlib.compressobj(9, wbits=31 if kind == b"GZIP" else 15)
    zeros = bytes(1 << 24)
    with open(tmp_path / "r", "wb") as file:
        file.write(packer.compress(ONE_RECORD))
        for _ in range(32):
            file.write(packer.compress(zeros))
        file.write(packer.flush())
    found, message, peak = _read_traced(tmp_path / "r", kind)
    assert found == [b"abc"]
    assert "corrupted record at 19" in message
    assert peak < 1 << 23


@pytest.mark.parametrize("kind", KINDS[1:])
def test_a_lying_length_in_a_bomb_is_not_unpacked(kind: bytes, tmp_path: Path) -> None:
    size = struct.pack("<Q", 1 << 30)
    packer = zlib.compressobj(9, wbits=31 if kind == b"GZIP" else 15)
    data = size + struct.pack("<I", masked_crc32c(size)) + bytes(1 << 20)
    (tmp_path / "r").write_bytes(packer.compress(data) + packer.flush())
    _, message, peak = _read_traced(tmp_path / "r", kind)
    assert "truncated record at 0" in message
    assert peak < 1 << 23


@pytest.mark.parametrize("kind", KINDS[1:])
def test_a_lying_length_that_might_be_true_takes_no_memory(
    kind: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file could hold it: it is inflated to see, and nothing is kept."""
    monkeypatch.setattr(tfrecord, "_TRUSTED", 1 << 20)
    size = struct.pack("<Q", 20 << 20)
    header = size + struct.pack("<I", masked_crc32c(size))
    packer = zlib.compressobj(9, wbits=31 if kind == b"GZIP" else 15)
    data = packer.compress(ONE_RECORD + header + bytes(19 << 20))
    data += packer.compress(random.Random(0).randbytes(1 << 16)) + packer.flush()
    (tmp_path / "r").write_bytes(data)
    found, message, peak = _read_traced(tmp_path / "r", kind)
    assert found == [b"abc"]
    assert "truncated record at 19" in message
    assert peak < 1 << 23


@pytest.mark.parametrize("kind", KINDS[1:])
def test_a_large_record_that_compresses_well(
    kind: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tfrecord, "_TRUSTED", 1 << 20)
    records = [b"a", bytes(4 << 20), b"b"]
    _write(tmp_path / "r", records, kind)
    assert list(RecordReader(str(tmp_path / "r"), kind)) == records
