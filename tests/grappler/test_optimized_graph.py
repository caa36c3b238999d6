"""The passes over a MetaGraphDef, and reports and placements of one."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tensorloom.python.grappler import (
    cost_analyzer,
    graph_placer,
    model_analyzer,
    tf_optimizer,
)
from tensorloom.python.grappler.cluster import Cluster

import tensorloom as tf
from tests.grappler.graphs import chain, metagraph, named_device


def _optimized(graph: Any, *optimizers: str) -> dict[str, Any]:
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.optimizers.extend(optimizers)
    return {n.name: n for n in tf_optimizer.OptimizeGraph(config, graph).node}


def test_constants_are_folded_into_what_is_fetched() -> None:
    nodes = _optimized(metagraph(chain), "constfold")
    assert list(nodes) == ["d"]
    assert nodes["d"].op == "Const"


def test_only_the_named_passes_run() -> None:
    nodes = _optimized(metagraph(chain), "arithmetic")
    assert nodes["d"].op == "AddN"


def test_collected_nodes_and_marked_ones_stay() -> None:
    def build() -> Any:
        tf.Variable(1.0)
        tf.add_to_collection("more", tf.constant(0, shape=[50, 50], name="keep"))
        mark = tf.AttrValue(b=True)
        with tf.get_default_graph()._attr_scope({"_grappler_do_not_remove": mark}):
            tf.constant(0, name="marked")
        tf.constant(0, name="unused")
        return tf.matmul(tf.ones([100, 10], tf.int32), tf.zeros([10, 30], tf.int32))

    assert sorted(_optimized(metagraph(build))) == [
        "MatMul",
        "Variable",
        "Variable/Assign",
        "Variable/initial_value",
        "keep",
        "marked",
    ]


def test_an_optimized_graph_has_tensorflows_ops_alone() -> None:
    def build() -> Any:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        return tf.nn.relu(tf.matmul(x, tf.ones([3, 2])) + tf.ones([2]), name="y")

    graph = tf_optimizer.OptimizeGraph(tf.ConfigProto(), metagraph(build))
    assert not [node.op for node in graph.node if node.op.startswith("_")]
    with tf.Graph().as_default(), tf.Session() as session:
        (y,) = tf.import_graph_def(graph, return_elements=["y:0"], name="")
        assert session.run(y, {"x:0": [[1.0, 2.0, 3.0]]}).tolist() == [[7.0, 7.0]]


def test_what_cannot_be_optimized_is_said() -> None:
    with pytest.raises(TypeError, match="Expected config_proto to be a ConfigProto"):
        tf_optimizer.OptimizeGraph(3, metagraph(chain))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Failed to import"):
        tf_optimizer.OptimizeGraph(tf.ConfigProto(), tf.MetaGraphDef())


def test_the_cost_report_has_totals_ops_and_nodes() -> None:
    report = cost_analyzer.GenerateCostReport(metagraph(chain), per_node_report=True)
    assert b"Total time measured in ns (serialized):" in report
    assert b"Overall efficiency (analytical lower/actual):" in report
    assert re.search(rb" AddN,\s+1,\s+\d+,", report)
    assert b"Below is the per-node report summary:" in report
    report = cost_analyzer.GenerateCostReport(metagraph(chain), True, True)
    assert b'node: "d"' in report


def test_the_memory_report_names_live_tensors() -> None:
    report = cost_analyzer.GenerateMemoryReport(metagraph(chain))
    assert "task:0/device:CPU:0: 16 bytes" in report
    assert "  c:0 uses 4 bytes" in report


def test_the_model_report_tells_shapes_and_known_values() -> None:
    def build() -> Any:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        return tf.reshape(x, [-1], name="y")

    graph = metagraph(build)
    report = model_analyzer.GenerateModelReport(graph).decode()
    assert "x [Placeholder]\n\toutput 0 (float) has shape [?, 3]\n" in report
    assert "y [Reshape]\n\toutput 0 (float) has shape [?]\n" in report
    report = model_analyzer.GenerateModelReport(graph, debug=True).decode()
    assert "\tinput 1 (int32) has known value" in report
    report = model_analyzer.GenerateModelReport(graph, False).decode()
    assert "x [Placeholder]\n\toutput 0 (float) has shape ?\n" in report


def test_a_placement_uses_the_faster_device() -> None:
    def build() -> Any:
        with tf.device("/CPU:0"):
            x = tf.random_uniform([512, 512], name="x")
            return tf.matmul(x, x, name="y")

    devices = [
        named_device("/CPU:0", "CPU", frequency=100, num_cores=1),
        named_device("/CPU:1", "CPU", frequency=1000, num_cores=8),
    ]
    graph = metagraph(build)
    placed = graph_placer.PlaceGraph(graph, Cluster(devices=devices), allotted_time=5)
    device_of = {node.name: node.device for node in placed.graph_def.node}
    assert device_of["y"] == "/CPU:1"
