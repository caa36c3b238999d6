"""The second copy: made in the background, whole, with retries; and read from."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.framework import errors
from tensorloom.storage import Mirror
from tensorloom.storage.files import filesystem, leftovers, mirror
from tensorloom.storage.files.fsspec_filesystem import FsspecFileSystem

_names = itertools.count()


@pytest.fixture
def second() -> Iterator[str]:
    """A place in memory."""
    path = f"memory://mirror{next(_names)}/run"
    yield path
    if filesystem.exists(filesystem.parent(path)):
        filesystem.remove_tree(filesystem.parent(path))
    for one in mirror.mirrors():
        one.close(0)


def saver_of_one(sess: tf.Session) -> tf.train.Saver:
    variable = tf.get_variable("v", initializer=1.5)
    sess.run(variable.initializer)
    return tf.train.Saver(max_to_keep=2)


def test_saver_is_mirrored(tmp_path: Path, second: str) -> None:
    source = str(tmp_path / "run")
    with Mirror(source, second) as copies, tf.Session() as sess:
        saver = saver_of_one(sess)
        for step in range(4):
            saver.save(sess, source + "/m", global_step=step)
        copies.flush(60)
        assert filesystem.list_directory(second) == sorted(
            p.name for p in Path(source).iterdir()
        )
        assert copies.backlog == mirror.Backlog(0, 0, 0.0, (), "")
        assert tf.train.latest_checkpoint(source) == source + "/m-3"
        # A fresh machine, which has the second place only.
        assert tf.train.latest_checkpoint(second) == second + "/m-3"
        assert tf.train.load_variable(second, "v") == 1.5


def test_restore_falls_back(tmp_path: Path, second: str) -> None:
    source = str(tmp_path / "run")
    with Mirror(source, second) as copies, tf.Session() as sess:
        saver = saver_of_one(sess)
        path = saver.save(sess, source + "/m", global_step=7)
        assert path is not None
        copies.flush(60)
        value = tf.global_variables()[0]
        for lost in ("m-7.data-00000-of-00001", "m-7.index", "checkpoint"):
            (Path(source) / lost).unlink()
            sess.run(value.assign(0.0))
            saver.restore(sess, path)
            assert sess.run(value) == 1.5, lost
        filesystem.remove_tree(source)
        assert tf.train.load_variable(path, "v") == 1.5
        assert tf.train.list_variables(source) == [("v", [])]
        state = tf.train.get_checkpoint_state(source)
        assert state.model_checkpoint_path == second + "/m-7"
        found = tf.train.latest_checkpoint(source)
        assert found == second + "/m-7"
        saver.restore(sess, found)
        saver.restore(sess, path)


def test_damage_falls_back(tmp_path: Path, second: str) -> None:
    source = str(tmp_path / "run")
    with Mirror(source, second) as copies, tf.Session() as sess:
        saver = saver_of_one(sess)
        path = saver.save(sess, source + "/m")
        copies.flush(60)
        (Path(source) / "m.data-00000-of-00001").write_bytes(b"\1\2\3\4")
        saver.restore(sess, path)
        assert sess.run(tf.global_variables()[0]) == 1.5


class _Unsteady(FsspecFileSystem):
    """Fails some times before it works."""

    def __init__(self, failures: int) -> None:
        import fsspec

        super().__init__("unsteady", fsspec.filesystem("memory"))
        self.failures = failures

    def stage(self, path: str) -> Any:
        if self.failures:
            self.failures -= 1
            raise errors.UnavailableError(None, None, "the store is away")
        return super().stage(path)


def unsteady(failures: int) -> str:
    name = f"unsteady{next(_names)}"
    filesystem.register_filesystem(name, lambda: _Unsteady(failures))
    return f"{name}://mirror{next(_names)}"


def test_retries(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("text")
    place = unsteady(3)
    with Mirror(str(tmp_path), place, retry_delay_s=0.001) as copies:
        copies.copy([str(tmp_path / "a"), "/elsewhere/b"])
        copies.flush(60)
        assert filesystem.read_file(place + "/a") == b"text"


def test_gives_up_and_says_so(tmp_path: Path) -> None:
    path = str(tmp_path / "a")
    Path(path).write_text("text")
    copies = Mirror(str(tmp_path), unsteady(99), retries=2, retry_delay_s=0.001)
    copies.copy([path])
    with pytest.raises(errors.UnavailableError, match="1 files could not be copied"):
        copies.close(60)
    with pytest.raises(errors.FailedPreconditionError, match="closed"):
        copies.copy([path])


def test_the_last_checkpoint_of_a_full_store_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be copied does not cost the copy that is there."""
    source, second = str(tmp_path / "run"), str(tmp_path / "second")
    stage = Mirror._stage
    full = False

    def stage_if_not_full(self: Mirror, path: str) -> filesystem.StagedFile:
        if full:
            raise errors.ResourceExhaustedError(None, None, "no space")
        return stage(self, path)

    monkeypatch.setattr(Mirror, "_stage", stage_if_not_full)
    with Mirror(source, second, retries=0) as copies, tf.Session() as sess:
        saver = saver_of_one(sess)
        for step in range(6):
            full = step in (1, 3, 4, 5)
            saver.save(sess, source + "/m", global_step=step)
            with contextlib.suppress(errors.UnavailableError):
                copies.flush(60)
            newest = tf.train.latest_checkpoint(second)
            assert newest == second + ("/m-0" if step < 2 else "/m-2"), step
            assert tf.train.load_variable(second, "v") == 1.5
        saver.save(sess, source + "/m", global_step=6)
        with pytest.raises(errors.UnavailableError, match=r"checkpoint: .*no space"):
            copies.flush(60)
        (Path(second) / f"m-7.index.tempstate{leftovers._HOST}{'0' * 32}").touch()
        full = False
        saver.save(sess, source + "/m", global_step=7)
        copies.flush(60)
        assert sorted({p.name.partition(".")[0] for p in Path(second).iterdir()}) == [
            "checkpoint",
            "m-7",
        ]
        assert not [p for p in Path(second).iterdir() if "tempstate" in p.name]


