"""Records by number."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorloom.framework import errors
from tensorloom.storage.records import record_file
from tensorloom.storage.records.record_file import RecordFile
from tensorloom.storage.records.tfrecord import RecordWriter

KINDS = [b"", b"GZIP", b"ZLIB"]


def _write(path: Path, records: list[bytes], kind: bytes) -> str:
    with RecordWriter(str(path), kind) as writer:
        for record in records:
            writer.write(record)
    return str(path)


@pytest.mark.parametrize("kind", KINDS)
def test_as_a_sequence(kind: bytes, tmp_path: Path) -> None:
    records = [b"%d" % i * (i % 7) for i in range(500)]
    with RecordFile(_write(tmp_path / "r", records, kind), kind) as file:
        assert len(file) == 500
        assert [file[i] for i in (0, 499, 3, -1, -500)] == [
            records[i] for i in (0, 499, 3, -1, -500)
        ]
        assert file[490:] == records[490:]
        assert file[::-100] == records[::-100]
        assert list(file) == records
        for index in (500, -501):
            with pytest.raises(IndexError, match=f"record {index} of 500"):
                file[index]


@pytest.mark.parametrize("kind", KINDS)
def test_empty(kind: bytes, tmp_path: Path) -> None:
    assert len(RecordFile(_write(tmp_path / "r", [], kind), kind)) == 0


@pytest.mark.parametrize("kind", KINDS[1:])
def test_restart_points(
    kind: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few, however long the file; and each goes on where it should."""
    monkeypatch.setattr(record_file, "_RESTART_EVERY", 1 << 12)
    monkeypatch.setattr(record_file, "_MAX_RESTARTS", 5)
    monkeypatch.setattr(record_file, "_BLOCK", 1 << 10)
    source = random.Random(0)
    records = [source.randbytes(source.randrange(400)) for _ in range(2000)]
    file = RecordFile(_write(tmp_path / "r", records, kind), kind)
    for index in source.sample(range(2000), 100):
        assert file[index] == records[index]
    restarts = file._contents._restarts
    assert 1 < len(restarts) <= 6
    assert [r[0] for r in restarts] == sorted(r[0] for r in restarts)


def test_concatenated_gzip_files(tmp_path: Path) -> None:
    names = [_write(tmp_path / n, [n.encode()] * 50, b"GZIP") for n in "ab"]
    both = b"".join(Path(name).read_bytes() for name in names)
    (tmp_path / "c").write_bytes(both)
    file = RecordFile(str(tmp_path / "c"), b"GZIP")
    assert [file[i] for i in (99, 0, 50, 49)] == [b"b", b"a", b"b", b"a"]


def _read(name: str, kind: bytes) -> tuple[list[bytes], str]:
    try:
        with RecordFile(name, kind) as file:
            return list(file), ""
    except errors.DataLossError as error:
        return [], error.message


@settings(max_examples=60, deadline=None)
@given(
    data=st.data(),
    kind=st.sampled_from(KINDS),
    records=st.lists(st.binary(max_size=40), max_size=6),
)
def test_any_damage_is_data_loss(
    data: st.DataObject,
    kind: bytes,
    records: list[bytes],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("records") / "r"
    name = _write(path, records, kind)
    whole = bytearray(path.read_bytes())
    if whole and data.draw(st.booleans()):
        whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(
            st.integers(1, 255)
        )
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])
    found, message = _read(name, kind)
    # What is left out at the end, between two records, cannot be seen.
    assert name in message or found == records[: len(found)]


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(errors.NotFoundError):
        RecordFile(str(tmp_path / "missing"))
