"""Transforms of frozen graphs, by name: the outputs stay what they were."""

from __future__ import annotations

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
    assert sorted(set(values.tolist())) == [-1.0, -0.5, 0.0, 0.5, 1.0]


@pytest.mark.parametrize(
    ("transform", "message"),
    [
        ("no_such_transform", "'no_such_transform' not recognized; known are add_"),
        ("fold_constants((", "cannot be read"),
        ("set_device", "exactly one value of device"),
    ],
)
def test_what_cannot_be_done(transform: str, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        TransformGraph(_graph(), ["x"], ["y"], [transform])
