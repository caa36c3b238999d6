"""TensorBoard 2 shows our graph, and what a traced step's nodes took."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

ROOT = Path(__file__).resolve().parents[2]
PYTHON = Path(os.environ.get("TENSORBOARD", ROOT / ".venv-tensorboard")) / "bin/python"
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
ROWS, WIDTH = 512, 32


def _write(folder: Path) -> dict[str, Any]:
    """Writes three traced steps; the node stats of the second, by name."""
    x = tf.placeholder(tf.float32, [None, 64], name="images")
    with tf.variable_scope("layer"):
        w = tf.get_variable("w", [64, WIDTH])
        y = tf.nn.relu(tf.matmul(x, w, name="product"), name="y")
    with tf.name_scope("head"):
        loss = tf.reduce_mean(tf.square(y), name="loss")
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    told: dict[str, Any] = {}
    with tf.Session() as sess, tf.summary.FileWriter(str(folder), sess.graph) as writer:
        sess.run(tf.global_variables_initializer())
        for step in range(3):
            metadata = tf.RunMetadata()
            feeds = {x: np.ones([ROWS, 64], np.float32)}
            sess.run([train, loss], feeds, options, metadata)
            writer.add_run_metadata(metadata, f"step{step}", step)
            if step == 1:
                (device,) = metadata.step_stats.dev_stats
                told = {node.node_name: node for node in device.node_stats}
    return told


@pytest.mark.tensorboard
def test_times_and_memory_of_a_traced_step(tmp_path: Path) -> None:
    told = _write(tmp_path / "log")
    pictures = os.environ.get("TENSORBOARD_PICTURES") or str(tmp_path)
    done = subprocess.run(
        [
            *(PYTHON, Path(__file__).with_name("visitor.py"), tmp_path / "log"),
            *("step1", "layer", str(BROWSER), pictures),
        ],
        stdout=subprocess.PIPE,
        text=True,
        timeout=500,
        check=True,
    )
    seen = json.loads(done.stdout)
    inside = [node for name, node in told.items() if name.startswith("layer/")]
    begin = min(node.all_start_micros for node in inside)
    end = max(node.all_start_micros + node.all_end_rel_micros for node in inside)
    total = sum(memory.total_bytes for node in inside for memory in node.memory)
    assert total == 2 * ROWS * WIDTH * 4
    for texts in seen.values():
        assert {"images", "layer", "head", "gradients", "CPU:0"} <= set(texts)
        shown = texts[texts.index("Node Stats") :]
        assert shown[shown.index("Memory") + 1] == f"{total // 1024} KB"
        time = shown[shown.index("Compute Time") + 1]
        assert re.fullmatch(r"[\d.]+ (µs|ms)", time)
        if time.endswith("µs"):
            assert int(time.split()[0]) == end - begin