def test_not_the_same_place(tmp_path: Path) -> None:
    with pytest.raises(errors.InvalidArgumentError, match="the same place"):
        Mirror(str(tmp_path), f"{tmp_path}/")


def test_backlog_is_visible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go = threading.Event()
    run = Mirror._run

    def wait(self: Mirror, job: Any) -> None:
        go.wait(60)
        run(self, job)

    monkeypatch.setattr(Mirror, "_run", wait)
    paths = [str(tmp_path / name) for name in "ab"]
    for path in paths:
        Path(path).write_bytes(b"12345")
    with Mirror(str(tmp_path), f"memory://m{next(_names)}") as copies:
        copies.copy(paths)
        copies.remove(["/not/mirrored"])
        backlog = copies.backlog
        assert (backlog.files, backlog.bytes) == (2, 10)
        assert backlog.oldest_s > 0
        with pytest.raises(errors.DeadlineExceededError, match=r"2 files \(10 bytes\)"):
            copies.flush(0.01)
        go.set()


def test_replaced_while_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A set that changes while it is copied is not published half old, half new."""
    a, b = (tmp_path / name for name in "ab")
    place = f"memory://m{next(_names)}"
    fill = Mirror._fill

    def fill_and_change(self: Mirror, path: str, staged: Any) -> None:
        fill(self, path, staged)
        a.write_bytes(b"newer")

    a.write_bytes(b"old")
    b.write_bytes(b"old")
    with Mirror(str(tmp_path), place) as copies:
        monkeypatch.setattr(Mirror, "_fill", fill_and_change)
        copies.copy([str(a), str(b)])
        copies.flush(60)
        assert not filesystem.exists(place + "/a")
        assert not filesystem.exists(place + "/b")


def test_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, second: str
) -> None:
    monkeypatch.setenv("TENSORLOOM_MIRROR", f"{tmp_path}={second}; /x=/y")
    monkeypatch.setattr(mirror, "_from_environment", False)
    assert mirror.copies_of(f"{tmp_path}/m-1") == [second + "/m-1"]
    assert mirror.copies_of("/x/q") == ["/y/q"]
    assert mirror.copies_of("/xx/q") == []
    monkeypatch.setenv("TENSORLOOM_MIRROR", "nonsense")
    monkeypatch.setattr(mirror, "_from_environment", False)
    with pytest.raises(errors.InvalidArgumentError, match="TENSORLOOM_MIRROR"):
        mirror.mirrors()
