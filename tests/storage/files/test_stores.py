"""Stores with fewer abilities than a disk: fakes with the manners of real ones."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import fsspec
import numpy as np
import pytest
from fsspec import AbstractFileSystem
from fsspec.implementations.memory import MemoryFileSystem

import tensorloom as tf
from tensorloom.storage.files import filesystem, store_writing
from tensorloom.storage.files.fsspec_filesystem import FsspecFileSystem
from tensorloom.storage.records.tfrecord import RecordReader, RecordWriter

gfile = tf.gfile
_names = itertools.count()


class _Store(MemoryFileSystem):  # type: ignore[misc]
    """A store of its own, apart from `memory://`."""

    protocol = "store"
    cachable = False

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.store: dict[str, Any] = {}
        self.pseudo_dirs = [""]

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        inner = path.partition("://")[2] if "://" in path else path
        return "/" + inner.strip("/") if inner.strip("/") else ""

    def _forget(self, path: str) -> None:
        self._move(path, "/forgotten")

    def _move(self, path1: str, path2: str) -> None:
        for store in (self.store, self.pseudo_dirs):
            for name in [n for n in store if n == path1 or n.startswith(path1 + "/")]:
                new = path2 + name[len(path1) :]
                if isinstance(store, dict):
                    store[new] = store.pop(name)
                else:
                    store[store.index(name)] = new


class _Refusing(_Store):
    """HDFS: a rename onto a file is an error."""

    def mv(self, path1: str, path2: str, **options: Any) -> None:
        if self.exists(path2):
            raise OSError(f"rename failed: {path2} exists")
        self._move(path1, path2)


class _Silent(_Store):
    """WebHDFS: a rename onto a file does nothing; removing a directory too."""

    def mv(self, path1: str, path2: str, **options: Any) -> None:
        if not self.exists(path2):
            self._move(path1, path2)

    def rmdir(self, path: str) -> None:
        pass

    def rm(self, path: Any, recursive: bool = False, **options: Any) -> None:
        if recursive or not self.ls(path, detail=False):
            self._forget(path)


class _Sweeping(_Refusing):
    """Arrow: removing a directory removes what is in it."""

    def rmdir(self, path: str) -> None:
        self._forget(path)


class _Objects(_Store):
    """Objects that are there when they are whole; nobody can append."""

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        if mode == "rb":
            return super()._open(path, mode, **options)
        return _Upload(self, path)


class _Upload:
    def __init__(self, files: _Objects, path: str) -> None:
        self._files = files
        self._path = path
        self._data = b""

    def write(self, data: Any) -> int:
        self._data += bytes(data)
        return len(data)

    def tell(self) -> int:
        return len(self._data)

    def close(self) -> None:
        with MemoryFileSystem._open(self._files, self._path, "wb") as file:
            file.write(self._data)


_KINDS: dict[str, tuple[str, type[_Store]]] = {
    "refusing": ("lab", _Refusing),
    "silent": ("lab", _Silent),
    "sweeping": ("lab", _Sweeping),
    "objects": ("s3", _Objects),
}


@pytest.fixture(params=_KINDS)
def root(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A directory in each of them."""
    scheme, kind = _KINDS[request.param]
    monkeypatch.setitem(filesystem._found, scheme, FsspecFileSystem(scheme, kind()))
    path = f"{scheme}://r{next(_names)}/d"
    filesystem.make_directories(path)
    return path


def _write(path: str, text: str, mode: str = "w") -> None:
    with gfile.GFile(path, mode) as file:
        file.write(text)


def test_replacing(root: str) -> None:
    for text in ("old", "new"):
        filesystem.write_file(root + "/a", text.encode())
        _write(root + "/b", text)
    gfile.Rename(root + "/a", root + "/b", overwrite=True)
    assert gfile.ListDirectory(root) == ["b"]
    _write(root + "/c", "other")
    gfile.Copy(root + "/b", root + "/c", overwrite=True)
    assert gfile.GFile(root + "/c").read() == "new"
    assert gfile.ListDirectory(root) == ["b", "c"]


def test_a_failed_replacement_leaves_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    files = _Refusing()
    files.pipe_file("/a", b"new")
    files.pipe_file("/b", b"old")
    refuse = files.mv

    def fail(path1: str, path2: str, **options: Any) -> None:
        if (path1, path2) == ("/a", "/b") and not files.exists("/b"):
            raise OSError("the network is down")
        refuse(path1, path2)

    monkeypatch.setattr(files, "mv", fail)
    with pytest.raises(OSError, match="down"):
        store_writing.move(files, "/a", "/b")
    assert files.cat_file("/b") == b"old"


