"""Files of killed savers go with the next save; those of living ones stay."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorloom.framework import errors
from tensorloom.framework.types import dtypes
from tensorloom.storage.checkpoints.bundle_reader import BundleReader
from tensorloom.storage.checkpoints.bundle_writer import BundleWriter
from tensorloom.storage.files import filesystem, leftovers

_STAGE = """
import sys, time
from tensorloom.storage.files import filesystem
staged = filesystem.stage_file(sys.argv[1])
staged.append(b"x" * 10)
print("staged", flush=True)
time.sleep(60)
"""


def _save(prefix: Path | str, value: Any) -> None:
    with BundleWriter(str(prefix)) as writer:
        writer.add(b"a", dtypes.int64, np.asarray(value, np.int64))
        writer.finish()


def _names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


SAVED = {"m.index", "m.data-00000-of-00001"}


@pytest.mark.multiprocess
def test_of_a_killed_process(tmp_path: Path) -> None:
    other = subprocess.Popen(
        [sys.executable, "-c", _STAGE, str(tmp_path / "n")], stdout=subprocess.PIPE
    )
    assert other.stdout is not None
    assert other.stdout.readline() == b"staged\n"
    _save(tmp_path / "m", 1)
    (theirs,) = _names(tmp_path) - SAVED  # it lives
    other.kill()
    other.wait()
    other.stdout.close()
    assert theirs in _names(tmp_path)
    _save(tmp_path / "m", 2)
    assert _names(tmp_path) == SAVED


def test_of_this_process(tmp_path: Path) -> None:
    mine = filesystem.stage_file(tmp_path / "n")
    mine.append(b"text")
    mine.seal()
    _save(tmp_path / "m", 1)
    mine.publish()
    assert _names(tmp_path) == SAVED | {"n"}
    assert (tmp_path / "n").read_bytes() == b"text"


def test_of_other_hosts_when_old(tmp_path: Path) -> None:
    left = tmp_path / ("n.tempstate" + "0" * 40)
    tensorflows = tmp_path / "n.data-00000-of-00001.tempstate17236412"
    parts = tmp_path / ("m_temp_" + "0" * 32)
    parts.mkdir()
    for path in (left, tensorflows, parts / "part-00000-of-00002.index"):
        path.write_text("")
    _save(tmp_path / "m", 1)
    assert {left.name, tensorflows.name, parts.name} <= _names(tmp_path)
    for path in (left, tensorflows, parts / "part-00000-of-00002.index", parts):
        os.utime(path, (1e9, 1e9))
    _save(tmp_path / "m", 1)
    assert _names(tmp_path) == SAVED | {tensorflows.name}


def test_taken_for_a_leftover(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody removes a temporary file between its making and its locking."""
    hold, calls = leftovers.hold, []

    def late(descriptor: int) -> bool:
        calls.append(descriptor)
        if len(calls) == 1:
            for path in tmp_path.iterdir():
                path.unlink()
        return hold(descriptor)

    monkeypatch.setattr("tensorloom.storage.files.local_filesystem.hold", late)
    filesystem.write_file(tmp_path / "f", b"text")
    assert len(calls) == 2
    assert (tmp_path / "f").read_bytes() == b"text"


def test_kept_shards_of_a_crash(tmp_path: Path) -> None:
    _save(tmp_path / "m", 1)
    (tmp_path / "m.data-00000-of-00001.of-index-0123abcd").write_text("")
    (tmp_path / "m.data-00000-of-00001.of-index-mine").write_text("")
    _save(tmp_path / "m", 2)
    assert _names(tmp_path) == SAVED | {"m.data-00000-of-00001.of-index-mine"}


def test_a_store_always_has_the_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """At every change of an object there is the old or the new checkpoint, whole."""
    prefix = "memory://leftovers/m"
    _save(prefix, 1)
    files: Any = filesystem.filesystem_of(prefix)
    seen: list[int] = []

    def check() -> None:
        with BundleReader(prefix) as reader:
            seen.append(int(reader.read(b"a")))

    for name in ("cp_file", "rm_file", "mv"):
        method = getattr(files._files, name)

        def checked(*args: Any, _method: Any = method, **options: Any) -> None:
            check()
            _method(*args, **options)
            check()

        monkeypatch.setattr(files._files, name, checked)
    _save(prefix, 2)
    assert len(seen) >= 8
    assert seen == sorted(seen)
    assert set(seen) == {1, 2}
    assert filesystem.list_directory("memory://leftovers") == sorted(SAVED)


def test_reader_while_a_store_changes() -> None:
    """A reader that opened a shard before it was replaced is told so."""
    prefix = "memory://replaced/m"
    _save(prefix, 1)
    reader = BundleReader(prefix)
    reader.read(b"a")
    assert not reader.is_replaced()
    data = f"{prefix}.data-00000-of-00001"
    from tensorloom.storage.checkpoints.bundle_files import kept_name

    filesystem.copy(data, kept_name(data, reader._table.data))
    assert reader.is_replaced()
    filesystem.write_file(data, b"")
    with BundleReader(prefix) as other:
        assert other.read(b"a") == 1
    with pytest.raises(errors.NotFoundError):
        reader.read(b"b")
