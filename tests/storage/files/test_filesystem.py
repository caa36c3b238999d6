"""Files of any scheme behave alike; `tf.gfile` as TensorFlow 1.15's."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest

import tensorloom as tf
from tensorloom.storage import register_filesystem
from tensorloom.storage.files import filesystem
from tensorloom.storage.files.glob import component_pattern

gfile = tf.gfile
_names = itertools.count()


@pytest.fixture(params=["local", "file", "memory", "registered"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A directory of its own in each kind of file system."""
    kind = request.param
    if kind == "local":
        yield str(tmp_path)
    elif kind == "file":
        yield f"file://{tmp_path}"
    else:
        if kind == "registered":
            register_filesystem("mem2", lambda: fsspec.filesystem("memory"))
        path = f"{'memory' if kind == 'memory' else 'mem2'}://r{next(_names)}"
        filesystem.make_directories(path)
        yield path
        filesystem.remove_tree(path)


def write(path: str, data: Any, mode: str = "w") -> None:
    with gfile.GFile(path, mode) as file:
        file.write(data)


def test_read_and_write(root: str) -> None:
    path = root + "/a"
    write(path, "hello\nwörld\nx")
    assert gfile.GFile(path).read() == "hello\nwörld\nx"
    assert gfile.Open(path, "rb").readlines() == [b"hello\n", "wörld\n".encode(), b"x"]
    assert list(gfile.FastGFile(path)) == ["hello\n", "wörld\n", "x"]
    write(path, b"!", "a")
    assert gfile.GFile(path, "rb").read().endswith(b"x!")
    assert gfile.GFile(path).size() == 15
    with gfile.GFile(path) as file:
        assert (file.read(3), file.tell()) == ("hel", 3)
        file.seek(-1, 2)
        assert file.read() == "!"
        file.seek(position=1)
        file.seek(1, 1)
        assert file.readline() == "llo\n"
        assert file.seekable()
        for offset, error in ((-1, "InvalidArgument"), (99, "OutOfRange")):
            with pytest.raises(getattr(tf.errors, error + "Error")):
                file.seek(offset)
        for bad in ((), (1, 0, 2)):
            with pytest.raises(TypeError):
                file.seek(*bad)


def test_lines_lose_carriage_returns(root: str) -> None:
    path = root + "/a"
    write(path, b"a\r\n\r\nb\rc\n")
    assert gfile.GFile(path).readlines() == ["a\n", "\n", "bc\n"]
    assert list(gfile.GFile(path, "rb")) == [b"a\n", b"\n", b"bc\n"]
    assert gfile.GFile(path).read() == "a\r\n\r\nb\rc\n"


def test_read_of_a_negative_length(root: str) -> None:
    write(root + "/a", "abc")
    assert gfile.GFile(root + "/a").read(-1) == "abc"
    with pytest.raises(tf.errors.InvalidArgumentError, match="negative number"):
        gfile.GFile(root + "/a").read(-2)


def test_both_modes(root: str) -> None:
    path = root + "/a"
    with gfile.GFile(path, "w+") as file:
        file.write("123")
        file.flush()
        assert file.read() == "123" or root.startswith("mem")
    with gfile.GFile(path, "a+") as file:
        file.write("45")
    assert gfile.GFile(path).read() == "12345"
    with gfile.GFile(path, "r+") as file:
        assert file.read(2) == "12"
        file.write("Z")
    assert gfile.GFile(path).read() == "Z"  # as in TensorFlow


@pytest.mark.parametrize("mode", ["x", "rw", "U", ""])
def test_bad_modes(mode: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="mode is not"):
        gfile.GFile("a", mode)


def test_wrong_direction(root: str) -> None:
    write(root + "/a", "x")
    with pytest.raises(tf.errors.PermissionDeniedError, match="open for writing"):
        gfile.GFile(root + "/a").write("x")
    with pytest.raises(tf.errors.PermissionDeniedError, match="open for reading"):
        gfile.GFile(root + "/a", "w").read()
    with pytest.raises(TypeError, match="Expected binary or unicode"):
        gfile.GFile(root + "/a", "w").write(3)


def tree(root: str) -> None:
    for name in ("a", "b.txt", "d/x", "d/e/y", "d/.z"):
        gfile.MakeDirs(filesystem.parent(f"{root}/{name}"))
        write(f"{root}/{name}", name)


def test_directories(root: str) -> None:
    tree(root)
    assert sorted(gfile.ListDirectory(root)) == ["a", "b.txt", "d"]
    assert gfile.IsDirectory(root + "/d")
    assert not gfile.IsDirectory(root + "/a")
    assert gfile.Exists(root + "/d/e")
    assert not gfile.Exists(root + "/q")
    walked = [(d, sorted(s), sorted(f)) for d, s, f in gfile.Walk(root)]
    assert walked == [
        (root, ["d"], ["a", "b.txt"]),
        (root + "/d", ["e"], [".z", "x"]),
        (root + "/d/e", [], ["y"]),
    ]
    upwards = [d for d, _, _ in tf.io.gfile.walk(root, topdown=False)]
    assert upwards == [root + "/d/e", root + "/d", root]
    gfile.DeleteRecursively(root + "/d")
    assert sorted(gfile.ListDirectory(root)) == ["a", "b.txt"]
    gfile.MkDir(root + "/n")
    gfile.MkDir(root + "/n")
    assert gfile.Stat(root + "/a").length == 1
    assert not gfile.Stat(root + "/a").is_directory


