"""Traced steps as files of TensorBoard's profiler."""

from __future__ import annotations

from pathlib import Path

import pytest

import tensorloom as tf
from tensorloom.cli import main
from tensorloom.protos.xplane_pb2 import XSpace


def test_a_traced_step(tmp_path: Path) -> None:
    with tf.device("/cpu:1"):
        y = tf.matmul(tf.random_normal([9, 9]), tf.ones([9, 9]), name="y")
    with tf.device("/cpu:0"):
        z = tf.reduce_sum(y, name="z")
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        told = sess.explain(z)
        with pytest.raises(ValueError, match="was not run"):
            sess.explain(z, run=False).write_profile(str(tmp_path))
    path = Path(told.write_profile(str(tmp_path), "a_step"))
    assert path.parent == tmp_path / "plugins" / "profile" / "a_step"
    assert path.name.endswith(".xplane.pb")
    space = XSpace.FromString(path.read_bytes())
    first = min(node.start_ns for node in told.stats)
    found = sorted(
        (
            plane.name.partition("job:")[2],
            plane.event_metadata[event.metadata_id].name,
            line.timestamp_ns + event.offset_ps // 1000,
            event.duration_ps // 1000,
        )
        for plane in space.planes
        for line in plane.lines
        for event in line.events
    )
    assert found == sorted(
        (
            node.device.partition("job:")[2],
            f"{node.node_name} ({node.op})",
            node.start_ns - first,
            node.end_ns - node.start_ns,
        )
        for node in told.stats
    )


def test_on_the_command_line(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import tensorloom as tf\n"
        "with tf.Session() as sess:\n"
        "    sess.run(tf.negative(tf.random_normal([2]), name='y'))\n"
    )
    logdir = tmp_path / "log"
    assert main.main(["explain", "--tensorboard", str(logdir), str(program)]) == 0
    (path,) = logdir.glob("plugins/profile/explained/*.xplane.pb")
    text = path.read_bytes()
    assert b"y (Neg)" in text
