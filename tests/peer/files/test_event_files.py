"""Event files, between here, TensorFlow and TensorBoard."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tensorloom

if TYPE_CHECKING:
    from tests.peer.peers import Peer

# Runs here and there; `directory` is set before it.
WRITE = """
import numpy as np, os

with tf.Graph().as_default() as graph, tf.Session() as sess:
    x = tf.placeholder(tf.float32, [None], name="x")
    with tf.name_scope("model"):
        mean = tf.reduce_mean(x * 2.0 + 1.0, name="mean")
    image = tf.reshape(tf.concat([x, x, x, x], 0)[:12], [1, 2, 2, 3])
    merged = tf.summary.merge([
        tf.summary.scalar("mean", mean),
        tf.summary.scalar("double", tf.cast(mean, tf.float64), family="f"),
        tf.summary.histogram("values", x),
        tf.summary.image("image", image),
        tf.summary.audio("sound", tf.reshape(x / 100.0, [1, -1, 1]), 8000.0),
        tf.summary.text("text", tf.constant(["one", "two"])),
        tf.summary.tensor_summary("tensor", x, display_name="shown"),
    ])
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    metadata = tf.RunMetadata()
    with tf.summary.FileWriter(directory, graph) as writer:
        writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), 0)
        for step in range(4):
            values = (np.arange(16) - 3 * step).astype(np.float32)  # exact sums
            writer.add_summary(sess.run(merged, {x: values}), step)
        sess.run(mean, {x: values}, options=options, run_metadata=metadata)
        writer.add_run_metadata(metadata, "run", 3)
result = None
"""

# The same through a writer in the graph; one op a step, so that the order is known.
WRITE_IN_STEPS = """
import numpy as np
r = tf.raw_ops
with tf.Graph().as_default(), tf.Session() as sess:
    h = r.SummaryWriter(shared_name="w")
    step = tf.constant(7, tf.int64)
    summary = tf.Summary(value=[tf.Summary.Value(tag="raw", simple_value=2.0)])
    event = tf.Event(step=3, wall_time=1.0, summary=summary)
    metadata = tf.SummaryMetadata(display_name="shown").SerializeToString()
    values = tf.constant([-2.5, 0.0, 1e-13, 3.0, 1e21])
    color = tf.constant([255, 0, 0], tf.uint8)
    sess.run(r.CreateSummaryFileWriter(
        writer=h, logdir=directory, max_queue=10, flush_millis=10 ** 6,
        filename_suffix=".z"))
    for op in [
        r.WriteScalarSummary(writer=h, step=step, tag="scalar", value=1.5),
        r.WriteScalarSummary(
            writer=h, step=step, tag="int", value=tf.constant(3, tf.int64)),
        r.WriteScalarSummary(writer=h, step=step, tag="one", value=[2.5]),
        r.WriteHistogramSummary(writer=h, step=step, tag="histogram", values=values),
        r.WriteHistogramSummary(
            writer=h, step=step, tag="bools", values=[True, False, True]),
        r.WriteImageSummary(
            writer=h, step=step, tag="image", tensor=tf.zeros([2, 3, 3, 3]),
            bad_color=color),
        r.WriteAudioSummary(
            writer=h, step=step, tag="audio", tensor=tf.ones([2, 3, 1]) / 4,
            sample_rate=100.0, max_outputs=1),
        r.WriteSummary(
            writer=h, step=step, tensor=[1.0, 2.0], tag="tensor",
            summary_metadata=metadata),
        r.WriteSummary(
            writer=h, step=step, tensor=["a", ""], tag="strings", summary_metadata=""),
        r.WriteGraphSummary(
            writer=h, step=step, tensor=tf.Graph().as_graph_def().SerializeToString()),
        r.WriteRawProtoSummary(
            writer=h, step=step, tensor=[summary.SerializeToString()] * 2),
        r.ImportEvent(writer=h, event=event.SerializeToString()),
        r.CloseSummaryWriter(writer=h),
    ]:
        sess.run(op)
result = None
"""

# What TensorFlow reads of a file.
READ = """
import glob
result = []
for event in tf.train.summary_iterator(glob.glob(directory + "/events*")[0]):
    kind = event.WhichOneof("what")
    item = [event.step, kind]
    if kind == "summary":
        item.append([(v.tag, v.SerializeToString()) for v in event.summary.value])
    elif kind == "graph_def":
        item.append([n.name for n in tf.GraphDef.FromString(event.graph_def).node])
    elif kind == "tagged_run_metadata":
        run = tf.RunMetadata.FromString(event.tagged_run_metadata.run_metadata)
        item.append([event.tagged_run_metadata.tag, len(run.step_stats.dev_stats) > 0])
    result.append(item)
"""

# What TensorBoard shows of a directory.
BOARD = """
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.util import tensor_util
board = EventAccumulator(directory, size_guidance={
    "scalars": 0, "histograms": 0, "images": 0, "audio": 0, "tensors": 0})