def test_walk_tells_errors(root: str) -> None:
    seen: list[Any] = []
    assert list(tf.io.gfile.walk(root + "/q", onerror=seen.append)) == []
    assert isinstance(seen[0], tf.errors.NotFoundError)
    assert list(gfile.Walk(root + "/q")) == []


def test_glob(root: str) -> None:
    tree(root)

    def found(*patterns: str) -> list[str]:
        paths = gfile.Glob([f"{root}/{p}" for p in patterns])
        return [path.removeprefix(root + "/") for path in paths]

    assert found("*") == ["a", "b.txt", "d"]
    assert found("?", "b*") == ["a", "d", "b.txt"]
    assert found("d/*") == ["d/.z", "d/e", "d/x"]
    assert found("*/e/y", "[a-c]", "[!a]", "a") == ["d/e/y", "a", "d", "a"]
    assert found("**/y", r"\a", "[", "b.tx{t}") == ["a"]
    assert gfile.Glob(root + "/a") == [root + "/a"]
    # A directory lists neither itself nor its parent, and no name ends in a slash.
    assert not found("d/", "*/", ".", "..", "/*", "d//*", "*/../a", "*/./x")
    with pytest.raises(tf.errors.NotFoundError, match="q"):
        gfile.Glob(root + "/q/*")


def test_relative_glob(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tree(".")
    assert gfile.Glob("[ab]*") == ["./a", "./b.txt"]
    assert gfile.Glob("d/*x") == ["d/x"]
    assert not gfile.Glob([".", "..", "./", "d/"])


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("[]a]", "]", "b"),
        ("[!]a]", "b", "]"),
        ("[a-]", "-", "b"),
        ("[z-a]", "", "m"),
        ("a[", "a[", "a"),
        ("x\\", "x\\", "x"),
        ("[^-]", "a", "-"),
        ("*.t?t", ".tit", "a/b.txt"),
        ("[[:alpha:]_]?", "Zz", "1z"),
        ("[![:digit:]]", "-", "5"),
        ("[[:punct:]]", "]", "/"),
        ("[[:alpha]", ":", "b"),
    ],
)
def test_patterns(pattern: str, yes: str, no: str) -> None:
    matches = component_pattern(pattern).fullmatch
    assert not yes or matches(yes)
    assert not matches(no)


def test_copy_and_rename(root: str) -> None:
    tree(root)
    a, b, c = root + "/a", root + "/b.txt", root + "/c"
    gfile.Copy(a, c)
    assert gfile.GFile(c).read() == "a"
    for action in (gfile.Copy, gfile.Rename):
        with pytest.raises(tf.errors.AlreadyExistsError, match="already exists"):
            action(a, b)
    gfile.Copy(a, b, overwrite=True)
    assert gfile.GFile(b).read() == "a"
    write(c, "c")
    gfile.Rename(c, b, overwrite=True)
    assert gfile.GFile(b).read() == "c"
    assert not gfile.Exists(c)
    gfile.Rename(root + "/d", root + "/n")
    assert gfile.GFile(root + "/n/e/y").read() == "d/e/y"
    with pytest.raises(tf.errors.InvalidArgumentError):
        gfile.Copy(root + "/n", root + "/o")


def test_slashes_at_the_end_are_not_looked_at(tmp_path: Path) -> None:
    name, other = str(tmp_path / "a"), str(tmp_path / "b")
    Path(name).write_text("x")
    assert tf.gfile.Exists(name + "/")
    assert tf.gfile.Stat(name + "//").length == 1
    tf.gfile.Copy(name + "/", other + "/")
    assert Path(other).read_text() == "x"
    with pytest.raises(tf.errors.AlreadyExistsError):
        tf.gfile.Rename(name, other + "/")
    assert tf.gfile.IsDirectory("file:///")


def test_a_glob_under_a_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    with pytest.raises(tf.errors.FailedPreconditionError, match="Not a directory"):
        tf.gfile.Glob(str(tmp_path / "a" / "*"))


@pytest.mark.parametrize("path", [None, 3])
def test_paths_are_text(path: Any) -> None:
    with pytest.raises(
        TypeError, match=f"Expected binary or unicode string, got {path}"
    ):
        tf.gfile.Exists(path)


