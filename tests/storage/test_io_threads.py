"""Threads of storage, and what forked processes see of them."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tensorloom.storage import io_threads
from tensorloom.storage.local_filesystem import remove_name


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _opened(directory: Path) -> int:
    path = directory / "file"
    path.write_bytes(b"x")
    return os.open(path, os.O_RDONLY)


def test_close_later(tmp_path: Path) -> None:
    descriptor = _opened(tmp_path)
    io_threads.close_later(descriptor, 0.01)
    deadline = time.monotonic() + 60
    while _is_open(descriptor) and time.monotonic() < deadline:
        time.sleep(0.001)
    assert not _is_open(descriptor)


@pytest.mark.multiprocess
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_closes_at_once(tmp_path: Path) -> None:
    """Else it would keep the bytes of a removed checkpoint for as long as it lives."""
    descriptor = _opened(tmp_path)
    io_threads.close_later(descriptor, 0.5)
    child = os.fork()
    if not child:
        os._exit(_is_open(descriptor))
    assert os.waitpid(child, 0)[1] == 0
    assert _is_open(descriptor)


def test_a_removed_name_is_gone_at_once(tmp_path: Path) -> None:
    os.close(_opened(tmp_path))
    remove_name(str(tmp_path / "file"))
    assert not list(tmp_path.iterdir())
