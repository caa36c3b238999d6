"""Explanations beside what can be counted without them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.inspect.explain import fates, report


def explained(fetches: Any, feeds: Any = None, **config: Any) -> Any:
    sess = tf.Session(config=tf.ConfigProto(**config))
    sess.run(tf.global_variables_initializer())
    return sess.explain(fetches, feeds)


def test_every_way_a_node_can_end() -> None:
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    y = tf.exp(x, name="y")
    tf.add(y, 0.0, name="replaced")
    tf.exp(x, name="twin")
    tf.add(tf.constant(1.0, name="one"), tf.constant(2.0, name="two"), name="three")
    graph = tf.get_default_graph()
    t = graph.get_tensor_by_name
    out = t("replaced:0") * t("three:0") + t("twin:0")
    w = tf.get_variable("w", [3, 4])
    layer = tf.nn.relu(tf.matmul(out, w, name="product") + tf.ones([4]), name="layer")
    tf.log(layer, name="pruned")
    found = explained([layer], {x: np.ones([2, 3])}).fates
    ways = {name: fate.way for name, fate in found.items()}
    assert ways["x"] == fates.FED
    assert ways["y"] == fates.KEPT
    assert (ways["replaced"], found["replaced"].by) == (fates.REPLACED, ("y",))
    assert (found["replaced"].stage, found["replaced"].rule) == (
        "arithmetic",
        "neutral",
    )
    assert (ways["twin"], found["twin"].by) == (fates.MERGED, ("y",))
    assert ways["three"] == fates.FOLDED
    assert ways["one"] == fates.UNREAD
    assert "three" in found["one"].detail
    assert (ways["product"], found["product"].by) == (fates.FUSED, ("layer",))
    assert ways["layer"] == fates.CHANGED
    assert ways["pruned"] == fates.PRUNED
    assert ways.keys() == {op.name for op in graph.get_operations()}


def test_classic_control_flow_moves_into_functions() -> None:
    tf.disable_control_flow_v2()
    x = tf.placeholder(tf.float32, [])
    total = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x), [0, 1.0])[1]
    e = explained(total, {x: 2.0})
    assert e.results == 8.0
    assert e.fates["while/mul"].way == fates.MOVED
    assert sum(e.counts().values()) == len(tf.get_default_graph().get_operations())


def test_results_are_those_of_run_and_effects_happen_once() -> None:
    v = tf.Variable(1.0)
    sess = tf.Session()
    sess.run(v.initializer)
    e = sess.explain({"sum": v.assign_add(2.0)})
    assert e.results == {"sum": 3.0}
    assert sess.run(v) == 3.0
    assert sess.explain(v.assign_add(2.0), run=False).results is None
    assert sess.run(v) == 3.0


def two_devices() -> Any:
    x = tf.placeholder(tf.float32, [None, 8], name="x")
    with tf.device("/cpu:1"):
        y = tf.exp(x, name="y")
    z = tf.reduce_sum(y, name="z")
    return x, z


def test_parts_and_transfers_are_those_of_the_partition_graphs() -> None:
    x, z = two_devices()
    sess = tf.Session(config=tf.ConfigProto(device_count={"CPU": 2}))
    feeds = {x: np.ones([5, 8], np.float32)}
    metadata = tf.RunMetadata()
    sess.run(z, feeds, tf.RunOptions(output_partition_graphs=True), metadata)
    told = {
        frozenset(node.name for node in graph.node)
        for graph in metadata.partition_graphs
    }
    e = sess.explain(z, feeds)
    assert {frozenset(graph.nodes) for graph in e.parts.values()} == told
    sends = [
        node
        for graph in metadata.partition_graphs
        for node in graph.node
        if node.op == "_Send"
    ]
    assert len(e.transfers) == len(sends) == 2
    assert [t.size for t in e.transfers if t.tensor.endswith("y")] == [5 * 8 * 4]
    assert {t.target[-5:] for t in e.transfers} == {"CPU:0", "CPU:1"}


def test_why_nodes_are_where_they_are() -> None:
    x, z = two_devices()
    v = tf.Variable(tf.zeros([2]))
    e = explained(
        [z, v.assign_add([1.0, 2.0])], {x: np.ones([1, 8])}, device_count={"CPU": 2}
    )
    reasons = {name: p.reason for name, p in e.journal.placements.items()}
    assert reasons["y"] == "its device field asks for /device:CPU:1"
    assert reasons["z"] == "it has no device field, and this device comes first"
    assert "colocated with Variable" in reasons["AssignAdd"]
    devices = {name: p.device for name, p in e.journal.placements.items()}
    placed = [
        n for g in e.parts.values() for n in g.nodes.values() if n.name in devices
    ]
    assert placed
    assert all(node.device == devices[node.name] for node in placed)


def test_memory_is_what_the_values_take() -> None:
    x = tf.placeholder(tf.float32, [None, 1000], name="x")
    a = tf.exp(x, name="a")  # 40,000 bytes each
    b = tf.tanh(a, name="b")
    view = tf.reshape(b, [-1], name="view")
    c = tf.concat([view, view], 0, name="c")  # 80,000
    total = tf.reduce_sum(c, name="total")
    e = explained(total, {x: np.zeros([10, 1000], np.float32)})
    (memory,) = e.memory.devices
    assert memory.held == 40_000
    # b, its view (no memory of its own) and c.
    assert memory.peak == 120_000
    assert memory.peak_node == "c"
    assert [size for _, size in memory.peak_values] == [80_000, 40_000]
    lives = {life.node: life for life in e.memory.values}
    assert lives["a"].size == 40_000
    lines = e.functions[0].lines
    assert lives["a"].name in lines[lives["a"].made - 1].text
    assert f"del {lives['a'].name}" in lines[lives["a"].dropped - 1].text


def test_times_are_those_of_the_trace() -> None:
    x = tf.constant(np.ones([600, 600], np.float32))
    v = tf.Variable(x)
    sess = tf.Session()
    sess.run(v.initializer)
    e = sess.explain(tf.reduce_sum(tf.matmul(v, v, name="product")))
    assert e.times is not None
    by_name = {node.node: node for node in e.times.nodes}
    for stats in e.stats:
        assert by_name[stats.node_name].seconds >= (stats.end_ns - stats.start_ns) / 1e9
    busy = sum((s.end_ns - s.start_ns) / 1e9 for s in e.stats)
    assert sum(e.times.by_device.values()) == pytest.approx(busy)
    assert busy <= e.times.step
    assert e.times.nodes[0].node == "product"


def test_the_life_of_a_node_from_its_line_to_the_program() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.exp(x, name="y")
    out = tf.negative(y + 0.0)
    e = explained(out, {x: [1.0, 2.0]})
    text = "\n".join(report.node_lines(e, "y"))
    assert "y = Exp(x) -> float32[2]" in text
    assert "test_explanation.py:" in text
    assert "stands in for add (replaced by the rule neutral)" in text
    assert "CPU:0 line" in text
    with pytest.raises(KeyError, match=r"Similar: .*y"):
        e.node("yy")


def test_loops_tell_their_runs() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    out = tf.while_loop(
        lambda i, s: i < 5, lambda i, s: (i + 1, s + tf.exp(s, name="e")), [0, x]
    )[1]
    e = explained(out, {x: -9.0})
    runs = [n.runs for n in e.times.nodes if n.op == "Exp"]
    assert runs == [5]


def test_summary_stages_differences_and_data() -> None:
    x, z = two_devices()
    e = explained(z, {x: np.ones([2, 8])}, device_count={"CPU": 2})
    text = str(e)
    for part in ("fetches  z:0", "2 tensors cross devices", "one traced step", "peak"):
        assert part in text
    assert any("_Send" in line for line in report.stage_lines(e, "partition"))
    assert any("# y (Exp)" in line for line in report.stage_lines(e, "compile"))
    removed = [line for line in report.diff_lines(e, "prune") if line.startswith("- x")]
    assert removed
    with pytest.raises(KeyError, match="The stages of this step: prune"):
        list(report.diff_lines(e, "no_such_pass"))
    with pytest.raises(KeyError, match="partition, compile"):
        list(report.stage_lines(e, "no_such_stage"))
    data = json.loads(json.dumps(e.as_dict()))
    assert data["counts"] == e.counts()
    assert data["nodes"]["y"]["fate"] == "kept"
    same = e.compare(e)
    assert "0 nodes on another device" in same


def test_mistakes_of_the_caller() -> None:
    x = tf.placeholder(tf.float32, [])
    sess = tf.Session()
    with pytest.raises(ValueError, match="nothing is fetched but what is fed"):
        sess.explain(x, {x: 1.0})
    with pytest.raises(tf.errors.InvalidArgumentError, match="must feed a value"):
        sess.explain(x + 1.0)
    with pytest.raises(TypeError):
        sess.explain(3)
    sess.close()
    with pytest.raises(RuntimeError, match="closed Session"):
        sess.explain(x + 1.0)


@pytest.mark.parametrize("use_resource", [False, True])
def test_variables_are_held_and_not_of_the_step(use_resource: bool) -> None:
    v = tf.get_variable("v", [100, 10], use_resource=use_resource)
    x = tf.placeholder(tf.float32, [5, 100], name="x")
    e = explained(tf.reduce_sum(tf.matmul(x, v)), {x: np.ones([5, 100], np.float32)})
    (memory,) = e.memory.devices
    assert memory.held >= 100 * 10 * 4 + 5 * 100 * 4
    assert memory.peak < 1000