def test_renaming_directories(root: str) -> None:
    _write(root + "/sub/a", "1")
    _write(root + "/sub/deep/b", "2")
    gfile.Rename(root + "/sub", root + "/other")
    assert gfile.GFile(root + "/other/deep/b").read() == "2"
    assert not gfile.Exists(root + "/sub")


def test_appending_and_flushing(root: str) -> None:
    path = root + "/a"
    _write(path, "one ")
    with gfile.GFile(path, "a") as file:
        file.write("two ")
        file.flush()
        assert gfile.GFile(path).read() == "one two "
        file.write("three")
        assert file.tell() == len("one two three")
    assert gfile.GFile(path).read() == "one two three"
    _write(root + "/new", "x", "a")
    assert gfile.GFile(root + "/new").read() == "x"
    with gfile.GFile(root + "/both", "w+") as file:
        file.write("abc")
        file.flush()
        assert file.read() == "abc"
    assert gfile.ListDirectory(root) == ["a", "both", "new"]


def test_records_are_there_after_a_flush(root: str) -> None:
    writer = RecordWriter(root + "/r")
    for count in (1, 2):
        writer.write(b"x")
        writer.flush()
        assert len(list(RecordReader(root + "/r"))) == count
    writer.write(b"x")
    writer.close()
    assert len(list(RecordReader(root + "/r"))) == 3


def test_only_empty_directories_are_removed(root: str) -> None:
    _write(root + "/sub/a", "1")
    with pytest.raises(tf.errors.FailedPreconditionError, match="not empty"):
        filesystem.remove_directory(root + "/sub")
    assert gfile.GFile(root + "/sub/a").read() == "1"
    gfile.MakeDirs(root + "/empty")
    filesystem.remove_directory(root + "/empty")
    assert not gfile.Exists(root + "/empty")


def test_checkpoints(root: str) -> None:
    prefix = root + "/m"
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("v", initializer=np.arange(5.0))
        sess.run(v.initializer)
        for sharded in (False, True):
            saver = tf.train.Saver(max_to_keep=2, sharded=sharded)
            for step in (1, 2, 3, 3):
                path = saver.save(sess, prefix, global_step=step)
            assert tf.train.latest_checkpoint(root) == path
            sess.run(v.assign(v * 0))
            saver.restore(sess, path)
            assert sess.run(v).tolist() == [0, 1, 2, 3, 4]
    data = "data-00000-of-00001"
    assert gfile.ListDirectory(root) == [
        "checkpoint",
        *(f"m-{i}.{end}" for i in (2, 3) for end in (data, "index", "meta")),
    ]


# --- servers in paths ----------------------------------------------------------------


class _Server(_Store):
    def __init__(self, host: str, port: int = 1, **options: Any) -> None:
        super().__init__(**options)
        self.place = (host, port)

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        inner = path.partition("://")[2].partition("/")[2] if "://" in path else path
        return "/" + inner.strip("/") if inner.strip("/") else ""

    @staticmethod
    def _get_kwargs_from_urls(path: str) -> dict[str, Any]:
        host, _, port = path.partition("://")[2].partition("/")[0].partition(":")
        return {"host": host, "port": int(port)} if port else {"host": host}


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """`hdfs://` served by fakes."""
    known = set(filesystem._found)

    def kind(scheme: str) -> type[AbstractFileSystem]:
        return _Server

    monkeypatch.setattr(fsspec, "get_filesystem_class", kind)
    yield
    for key in set(filesystem._found) - known:
        del filesystem._found[key]


@pytest.mark.usefixtures("servers")
def test_each_server_has_its_files() -> None:
    _write("hdfs://one:8020/run/a", "1")
    _write("hdfs://two/run/a", "2")
    assert gfile.GFile("hdfs://one:8020/run/a").read() == "1"
    gfile.Copy("hdfs://one:8020/run/a", "hdfs://two/run/b")
    gfile.Rename("hdfs://two/run/a", "hdfs://one:8020/run/c")
    assert gfile.Glob("hdfs://one:8020/run/*") == [
        "hdfs://one:8020/run/a",
        "hdfs://one:8020/run/c",
    ]
    assert gfile.ListDirectory("hdfs://two/run") == ["b"]
    one = filesystem.filesystem_of("hdfs://one:8020/x/y")
    assert filesystem.filesystem_of("hdfs://one:8020") is one
    assert vars(one)["_files"].place == ("one", 8020)


def test_what_is_wrong_with_a_server_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def kind(scheme: str) -> Any:
        class Unreachable(_Server):
            def __init__(self, **options: Any) -> None:
                raise OSError("Unable to load libjvm")

        return Unreachable

    monkeypatch.setattr(fsspec, "get_filesystem_class", kind)
    with pytest.raises(tf.errors.UnknownError, match=r"hdfs://nowhere/a.*libjvm"):
        gfile.Exists("hdfs://nowhere/a")