board.Reload()
tags = board.Tags()
result = {
    "scalars": {t: [(e.step, e.value) for e in board.Scalars(t)]
                for t in tags["scalars"]},
    "histograms": {t: [(e.step, e.histogram_value.num, e.histogram_value.min,
                        list(e.histogram_value.bucket_limit),
                        list(e.histogram_value.bucket))
                       for e in board.Histograms(t)] for t in tags["histograms"]},
    "images": {t: [(e.step, e.width, e.height, e.encoded_image_string[:4])
                   for e in board.Images(t)] for t in tags["images"]},
    "audio": {t: [(e.step, e.sample_rate, e.length_frames) for e in board.Audio(t)]
              for t in tags["audio"]},
    "tensors": {t: [tensor_util.make_ndarray(e.tensor_proto).tolist()
                    for e in board.Tensors(t)] for t in tags["tensors"]},
    "plugins": sorted(board.PluginTagToContent("text")),
    "graph": [n.name for n in board.Graph().node],
    "run": [tags["run_metadata"],
            len(board.RunMetadata("run").step_stats.dev_stats) > 0],
}
"""


def _write_here(directory: Path, program: str = WRITE) -> None:
    exec(program, {"tf": tensorloom, "directory": str(directory)})


def _there(peer: Peer, program: str, directory: Path) -> Any:
    lines = f"directory = {str(directory)!r}\n{program}"
    # The answer goes through a file: a peer's own answers are of simple types.
    path = directory / "answer"
    lines += f"\nimport pickle\nwith open({str(path)!r}, 'wb') as file:\n"
    lines += "    pickle.dump(result, file, 2)\nresult = None\n"
    answer = peer.execute(lines)
    assert answer["error"] is None, answer["error"]
    with open(path, "rb") as file:
        found = pickle.load(file, encoding="bytes")
    path.unlink()
    return found


def _without_pictures(items: list[Any]) -> Any:
    """PNG files differ in how they are compressed."""
    texts = [(t if isinstance(t, str) else t.decode(), value) for t, value in items]
    return [(t, value) for t, value in texts if not t.startswith("image")]


@pytest.fixture(params=["peer115", "peer221"])
def peer(request: pytest.FixtureRequest) -> Peer:
    result: Peer = request.getfixturevalue(request.param)
    return result


@pytest.mark.parametrize(("program", "events"), [(WRITE, 9), (WRITE_IN_STEPS, 13)])
def test_same_events(peer115: Peer, tmp_path: Path, program: str, events: int) -> None:
    """Event by event what TensorFlow 1.15 writes, byte by byte for summaries."""
    (tmp_path / "ours").mkdir()
    (tmp_path / "theirs").mkdir()
    _write_here(tmp_path / "ours", program)
    _there(peer115, program, tmp_path / "theirs")
    ours = _there(peer115, READ, tmp_path / "ours")
    theirs = _there(peer115, READ, tmp_path / "theirs")
    assert len(ours) == len(theirs) == events
    for mine, other in zip(ours, theirs, strict=True):
        assert mine[:2] == other[:2]
        if mine[1] == "summary":
            assert [tag for tag, _ in mine[2]] == [tag for tag, _ in other[2]]
            assert _without_pictures(mine[2]) == _without_pictures(other[2])
        else:
            assert mine == other


def test_tensorflow_reads_ours(peer: Peer, tmp_path: Path) -> None:
    _write_here(tmp_path)
    found = _there(peer, READ, tmp_path)
    kinds = ["file_version", "graph_def", "meta_graph_def", "session_log"]
    assert [item[1] for item in found[:4]] == kinds
    assert [item[0] for item in found[4:8]] == [0, 1, 2, 3]


def test_we_read_tensorflows(peer: Peer, tmp_path: Path) -> None:
    _there(peer, WRITE, tmp_path)
    (path,) = tmp_path.glob("events*")
    events = list(tensorloom.train.summary_iterator(str(path)))
    kinds = [event.WhichOneof("what") for event in events]
    assert kinds[1:4] == ["graph_def", "meta_graph_def", "session_log"]
    values = {v.tag: v for v in events[5].summary.value}
    assert values["mean"].simple_value == 10.0
    assert values["values"].histo.num == 16


def test_tensorboard_shows_the_same(peer221: Peer, tmp_path: Path) -> None:
    (tmp_path / "ours").mkdir()
    (tmp_path / "theirs").mkdir()
    _write_here(tmp_path / "ours")
    _there(peer221, WRITE, tmp_path / "theirs")
    ours = _there(peer221, BOARD, tmp_path / "ours")
    theirs = _there(peer221, BOARD, tmp_path / "theirs")
    assert ours["scalars"].keys() == {"mean", "f/f/double"}
    for kind in ("scalars", "images", "audio", "tensors", "plugins", "graph", "run"):
        assert ours[kind] == theirs[kind], kind
    for tag, items in ours["histograms"].items():
        for mine, other in zip(items, theirs["histograms"][tag], strict=True):
            for a, b in zip(mine, other, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-12)
    assert ours["run"] == [["run"], True]
