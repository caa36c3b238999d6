"""Dumps of steps over several tasks: each task writes its own."""

from __future__ import annotations

from pathlib import Path

import pytest

import tensorloom as tf
from tests.cluster.clusters import OTHER, WORKER, cluster


@pytest.mark.slow
@pytest.mark.parametrize("is_functional", [True, False])
def test_loops_over_tasks_are_dumped_by_iteration(
    tmp_path: Path, is_functional: bool
) -> None:
    if not is_functional:
        tf.disable_control_flow_v2()
    try:
        with cluster(worker=2) as servers, tf.Graph().as_default() as graph:

            def body(i: tf.Tensor, y: tf.Tensor) -> list[tf.Tensor]:
                with tf.device(OTHER):
                    grown = tf.multiply(y, 2.0, name="grown")
                return [i + 1, grown]

            with tf.device(WORKER):
                i, y = tf.while_loop(lambda i, y: i < 3, body, [0, 1.0], name="loop")
                z = tf.negative(y, name="z")
            options = tf.RunOptions()
            tf.debug.watch_graph(options, graph, debug_urls=f"file://{tmp_path}")
            target = servers["worker"][0].target
            with tf.Session(target) as sess:
                for _ in range(2):
                    assert sess.run([i, z], options=options) == [3, -8.0]
                assert sess.run(z) == -8.0
    finally:
        tf.enable_control_flow_v2()
    dump = tf.debug.DebugDumpDir(str(tmp_path))
    assert len(dump.devices()) == 2
    grown = [d for d in dump.dumped_tensor_data if d.node_name.endswith("grown")]
    assert [d.get_tensor() for d in grown] == [2.0, 4.0, 8.0] * 2
    assert {d.device_name for d in grown} == {
        "/job:worker/replica:0/task:1/device:CPU:0"
    }
    assert [m.session_run_index for m in dump.core_metadata] == [0, 1]
