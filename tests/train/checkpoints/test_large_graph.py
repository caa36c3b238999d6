"""Graphs whose constants lie beside them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework import errors
from tensorloom.train.checkpoints import large_graph
from tensorloom.train.meta_graph.meta_graph_import import read_meta_graph_file


def write(directory: Path) -> str:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 64], name="x")
        w = tf.constant(np.arange(4096, dtype=np.float32).reshape(64, 64), name="w")
        tf.matmul(x, w + tf.constant(1.0), name="y")
        return large_graph.write_large_graph(graph, directory / "g.pb", 1024)


def test_round_trip(tmp_path: Path) -> None:
    path = write(tmp_path)
    assert Path(path).stat().st_size < 2000
    x = np.ones((2, 64), np.float32)
    expected = x @ (np.arange(4096, dtype=np.float32).reshape(64, 64) + 1)
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        (y,) = large_graph.import_large_graph(path, {}, ["y:0"], name="in") or []
        assert sess.run(y, {"in/x:0": x}).tolist() == expected.tolist()
        again = large_graph.write_large_graph(graph, tmp_path / "again.pb", 1024)
    with tf.Graph().as_default(), tf.Session() as sess:
        assert large_graph.import_large_graph(again, name="") is None
        assert sess.run("in/y:0", {"in/x:0": x}).tolist() == expected.tolist()


def test_other_readers_refuse_it(tmp_path: Path) -> None:
    proto = tf.GraphDef.FromString(Path(write(tmp_path)).read_bytes())
    with pytest.raises(ValueError, match="missing attr 'value'"):
        tf.import_graph_def(proto)


def test_lost_and_damaged_constants(tmp_path: Path) -> None:
    path = write(tmp_path)
    data = tmp_path / "g.pb.constants.data-00000-of-00001"
    contents = bytearray(data.read_bytes())
    contents[100] ^= 1
    data.write_bytes(contents)
    with tf.Graph().as_default(), pytest.raises(errors.DataLossError, match="data-0"):
        large_graph.import_large_graph(path)
    data.unlink()
    with tf.Graph().as_default(), pytest.raises(errors.NotFoundError):
        large_graph.import_large_graph(path)


def test_write_graph_splits_when_it_must(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_graph, "MAX_BYTES", 1000)
    with tf.Graph().as_default() as graph:
        tf.constant(np.zeros(1 << 18, np.float32), name="w")
        tf.train.write_graph(graph, tmp_path, "g.pb", as_text=False)
    assert (tmp_path / "g.pb.constants.index").exists()


def test_a_large_graph_def_is_split_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_graph, "MAX_BYTES", 1 << 20)
    with tf.Graph().as_default() as graph:
        tf.constant(np.arange(1 << 19, dtype=np.float32), name="w")
        with tf.control_dependencies([tf.no_op(name="first")]):
            tf.constant(np.arange(1 << 18, dtype=np.int32), name="v")
    proto = graph.as_graph_def()
    path = tf.train.write_graph(proto, str(tmp_path), "g.pb", as_text=False)
    assert Path(path).stat().st_size < 2000
    assert proto == graph.as_graph_def(), "the argument has changed"
    with tf.Graph().as_default() as again, tf.Session() as sess:
        large_graph.import_large_graph(path, name="")
        assert sess.run("w:0").sum() == np.arange(1 << 19, dtype=np.float32).sum()
        assert [op.name for op in again.get_operation_by_name("v").control_inputs] == [
            "first"
        ]


@pytest.mark.parametrize("whole", [True, False])
def test_write_graph_as_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: bool
) -> None:
    monkeypatch.setattr(large_graph, "MAX_BYTES", 1 << 20)
    with tf.Graph().as_default() as graph:
        tf.constant(np.arange(1 << 18, dtype=np.float32), name="w")
        tf.train.write_graph(
            graph if whole else graph.as_graph_def(), tmp_path, "g.pbtxt"
        )
    assert (tmp_path / "g.pbtxt").read_text().startswith("node {")
    with tf.Graph().as_default(), tf.Session() as sess:
        large_graph.import_large_graph(tmp_path / "g.pbtxt", name="in")
        assert sess.run("in/w:0")[-1] == (1 << 18) - 1


def test_many_small_constants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies outside begins at less than a megabyte where it must."""
    monkeypatch.setattr(large_graph, "MAX_BYTES", 1 << 20)
    with tf.Graph().as_default() as graph:
        for i in range(40):
            tf.constant(np.full(1 << 14, i, np.int32), name=f"c{i}")
        tf.constant(7, name="small")
        tf.train.write_graph(graph, tmp_path, "g.pb", as_text=False)
        tf.train.write_graph(graph.as_graph_def(), tmp_path, "h.pb", as_text=False)
    for name in ("g.pb", "h.pb"):
        assert (tmp_path / name).stat().st_size < 10000
        with tf.Graph().as_default(), tf.Session() as sess:
            large_graph.import_large_graph(tmp_path / name, name="")
            assert sess.run(["c39:0", "small:0"])[0].tolist() == [39] * (1 << 14)


