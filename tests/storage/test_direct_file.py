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

from tensorloom.framework import errors
from tensorloom.storage import crc32c, direct_file, filesystem
from tensorloom.storage.direct_file import BUFFER, DirectFile


def _bytes(size: int) -> Any:
    return (np.arange(size, dtype=np.uint32) * 2654435761 >> 13).astype(np.uint8)


def _write(path: Path, pieces: list[Any]) -> None:
    with open(path, "xb") as file:
        direct = DirectFile(str(path), file.fileno())
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
