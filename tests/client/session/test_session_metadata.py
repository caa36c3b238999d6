"""RunOptions, RunMetadata and ConfigProto."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf


def full_trace() -> Any:
    return tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)


def test_step_stats() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.exp(x, name="y")
    z = tf.reduce_sum(y, name="z")
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        assert sess.run(z, {x: [0, 0]}, full_trace(), metadata) == 2.0
        (device,) = metadata.step_stats.dev_stats
        assert device.device == "/job:localhost/replica:0/task:0/device:CPU:0"
        stats = {node.node_name: node for node in device.node_stats}
        assert {"y", "z"} <= stats.keys()
        node = stats["y"]
        assert node.all_start_micros > 10**15
        assert node.all_end_rel_micros >= 1
        assert node.op_end_rel_nanos <= node.all_end_rel_nanos
        assert "Exp" in node.timeline_label
        output = node.output[0].tensor_description
        assert [d.size for d in output.shape.dim] == [2]
        assert output.dtype == 1
        assert output.allocation_description.requested_bytes == 8


def test_metadata_holds_one_step() -> None:
    a = tf.exp(1.0)
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        sess.run(a, options=full_trace(), run_metadata=metadata)
        assert metadata.step_stats.dev_stats
        sess.run(a, run_metadata=metadata)
        assert not metadata.ListFields()


def test_partition_graphs() -> None:
    with tf.device("/cpu:0"):
        a = tf.random_uniform([2], name="a")
    with tf.device("/cpu:1"):
        b = tf.exp(a, name="b")
    metadata = tf.RunMetadata()
    options = tf.RunOptions(output_partition_graphs=True)
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.Session(config=config) as sess:
        sess.run(b, options=options, run_metadata=metadata)
    assert len(metadata.partition_graphs) == 2
    sends, recvs = (
        [n for g in metadata.partition_graphs for n in g.node if n.op == op]
        for op in ("_Send", "_Recv")
    )
    keys = [
        sorted((n.attr["tensor_name"].s, n.attr["recv_device"].s) for n in nodes)
        for nodes in (sends, recvs)
    ]
    assert keys[0] == keys[1]
    assert any(b"a" in name for name, _ in keys[0])


def test_cost_graph() -> None:
    config = tf.ConfigProto()
    config.graph_options.build_cost_model = 1
    metadata = tf.RunMetadata()
    a = tf.exp(tf.random_uniform([2]), name="a")
    with tf.Session(config=config) as sess:
        sess.run(a, options=full_trace(), run_metadata=metadata)
    assert "a" in [node.name for node in metadata.cost_graph.node]


@pytest.mark.parametrize("where", ["options", "config"])
def test_a_timeout_ends_a_step_that_waits(where: str) -> None:
    queue = tf.FIFOQueue(1, [tf.float32])
    taken = queue.dequeue()
    config, options = tf.ConfigProto(), None
    if where == "config":
        config.operation_timeout_in_ms = 50
    else:
        options = tf.RunOptions(timeout_in_ms=50)
    with tf.Session(config=config) as sess:
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(taken, options=options)
        unhurried = tf.RunOptions(timeout_in_ms=60_000)
        assert sess.run(tf.constant(1.0), options=unhurried) == 1.0


def test_wrong_types() -> None:
    a = tf.constant(1.0)
    with tf.Session() as sess:
        with pytest.raises(AttributeError):
            sess.run(a, options=5)
        with pytest.raises(AttributeError):
            sess.run(a, run_metadata=5)


def test_placement_is_logged(capfd: pytest.CaptureFixture[str]) -> None:
    with tf.device("/cpu:1"):
        a = tf.exp(tf.random_uniform([]), name="a")
    config = tf.ConfigProto(log_device_placement=True, device_count={"CPU": 2})
    with tf.Session(config=config) as sess:
        sess.run(a)
        sess.run(a)
    lines = capfd.readouterr().err.splitlines()
    line = "a: (Exp): /job:localhost/replica:0/task:0/device:CPU:1"
    assert lines.count(line) == 1


@pytest.mark.parametrize("level", ["L0", "L1", "no rewrites"])
def test_values_do_not_depend_on_passes(level: str) -> None:
    config = tf.ConfigProto()
    if level == "no rewrites":
        config.graph_options.rewrite_options.disable_meta_optimizer = True
    else:
        options = config.graph_options.optimizer_options
        options.opt_level = type(options).Level.Value(level)
    x = tf.placeholder(tf.float32, [None, 2])
    y = tf.nn.relu(tf.matmul(x, tf.ones([2, 3])) + tf.constant([1.0, 2.0, -9.0]))
    (gradient,) = tf.gradients(y * 1.0 + 0.0, x)
    with tf.Session(config=config) as sess:
        values, slopes = sess.run([y, gradient], {x: [[1.0, 2.0]]})
    assert values.tolist() == [[4.0, 5.0, 0.0]]
    assert slopes.tolist() == [[2.0, 2.0]]
