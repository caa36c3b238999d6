"""Graphs whose constants lie beside them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework import errors
from tensorloom.train import graph_io, large_graph


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
    monkeypatch.setattr(graph_io, "_MAX_BYTES", 1000)
    with tf.Graph().as_default() as graph:
        tf.constant(np.zeros(1 << 18, np.float32), name="w")
        tf.train.write_graph(graph, tmp_path, "g.pb", as_text=False)
    assert (tmp_path / "g.pb.constants.index").exists()


def test_a_large_graph_def_is_split_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_io, "_MAX_BYTES", 1 << 20)
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
