"""`tf.contrib.graph_editor`: what programs do with a finished graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

ge = tf.contrib.graph_editor


@pytest.fixture
def chain() -> Any:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name="x")
        with tf.name_scope("part"):
            y = tf.square(x, name="y")
            z = tf.add(y, x, name="z")
        tf.identity(z, name="out")
        yield graph, x, y, z


def _value(tensor: Any, x: Any) -> list[float]:
    with tf.Session(graph=tensor.graph) as session:
        return [float(v) for v in session.run(tensor, {"x:0": x})]


def test_a_session_that_ran_before_sees_a_rerouted_input(chain: Any) -> None:
    _graph, x, y, z = chain
    with tf.Session() as session:
        before = session.run(z, {x: [3.0, 4.0]})
        assert ge.reroute_ts(x, y, can_modify=z.op) == 1
        after = session.run("out:0", {x: [3.0, 4.0]})
    np.testing.assert_allclose(before, [12.0, 20.0])
    np.testing.assert_allclose(after, [6.0, 8.0])


def test_walks_and_boundaries(chain: Any) -> None:
    graph, x, y, z = chain
    out = graph.get_operation_by_name("out")
    assert ge.get_backward_walk_ops(out) == [out, z.op, y.op, x.op]
    assert ge.get_forward_walk_ops([y], inclusive=False) == [out]
    inputs, outputs, inside = ge.compute_boundary_ts([y.op, z.op])
    assert (inputs, outputs, inside) == ([x], [z], [y])


def test_modules_have_the_names() -> None:
    assert ge.select.get_walks_union_ops is ge.get_walks_union_ops
    assert ge.util.ControlOutputs is ge.ControlOutputs
    assert ge.subgraph.make_view is ge.sgv


def test_a_copy_into_another_graph_brings_its_functions(chain: Any) -> None:
    graph, _x, _y, z = chain
    looped = tf.while_loop(lambda v: v[0] < 100.0, lambda v: v * 2.0, [z])
    other = tf.Graph()
    _, info = ge.copy(graph, other)
    assert _value(info.transformed(looped), [1.0, 2.0]) == [128.0, 384.0]


def test_a_part_is_computed_with_another_input(chain: Any) -> None:
    _, x, _, z = chain
    replaced = ge.graph_replace(z, {x: tf.constant([1.0, 10.0])})
    assert _value(replaced, [0.0, 0.0]) == [2.0, 110.0]


def test_handlers_make_other_operations(chain: Any) -> None:
    graph, _, y, z = chain

    def as_double(info: Any, op: Any, inputs: Any) -> Any:
        if op is not y.op:
            return ge.copy_op_handler(info, op, inputs)
        negated = tf.negative(inputs[0], name=info.new_name(op.name))
        return negated.op, negated.op.outputs

    transformer = ge.Transformer()
    transformer.transform_op_handler = as_double
    transformer.transform_external_input_handler = ge.keep_t_if_possible_handler
    view, info = transformer(ge.sgv_scope("part", graph), graph, "new")
    assert [t.name for t in view.outputs] == ["new/part/z:0"]
    assert _value(info.transformed(z), [3.0, 4.0]) == [0.0, 0.0]


def test_attrs_of_a_copy_can_be_changed(chain: Any) -> None:
    graph, _x, y, _ = chain

    def renamed(node: Any) -> Any:
        node.name += "_other"
        return node

    def handler(info: Any, op: Any, inputs: Any) -> Any:
        return ge.copy_op_handler(info, op, inputs, nodedef_fn=renamed)

    transformer = ge.Transformer()
    transformer.transform_op_handler = handler
    _, info = transformer(y.op, graph, "")
    assert info.transformed(y).op.name == "part/y_1_other"


def test_loops_of_classic_nodes_are_copied_whole() -> None:
    tf.disable_control_flow_v2()
    try:
        with tf.Graph().as_default():
            start = tf.constant(1.0)
            end = tf.while_loop(lambda v: v < 100.0, lambda v: v * 3.0, [start])
            again = ge.graph_replace(end, {start: tf.constant(2.0)})
            with tf.Session() as session:
                assert session.run([end, again]) == [243.0, 162.0]
    finally:
        tf.enable_control_flow_v2()
