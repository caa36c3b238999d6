"""Large files are written past the cache where that goes, and whole in any case."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorloom as tf
from tensorloom.framework import errors
from tensorloom.storage.files import direct_file, filesystem
from tensorloom.storage.files.direct_file import BUFFER, DirectFile
from tensorloom.storage.tables import crc32c


def _bytes(size: int) -> Any:
    return (np.arange(size, dtype=np.uint32) * 2654435761 >> 13).astype(np.uint8)


def _write(path: Path, pieces: list[Any], expected: int = 0) -> None:
    with open(path, "xb") as file:
        direct = DirectFile(str(path), file.fileno(), expected)
        try:
            for piece in pieces:
                direct.append(piece)
            direct.finish()
        finally:
            direct.close()


@pytest.mark.parametrize("mode", ["direct", "not opened", "not written"])
@pytest.mark.parametrize(
    "size", [0, 1, 4096, BUFFER - 1, BUFFER, BUFFER + 1, 11 * BUFFER + 4097]
)
def test_all_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, mode: str
) -> None:
    if mode == "not opened":
        monkeypatch.setattr(direct_file, "_O_DIRECT", 0)
    elif mode == "not written":
        write_all = direct_file._write_all

        def refused(descriptor: int, flat: Any, offset: int) -> None:
            if os.get_blocking(descriptor) and descriptor in opened:
                raise OSError(errno.EINVAL, "not aligned")
            write_all(descriptor, flat, offset)

        opened: list[int] = []
        open_direct = DirectFile._open_direct

        def noted(self: DirectFile) -> None:
            open_direct(self)
            opened.append(self._direct)

        monkeypatch.setattr(direct_file, "_write_all", refused)
        monkeypatch.setattr(DirectFile, "_open_direct", noted)
    data = _bytes(size)
    cuts = [0, *sorted({min(size, at) for at in (3, 5000, BUFFER, BUFFER * 2 + 7)})]
    pieces = [data[a:b] for a, b in zip(cuts, [*cuts[1:], size], strict=True)]
    _write(tmp_path / "f", [b"ab", *pieces])
    found = (tmp_path / "f").read_bytes()
    assert len(found) == size + 2
    assert found == b"ab" + data.tobytes()


@pytest.mark.parametrize("size", [5, BUFFER, 2 * BUFFER, 2 * BUFFER + 4097])
@pytest.mark.parametrize("more", [-BUFFER, -1, 0, 1, 3 * BUFFER])
@pytest.mark.parametrize("mode", ["reserved", "no such call", "refused", "plain"])
def test_as_long_as_its_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, more: int, mode: str
) -> None:
    """However many bytes were expected, and wherever their room cannot be taken."""
    if mode == "no such call":
        monkeypatch.setattr(direct_file, "_fallocate", lambda: None)
    elif mode == "refused":
        monkeypatch.setattr(direct_file, "_fallocate", lambda: lambda *_: -1)
    elif mode == "plain":
        monkeypatch.setattr(direct_file, "_O_DIRECT", 0)
    data = _bytes(size)
    _write(tmp_path / "f", [data], size + more)
    assert (tmp_path / "f").read_bytes() == data.tobytes()


def test_room_is_taken_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the first bytes are written, and for all tensors that are to be saved."""
    asked: list[int] = []

    def reserve(descriptor: int, size: int) -> None:
        asked.append(size)
        assert os.fstat(descriptor).st_size == 0

    monkeypatch.setattr(direct_file, "_reserve", reserve)
    monkeypatch.setattr(DirectFile, "_open_direct", _opened_plainly)
    tensors = [_bytes(BUFFER), _bytes(BUFFER + 3)]
    with tf.Graph().as_default(), tf.Session() as session:
        saved = tf.raw_ops.SaveV2(
            prefix=str(tmp_path / "m"),
            tensor_names=["a", "b"],
            shape_and_slices=["", ""],
            tensors=tensors,
        )
        session.run(saved)
    assert asked == [2 * BUFFER + 3]


def _opened_plainly(file: DirectFile) -> None:
    """As where the file system allows direct writes."""
    direct_file._reserve(file._plain, file._size)


def test_errors_of_the_threads_are_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(direct_file, "_write_all", full)
    staged = filesystem.stage_file(tmp_path / "f")
    for _ in range(4):
        staged.append(_bytes(BUFFER))
    with pytest.raises(OSError, match="No space"):
        staged.append(_bytes(BUFFER))
    with pytest.raises(errors.ResourceExhaustedError, match="No space"):
        staged.seal()
    staged.discard()
    assert list(tmp_path.iterdir()) == []


@given(st.binary(max_size=300), st.binary(max_size=300))
@settings(max_examples=50, deadline=None)
def test_checksums_are_combined(first: bytes, second: bytes) -> None:
    both = crc32c.combine(crc32c.crc32c(first), crc32c.crc32c(second), len(second))
    assert both == crc32c.crc32c(first + second)
