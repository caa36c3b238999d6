"""Anything in the place of a record file: an answer or DataLossError, never more.

`data/damaged_records` keeps files that once got another answer, or that people who mean
harm would write. What Hypothesis finds goes there.
"""

from __future__ import annotations

import struct
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorloom.framework import errors
from tensorloom.storage.records.event_files import read_events
from tensorloom.storage.records.record_file import RecordFile
from tensorloom.storage.records.tfrecord import RecordReader
from tensorloom.storage.tables.crc32c import masked_crc32c

CORPUS = Path(__file__).parents[1] / "data" / "damaged_records"
KINDS = [b"", b"GZIP", b"ZLIB"]
_MOST_MEMORY = 1 << 24


def _framed(data: bytes) -> bytes:
    size = struct.pack("<Q", len(data))
    checksums = (masked_crc32c(size), masked_crc32c(data))
    return (
        size + struct.pack("<I", checksums[0]) + data + struct.pack("<I", checksums[1])
    )


def _length(length: int) -> bytes:
    size = struct.pack("<Q", length)
    return size + struct.pack("<I", masked_crc32c(size))


def _packed(data: bytes, kind: bytes) -> bytes:
    if not kind:
        return data
    packer = zlib.compressobj(9, wbits=31 if kind == b"GZIP" else 15)
    return packer.compress(data) + packer.flush()


# Parts of a file: whole records, lengths without a record, anything.
PARTS = st.lists(
    st.one_of(
        st.binary(max_size=30).map(_framed),
        st.integers(0, 2**64 - 1).map(_length),
        st.binary(max_size=30),
    ),
    max_size=5,
).map(b"".join)


def _answers(path: Path, kind: bytes) -> list[Any]:
    """What the readers say; an error of theirs names the file."""
    readers: list[Callable[[], Any]] = [
        lambda: list(RecordReader(str(path), kind)),
        lambda: _by_number(path, kind),
    ]
    if not kind:
        readers.append(lambda: list(read_events(str(path))))
    found = []
    for read in readers:
        try:
            found.append(read())
        except errors.DataLossError as error:
            found.append(None)
            if str(path) not in error.message:
                raise AssertionError(error.message) from error
    return found


def _by_number(path: Path, kind: bytes) -> list[bytes]:
    with RecordFile(str(path), kind) as file:
        return [file[i] for i in range(len(file))]


@settings(max_examples=150, deadline=None)
@given(
    data=PARTS,
    written=st.sampled_from(KINDS),
    read=st.sampled_from(KINDS),
    cut=st.integers(0, 20),
)
def test_any_file(
    data: bytes,
    written: bytes,
    read: bytes,
    cut: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "file"
    packed = _packed(data, written)
    path.write_bytes(packed[: len(packed) - cut])
    one_by_one, by_number, *_ = _answers(path, read)
    assert one_by_one == by_number


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("path", sorted(CORPUS.iterdir()), ids=lambda path: path.name)
def test_kept_files(path: Path, kind: bytes) -> None:
    tracemalloc.start()
    one_by_one, by_number, *_ = _answers(path, kind)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert one_by_one == by_number
    assert peak < _MOST_MEMORY
