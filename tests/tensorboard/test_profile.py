"""The trace viewer of TensorBoard's profiler shows a traced step."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

import tensorloom as tf
from tests.tensorboard.test_graph_page import PYTHON


@pytest.mark.tensorboard
def test_the_nodes_of_a_traced_step(tmp_path: Path) -> None:
    with tf.device("/cpu:1"):
        x = tf.random_normal([200, 200], name="x")
        product = tf.matmul(x, x, name="product")
    with tf.device("/cpu:0"):
        z = tf.reduce_sum(product, name="z")
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        told = sess.explain(z)
    told.write_profile(str(tmp_path), "a_step")
    reader = Path(__file__).with_name("profile_reader.py")
    done = subprocess.run(
        [PYTHON, reader, tmp_path, "a_step", socket.gethostname()],
        stdout=subprocess.PIPE,
        timeout=500,
        check=True,
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
    )
    events = [event for event in json.loads(done.stdout)["traceEvents"] if event]
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    shown = {
        (names[e["pid"]].rpartition("device:")[2], e["name"]): e["dur"]
        for e in events
        if e["ph"] == "X"
    }
    expected = {
        (node.device.rpartition("device:")[2], f"{node.node_name} ({node.op})"): (
            (node.end_ns - node.start_ns) / 1e3
        )
        for node in told.stats
    }
    assert shown == pytest.approx(expected)
    assert ("CPU:1", "product (MatMul)") in shown
    begin = min(e["ts"] for e in events if e["ph"] == "X")
    starts = {e["name"]: e["ts"] - begin for e in events if e["ph"] == "X"}
    first = min(node.start_ns for node in told.stats)
    for node in told.stats:
        start = starts[f"{node.node_name} ({node.op})"]
        assert start == pytest.approx((node.start_ns - first) / 1e3, abs=0.01)