def test_what_is_wrong_first_is_told(tmp_path: Path) -> None:
    missing, directory = str(tmp_path / "no" / "x"), str(tmp_path)
    with pytest.raises(tf.errors.NotFoundError, match="no/x; No such file"):
        tf.gfile.Copy(directory, missing)
    with pytest.raises(tf.errors.InvalidArgumentError, match="new; Invalid argument"):
        tf.gfile.Copy(directory, str(tmp_path / "new"))
    assert not (tmp_path / "new").exists()
    with pytest.raises(tf.errors.PermissionDeniedError):
        tf.gfile.GFile(missing, "r").write(3)


def test_links_are_not_trees(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "x").write_text("x")
    (tmp_path / "link").symlink_to("d")
    with pytest.raises(tf.errors.FailedPreconditionError, match="symbolic link"):
        gfile.DeleteRecursively(str(tmp_path / "link"))
    assert (tmp_path / "d" / "x").exists()


@pytest.mark.parametrize("there", [True, False], ids=["a file", "nothing"])
def test_a_copy_goes_where_a_link_leads(tmp_path: Path, there: bool) -> None:
    (tmp_path / "new").write_text("new")
    if there:
        (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    gfile.Copy(str(tmp_path / "new"), str(tmp_path / "link"), overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


@pytest.mark.parametrize(
    ("source", "earlier", "mode"),
    [
        pytest.param(0o640, None, 0o640, id="less"),
        pytest.param(0o755, None, 0o755, id="program"),
        pytest.param(0o666, None, 0o644, id="masked"),
        pytest.param(0o640, 0o600, 0o600, id="earlier less"),
        pytest.param(0o600, 0o755, 0o755, id="earlier more"),
    ],
)
def test_permissions_of_a_copy(
    tmp_path: Path, source: int, earlier: int | None, mode: int
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("text")
    old.chmod(source)
    if earlier is not None:
        new.write_text("")
        new.chmod(earlier)
    mask = os.umask(0o022)
    try:
        gfile.Copy(str(old), str(new), overwrite=True)
    finally:
        os.umask(mask)
    assert new.stat().st_mode & 0o7777 == mode


def test_between_file_systems(tmp_path: Path) -> None:
    write(str(tmp_path / "a"), "text")
    gfile.Copy(str(tmp_path / "a"), "memory://between/a")
    gfile.Rename("memory://between/a", str(tmp_path / "b"))
    assert (tmp_path / "b").read_text() == "text"
    assert not gfile.Exists("memory://between/a")


MISSING: dict[str, Callable[[str], Any]] = {
    "read": lambda p: gfile.GFile(p).read(),
    "size": lambda p: gfile.GFile(p).size(),
    "stat": gfile.Stat,
    "remove": gfile.Remove,
    "copy": lambda p: gfile.Copy(p, p + "2"),
    "rename": lambda p: gfile.Rename(p, p + "2"),
    "list": gfile.ListDirectory,
    "remove tree": gfile.DeleteRecursively,
}


@pytest.mark.parametrize("action", MISSING)
def test_missing(root: str, action: str) -> None:
    with pytest.raises(tf.errors.NotFoundError, match="q"):
        MISSING[action](root + "/q")


def test_directory_is_no_file(root: str) -> None:
    gfile.MakeDirs(root + "/d")
    write(root + "/d/x", "")
    for action in (lambda p: gfile.GFile(p).read(), gfile.Remove):
        with pytest.raises(tf.errors.FailedPreconditionError, match="Is a directory"):
            action(root + "/d")


def test_unknown_scheme() -> None:
    with pytest.raises(tf.errors.UnimplementedError, match="scheme 'foo' not impl"):
        gfile.Exists("foo://a")
    with pytest.raises(tf.errors.InvalidArgumentError):
        register_filesystem("a b", lambda: None)


def test_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(scheme: str) -> Any:
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr(fsspec, "get_filesystem_class", fail)
    monkeypatch.delitem(filesystem._found, "s3", raising=False)
    with pytest.raises(tf.errors.UnimplementedError, match=r"tensorloom\[s3\]"):
        gfile.Exists("s3://bucket/a")


def test_writer_is_whole_or_absent(root: str) -> None:
    path = root + "/a"
    filesystem.write_file(path, b"old")
    writer = filesystem.open_writer(path)
    writer.__enter__().write(b"new")
    assert not writer.__exit__(KeyError, KeyError(), None)
    assert filesystem.read_file(path) == b"old"
    assert filesystem.list_directory(root) == ["a"]
    with filesystem.open_writer(path) as file:
        file.write(b"new")
        assert filesystem.read_file(path) == b"old"
    assert filesystem.read_file(path) == b"new"
    assert filesystem.list_directory(root) == ["a"]


def test_file_ops(root: str) -> None:
    path = root + "/deep/er/a"
    with tf.Session() as sess:
        sess.run(tf.write_file(path, b"\xff\x00"))
        assert sess.run(tf.read_file(path)) == b"\xff\x00"
        found = sess.run(tf.matching_files([root + "/deep/*", root + "/deep/er/?"]))
        assert [os.fsdecode(x) for x in found] == [root + "/deep/er", path]
        with pytest.raises(tf.errors.NotFoundError):
            sess.run(tf.read_file(path + "q"))
