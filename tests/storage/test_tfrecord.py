"""Record files: round trips, TensorFlow's bytes, and damage of every kind."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorloom.framework import errors
from tensorloom.storage.tfrecord import RecordReader, RecordWriter

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
    from tensorloom.storage.crc32c import masked_crc32c

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
