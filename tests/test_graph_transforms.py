"""Transforms of frozen graphs, by name: the outputs stay what they were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.tools.graph_transforms import TransformGraph


def _graph() -> Any:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [1, 4, 4, 2], name="x")
        weights = tf.constant(np.arange(1.0, 5.0).reshape(1, 1, 2, 2), tf.float32)
        product = tf.nn.conv2d(
            tf.identity(x), weights, [1, 1, 1, 1], "SAME", name="conv"
        )
        scale = tf.constant([2.0, 3.0]) + tf.constant([1.0, 1.0])
        again = tf.constant([2.0, 3.0]) + tf.constant([1.0, 1.0])
        with tf.device("/cpu:0"):
            tf.add(product * scale, again, name="y")
        tf.negative(x, name="unused")
    return graph.as_graph_def()


def _run(graph_def: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(graph_def, name="")
        return sess.run("y:0", {"x:0": np.ones((1, 4, 4, 2))})


@pytest.mark.parametrize(
    ("transforms", "gone"),
    [
        (["strip_unused_nodes"], "unused"),
        (["remove_nodes(op=Identity, op=CheckNumerics)"], "Identity"),
        (["fold_constants(ignore_errors=true)"], "Const_1"),
        (["fold_constants", "fold_batch_norms"], "Mul"),
        (["merge_duplicate_nodes"], "Const_4"),
        (["obfuscate_names"], "conv"),
        (["remove_device"], ""),
        (["set_device(device=/cpu:0, if_default=true)"], ""),
        (["remove_control_dependencies", "sort_by_execution_order"], ""),
        (["add_default_attributes", "fold_old_batch_norms"], ""),
    ],
)
def test_values_stay(transforms: list[str], gone: str) -> None:
    before = _graph()
    after = TransformGraph(before, ["x"], ["y"], transforms)
    np.testing.assert_allclose(_run(after), _run(before), rtol=1e-6)
    names = {node.name for node in after.node} | {node.op for node in after.node}
    assert gone not in names
    assert before == _graph()


def test_attributes_and_ops_are_renamed() -> None:
    graph = TransformGraph(
        _graph(),
        ["x"],
        ["y"],
        [
            'rename_attribute(op_name="Conv2D", old_attribute_name=padding, '
            "new_attribute_name=pad)",
            "remove_attribute(attribute_name=dilations)",
            "rename_op(old_op_name=Conv2D, new_op_name=MyConv)",
        ],
    )
    (node,) = (node for node in graph.node if node.name == "conv")
    assert node.op == "MyConv"
    assert "pad" in node.attr
    assert not {"padding", "dilations"} & set(node.attr)


def test_weights_are_rounded() -> None:
    with tf.Graph().as_default() as graph:
        tf.constant(np.linspace(-1.0, 1.0, 100), tf.float32, name="y")
    after = TransformGraph(
        graph.as_graph_def(), [], ["y"], ["round_weights(num_steps=5)"]
    )
    values = tf.make_ndarray(after.node[0].attr["value"].tensor)
    # The middles of five ranges; the largest value is the first of a sixth.
    np.testing.assert_allclose(
        sorted(set(values.tolist())), [-0.8, -0.4, 0.0, 0.4, 0.8, 1.2], atol=1e-6
    )


def test_normalization_of_newer_graphs_is_folded() -> None:
    for training in (False, True):
        with tf.Graph().as_default() as graph:
            x = tf.placeholder(tf.float32, [1, 4, 4, 2], name="x")
            weights = np.arange(1.0, 9.0, dtype=np.float32).reshape(1, 1, 2, 4)
            made = tf.nn.conv2d(x, tf.constant(weights), 1, "SAME")
            parts = [] if training else [tf.constant([0.5] * 4), tf.constant([2.0] * 4)]
            y, _, _ = tf.nn.fused_batch_norm(
                made, [1.0, 2.0, 3.0, 4.0], [0.1] * 4, *parts, is_training=training
            )
            tf.identity(y, name="y")
        before = graph.as_graph_def()
        after = TransformGraph(before, ["x"], ["y"], ["fold_old_batch_norms"])
        assert ("BiasAdd" in {node.op for node in after.node}) is not training
        np.testing.assert_allclose(_run(after), _run(before), rtol=1e-5)


def test_sparse_variables_become_tables(tmp_path: Path) -> None:
    values = np.zeros((9, 1), np.float32)
    values[[2, 5]] = [[3.0], [4.0]]
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        weights = tf.Variable(values, name="w", use_resource=False)
        x = tf.placeholder(tf.int64, [3], name="x")
        tf.add(tf.gather(weights, x), 0.5, name="y")
        sess.run(tf.global_variables_initializer())
        checkpoint = tf.train.Saver().save(sess, str(tmp_path / "model"))
    transform = f'sparsify_gather(input_checkpoint="{checkpoint}")'
    transforms = ["strip_unused_nodes", transform]
    after = TransformGraph(graph.as_graph_def(), ["x"], ["y"], transforms)
    assert "w" not in {node.name for node in after.node}
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(after, name="")
        sess.run("group_deps")
        found = sess.run("y:0", {"x:0": [2, 3, 5]})
    assert found.tolist() == [[3.5], [0.5], [4.5]]
    with pytest.raises(tf.errors.NotFoundError, match="input_checkpoint"):
        TransformGraph(graph.as_graph_def(), ["x"], ["y"], ["sparsify_gather"])


def test_ranges_of_a_log_are_frozen(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [1, 4, 4, 2], name="x")
        tf.nn.conv2d(x, tf.ones([1, 1, 2, 3]), 1, "SAME", name="y")
    measured = TransformGraph(graph.as_graph_def(), ["x"], ["y"], ["quantize_nodes"])
    assert "RequantizationRange" in {node.op for node in measured.node}
    log = tmp_path / "log"
    name = "y/eightbit/requant_range"
    lines = [f";{name}__print__;__requant_min_max:[-{n}][{n}.5]" for n in range(1, 5)]
    log.write_text("\n".join(["not a range", *lines]))
    transform = f'freeze_requantization_ranges(min_max_log_file="{log}")'
    frozen = TransformGraph(measured, ["x"], ["y"], [transform])
    assert "RequantizationRange" not in {node.op for node in frozen.node}
    found = {n.name: n for n in frozen.node if n.op == "Const"}
    ends = [
        float(tf.make_ndarray(found[f"{name}/frozen_{end}"].attr["value"].tensor))
        for end in ("min", "max")
    ]
    assert ends == [-4.0, 4.5]
    np.testing.assert_allclose(_run(frozen), np.full((1, 4, 4, 3), 2.0), atol=0.05)
    log.write_text(lines[0].replace(name, "absent"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="aren't present"):
        TransformGraph(measured, ["x"], ["y"], [transform])


@pytest.mark.parametrize(
    ("transform", "message"),
    [
        ("no_such_transform", "'no_such_transform' not recognized; known are add_"),
        ("fold_constants((", "Looking for parameter name"),
        ("rename_op(old_op_name=a)", "exactly one 'new_op_name' argument, e.g. rename"),
    ],
)
def test_what_cannot_be_done(transform: str, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        TransformGraph(_graph(), ["x"], ["y"], [transform])


def test_colocations_with_what_goes_do_not_matter() -> None:
    graph_def = _graph()
    (last,) = (node for node in graph_def.node if node.name == "y")
    constant = next(node for node in graph_def.node if node.op == "Const")
    constant.attr["_class"].list.s.append(b"loc:@y")
    assert last.op == "Add"
    after = TransformGraph(graph_def, ["x"], ["y"], ["fold_constants"])
    np.testing.assert_allclose(_run(after), _run(_graph()), rtol=1e-6)
