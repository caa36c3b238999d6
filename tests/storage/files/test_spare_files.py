"""Blocks of files that go are taken over by the next file, where nobody can tell."""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorloom.framework.types import dtypes
from tensorloom.storage.checkpoints.bundle_reader import BundleReader
from tensorloom.storage.checkpoints.bundle_writer import BundleWriter
from tensorloom.storage.checkpoints.checkpoints import open_anywhere
from tensorloom.storage.files import filesystem, leftovers, spare_files
from tensorloom.storage.files.direct_file import BUFFER

LEAST = 1 << 12
SIZE = 2 * BUFFER + 4097


@pytest.fixture(autouse=True)
def few_are_enough(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Short files are kept too, and until the end of the test."""
    monkeypatch.setattr(spare_files, "_LEAST", LEAST)
    monkeypatch.setattr(spare_files, "_KEPT_S", 60)
    yield
    for spare in [*spare_files._spares]:
        spare.timer.cancel()
        spare_files._free(spare)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A file that is to go, on a file system with leases."""
    path = tmp_path / "old"
    path.write_bytes(b"x" * SIZE)
    with open(path, "rb+") as file:
        try:
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        except (OSError, AttributeError):
            pytest.skip("no leases")
    return path


def _write(path: Path, size: int) -> int:
    """Writes a file of so many bytes; its inode."""
    staged = filesystem.stage_file(path)
    staged.reserve(size)
    staged.append(np.full(size, ord("y"), np.uint8))
    staged.seal()
    staged.publish()
    assert path.read_bytes() == b"y" * size
    return path.stat().st_ino


@pytest.mark.parametrize("more", [-LEAST, -1, 0, 1, 3 * BUFFER])
def test_blocks_are_taken_over(tmp_path: Path, old: Path, more: int) -> None:
    inode = old.stat().st_ino
    spare_files.retire(str(old))
    assert not old.exists()
    assert _write(tmp_path / "new", SIZE + more) == inode
    assert os.listdir(tmp_path) == ["new"]


def test_writes_past_the_cache_refused(
    tmp_path: Path, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tensorloom.storage.files.direct_file._O_DIRECT", 0)
    inode = old.stat().st_ino
    spare_files.retire(str(old))
    assert _write(tmp_path / "new", SIZE - 1) == inode


def _open(path: Path, stack: contextlib.ExitStack) -> None:
    stack.enter_context(path.open("rb"))


def _link(path: Path, stack: contextlib.ExitStack) -> None:
    (path.parent / "link").hardlink_to(path)


def _protect(path: Path, stack: contextlib.ExitStack) -> None:
    path.chmod(0o600)


def _mark(path: Path, stack: contextlib.ExitStack) -> None:
    try:
        os.setxattr(path, "user.kept", b"1")
    except OSError:
        pytest.skip("no attributes")


@pytest.mark.parametrize("reason", [_open, _link, _protect, _mark])
def test_others_would_see_it(
    tmp_path: Path, old: Path, reason: Callable[[Path, Any], None]
) -> None:
    with contextlib.ExitStack() as stack:
        reason(old, stack)
        inode = old.stat().st_ino
        spare_files.retire(str(old))
        assert _write(tmp_path / "new", SIZE) != inode
    assert len(spare_files._spares) == 1  # until its time is over
    if reason is _link:
        assert (tmp_path / "link").read_bytes() == b"x" * SIZE


def test_what_does_not_fit_stays(tmp_path: Path, old: Path) -> None:
    """Another directory, too little to come, and a length that nobody told."""
    inode = old.stat().st_ino
    spare_files.retire(str(old))
    (tmp_path / "other").mkdir()
    assert _write(tmp_path / "other" / "new", SIZE) != inode
    assert _write(tmp_path / "short", SIZE - LEAST - 1) != inode
    filesystem.write_file(tmp_path / "untold", b"z" * SIZE)
    assert _write(tmp_path / "new", SIZE) == inode


def test_short_files_go_at_once(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * (LEAST - 1))
    spare_files.retire(str(tmp_path / "f"))
    assert not list(tmp_path.iterdir())
    with pytest.raises(FileNotFoundError):
        spare_files.retire(str(tmp_path / "f"))


def test_links_go_at_once(tmp_path: Path, old: Path) -> None:
    (tmp_path / "link").symlink_to(old)
    spare_files.retire(str(tmp_path / "link"))
    assert os.listdir(tmp_path) == ["old"]


def test_freed_if_nothing_is_written(
    tmp_path: Path, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spare_files, "_KEPT_S", 0.01)
    spare_files.retire(str(old))
    deadline = time.monotonic() + 60
    while list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.001)
    assert not list(tmp_path.iterdir())
    assert not spare_files._spares


def test_no_leftover(tmp_path: Path, old: Path) -> None:
    spare_files.retire(str(old))
    leftovers.remove_leftovers(str(tmp_path))
    assert len(list(tmp_path.iterdir())) == 1


def test_after_chdir(
    tmp_path: Path, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spare_files.retire("old")
    monkeypatch.chdir("/")
    (spare,) = spare_files._spares
    spare_files._free(spare)
    assert not list(tmp_path.iterdir())


@pytest.mark.multiprocess
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_has_none(old: Path) -> None:
    """Else it would keep the bytes of a removed checkpoint for as long as it lives."""
    spare_files.retire(str(old))
    (spare,) = spare_files._spares
    child = os.fork()
    if not child:
        try:
            os.fstat(spare.descriptor)
        except OSError:
            os._exit(len(spare_files._spares))
        os._exit(9)
    assert os.waitpid(child, 0)[1] == 0
    os.fstat(spare.descriptor)


_RETIRE = """
import sys
from tensorloom.storage.files import spare_files
spare_files._LEAST = 1
spare_files.retire(sys.argv[1])
print("retired", flush=True)
if len(sys.argv) > 2:
    sys.stdin.read()
"""


@pytest.mark.multiprocess
def test_a_process_that_ends_leaves_nothing(tmp_path: Path, old: Path) -> None:
    subprocess.run([sys.executable, "-c", _RETIRE, old], check=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.multiprocess
def test_the_next_save_removes_those_of_killed_ones(tmp_path: Path, old: Path) -> None:
    program = _RETIRE.replace("_LEAST = 1", "_LEAST, spare_files._KEPT_S = 1, 600")
    with subprocess.Popen(
        [sys.executable, "-c", program, old, "wait"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"retired\n"
        _save(tmp_path / "m", 1)
        assert len(list(tmp_path.iterdir())) == 3
        other.kill()
        other.wait()
    _save(tmp_path / "m", 2)
    names = [path.name for path in tmp_path.iterdir() if "of-index" not in path.name]
    assert sorted(names) == ["m.data-00000-of-00001", "m.index"]


def _save(prefix: Path, value: int) -> None:
    array = np.full(LEAST, value, np.int64)
    with BundleWriter(str(prefix)) as writer:
        writer.expect([array])
        writer.add(b"a", dtypes.int64, array)
        writer.finish()


def _data(prefix: Path) -> Path:
    return prefix.with_name(prefix.name + ".data-00000-of-00001")


def test_checkpoints_take_turns(tmp_path: Path, old: Path) -> None:
    """Of one name, saved again and again: two files are enough."""
    inodes = []
    for value in range(5):
        _save(tmp_path / "m", value)
        inodes.append(_data(tmp_path / "m").stat().st_ino)
        with BundleReader(str(tmp_path / "m")) as reader:
            assert (reader.read(b"a") == value).all()
    assert inodes[:2] * 2 == inodes[:4]
    assert inodes[4] == inodes[0]


def test_an_open_checkpoint_stays_as_it_was(tmp_path: Path, old: Path) -> None:
    readers = []
    for value in range(4):
        _save(tmp_path / "m", value)
        readers.append(open_anywhere(str(tmp_path / "m")))
    for value, reader in enumerate(readers):
        assert (reader.read(b"a") == value).all()
        reader.close()