@pytest.mark.parametrize("kwargs", [{}, {"as_text": True}, {"clear_devices": True}])
def test_meta_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kwargs: dict[str, bool]
) -> None:
    monkeypatch.setattr(large_graph, "MAX_BYTES", 1 << 20)
    path = str(tmp_path / "m.meta")
    with tf.Graph().as_default():
        value = np.arange(1 << 19, dtype=np.float32)
        y = tf.get_variable("v", initializer=2.0) * tf.constant(value, name="w")
        tf.add_to_collection("y", y)
        tf.train.export_meta_graph(path, **kwargs)
    assert Path(path).stat().st_size < 20000
    for _ in range(2):
        with tf.Graph().as_default(), tf.Session() as sess:
            for _ in range(2):  # the second time under another scope
                saver = tf.train.import_meta_graph(path, import_scope="in")
                assert isinstance(saver, tf.train.Saver)
            sess.run(tf.global_variables_initializer())
            for found in sess.run(tf.get_collection("y")):
                np.testing.assert_array_equal(found, 2 * value)
        data = Path(path).read_bytes()
    with pytest.raises(ValueError, match="missing attr 'value'"):
        tf.train.import_meta_graph(read_meta_graph_file(path))
    Path(path).write_bytes(data)
    (tmp_path / "m.meta.constants.index").unlink()
    with tf.Graph().as_default(), pytest.raises(errors.NotFoundError, match=r"m\.meta"):
        tf.train.import_meta_graph(path)


@pytest.mark.parametrize("damage", ["initial_value", "bytes", "colocation"])
def test_errors_name_the_meta_graph(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "m.meta"
    with tf.Graph().as_default() as graph:
        v = tf.get_variable("v", initializer=2.0)
        with graph.colocate_with(v.op):
            tf.constant(1.0)
        message = tf.train.export_meta_graph()
    values = message.collection_def["variables"].bytes_list.value
    if damage == "initial_value":
        values[0] = values[0].replace(b"v/Read", b"v/rEad").replace(b"v/A", b"v/Z")
    elif damage == "bytes":
        values[0] = b"\xff\xff"
    else:
        message.graph_def.node[-1].attr["_class"].list.s[0] = b"loc:@\xff"
    path.write_bytes(message.SerializeToString())
    with (
        tf.Graph().as_default(),
        pytest.raises((ValueError, errors.InvalidArgumentError), match=str(path)),
    ):
        tf.train.import_meta_graph(str(path))


def test_saver_keeps_and_removes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_graph, "MAX_BYTES", 1 << 20)
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("v", initializer=2.0)
        tf.add_to_collection("y", v * np.arange(1 << 19, dtype=np.float32))
        sess.run(v.initializer)
        saver = tf.train.Saver(max_to_keep=1)
        for step in range(2):
            path = saver.save(sess, str(tmp_path / "m"), global_step=step)
    names = sorted(file.name for file in tmp_path.iterdir())
    assert names == [
        "checkpoint",
        "m-1.data-00000-of-00001",
        "m-1.index",
        "m-1.meta",
        "m-1.meta.constants.data-00000-of-00001",
        "m-1.meta.constants.index",
    ]
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.train.import_meta_graph(f"{path}.meta").restore(sess, path)
        assert sess.run(tf.get_collection("y")[0])[-1] == 2 * ((1 << 19) - 1)
