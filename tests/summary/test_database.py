"""Summaries in a database."""

from __future__ import annotations

import sqlite3
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework import errors

summary = tf.contrib.summary


def write(path: Path, run: str = "r", step: int = 1) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.train.create_global_step()
        writer = summary.create_db_writer(str(path), "e", run, "me")
        with writer.as_default(), summary.always_record_summaries():
            summary.scalar("loss", 3.5, step=step)
            summary.histogram("h", tf.constant([1.0, 2.0, 3.0]), step=step)
            summary.generic("numbers", tf.constant([[1, 2]]), step=step)
            summary.generic("text", tf.constant(["a", "bc"]), step=step)
            summary.image("im", tf.zeros([1, 2, 2, 3]), step=step)
            summary.audio("au", tf.zeros([1, 10, 1]), 100, 3, step=step)
        sess.run(summary.summary_writer_initializer_op())
        sess.run(summary.all_summary_ops())
        definition = graph.as_graph_def().SerializeToString()
        raw = tf.raw_ops.WriteGraphSummary(
            writer=writer._resource, step=tf.constant(0, tf.int64), tensor=definition
        )
        sess.run(raw)
        sess.run(writer.close())


def query(path: Path, text: str) -> list[Any]:
    with sqlite3.connect(path) as database:
        return database.execute(text).fetchall()


def test_rows(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    write(path)
    assert query(path, "SELECT user_name FROM Users") == [("me",)]
    assert query(path, "SELECT experiment_name FROM Experiments") == [("e",)]
    ((started, finished),) = query(path, "SELECT started_time, finished_time FROM Runs")
    assert 0 < started <= finished
    rows = {
        tag: rest
        for tag, *rest in query(
            path,
            "SELECT tag_name, plugin_name, step, dtype, shape, data "
            "FROM Tensors JOIN Tags ON tag_id = series",
        )
    }
    assert rows["loss"] == ["scalars", 1, 1, "", struct.pack("<f", 3.5)]
    numbers = np.array([1, 2], np.int32).tobytes()
    assert rows["numbers"] == ["", 1, 3, "1,2", numbers]
    plugin, _, dtype, shape, data = rows["h"]
    assert (plugin, dtype, shape) == ("histograms", 2, "7,3")
    assert np.frombuffer(data).reshape(7, 3)[:, 2].sum() == 3
    assert rows["im/image/0"] == ["images", 1, 7, "3", None]
    assert rows["au/audio/0"] == ["audio", 1, 7, "1,2", None]
    strings = query(
        path,
        "SELECT TensorStrings.data FROM TensorStrings "
        "JOIN Tensors ON Tensors.rowid = tensor_rowid "
        "JOIN Tags ON tag_id = series WHERE tag_name = 'text' ORDER BY idx",
    )
    assert strings == [(b"a",), (b"bc",)]
    ((nodes,),) = query(path, "SELECT COUNT(*) FROM Nodes WHERE op = 'SummaryWriter'")
    assert nodes == 1
    ((inputs,),) = query(path, "SELECT COUNT(*) FROM NodeInputs")
    assert inputs > 10


def test_runs_of_one_experiment(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    for run, step in (("a", 1), ("b", 1), ("a", 2), ("a", 2)):
        write(path, run, step)
    assert query(path, "SELECT run_name FROM Runs ORDER BY 1") == [("a",), ("b",)]
    steps = query(
        path,
        "SELECT run_name, step FROM Tensors JOIN Tags ON tag_id = series "
        "JOIN Runs ON Runs.run_id = Tags.run_id WHERE tag_name = 'loss' ORDER BY 1, 2",
    )
    assert steps == [("a", 1), ("a", 2), ("b", 1)]


def test_no_database(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"not a database, but long enough to look at" * 100)
    with pytest.raises(errors.InvalidArgumentError, match="not a database"):
        write(path)
    with pytest.raises(errors.InvalidArgumentError, match="unable to open"):
        write(tmp_path / "gone" / "x")
    with pytest.raises(ValueError, match="must match"):
        summary.create_db_writer("x", run_name="<")
