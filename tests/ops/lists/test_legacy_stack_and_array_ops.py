"""Stacks and tensor arrays of old, whose handles are strings; For and RemoteCall."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.client.functions.function import Defun
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.ops.control_flow import functional as functional_ops

R = tf.raw_ops


def _run(fetches: Any) -> Any:
    with tf.Session() as sess:
        return sess.run(fetches)


def _make_graph_old() -> None:
    """Takes the default graph back to a version that has the tensor arrays of old."""
    old = tf.GraphDef()
    old.versions.producer = 15
    tf.import_graph_def(old)


@pytest.mark.parametrize("version", ["", "V2"])
def test_an_array_of_old(version: str) -> None:
    def op(kind: str, **arguments: Any) -> Any:
        return getattr(R, f"TensorArray{kind}{version}")(**arguments)

    _make_graph_old()
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    handle = op("", size=2, dtype=tf.float32, clear_after_read=False)
    flow = op("Write", handle=handle, index=0, value=x[0], flow_in=0.0)
    flow = op("Write", handle=handle, index=1, value=x[1], flow_in=flow)
    read = op("Read", handle=handle, index=1, flow_in=flow, dtype=tf.float32)
    both = op("Gather", handle=handle, indices=[1, 0], flow_in=flow, dtype=tf.float32)
    joined, lengths = op("Concat", handle=handle, flow_in=flow, dtype=tf.float32)
    size = op("Size", handle=handle, flow_in=flow)
    values = _run([read, both, joined, lengths, size])
    np.testing.assert_array_equal(values[0], [3, 4])
    np.testing.assert_array_equal(values[1], [[3, 4], [1, 2]])
    np.testing.assert_array_equal(values[2], [1, 2, 3, 4])
    assert values[3].tolist() == [2, 2]
    assert values[4] == 2


def test_packing_and_unpacking() -> None:
    _make_graph_old()
    handle = R.TensorArray(size=2, dtype=tf.float32)
    flow = R.TensorArrayUnpack(handle=handle, value=[[1.0], [2.0]], flow_in=0.0)
    packed = R.TensorArrayPack(handle=handle, flow_in=flow, dtype=tf.float32)
    np.testing.assert_array_equal(_run(packed), [[1], [2]])


def test_a_stack_of_old() -> None:
    handle = R.Stack(elem_type=tf.float32)
    first = R.StackPush(handle=handle, elem=1.0)
    with tf.control_dependencies([first]):
        second = R.StackPush(handle=handle, elem=2.0)
    with tf.control_dependencies([second]):
        top = R.StackPop(handle=handle, elem_type=tf.float32)
    assert _run(top) == 2.0


def test_for_and_remote_call() -> None:
    @Defun(tf.int32, tf.float32)
    def body(i: Any, x: Any) -> Any:
        return x * 2.0 + tf.cast(i, tf.float32)

    @Defun(tf.float32)
    def double(x: Any) -> Any:
        return x * 2.0

    graph = tf.get_default_graph()
    body.add_to_graph(graph)
    double.add_to_graph(graph)

    def loop(start: int, limit: int, delta: int) -> Any:
        return R.For(
            start=start,
            limit=limit,
            delta=delta,
            input=[tf.constant(1.0)],
            body=functional_ops.named(body.name),
        )[0]

    called = R.RemoteCall(
        target="/cpu:0",
        args=[3.0],
        Tout=[tf.float32],
        f=functional_ops.named(double.name),
    )[0]
    values = _run([loop(0, 3, 1), loop(6, 0, -3), loop(2, 2, 1), called])
    assert values == [12.0, 19.0, 1.0, 6.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid start"):
        _run(loop(0, 3, 0))


def test_map_defun() -> None:
    @Defun(tf.float32, tf.float32)
    def scaled(row: Any, factor: Any) -> Any:
        return tf.reduce_sum(row) * factor

    scaled.add_to_graph(tf.get_default_graph())
    mapped = R.MapDefun(
        arguments=[tf.constant([[1.0, 2.0], [3.0, 4.0]])],
        captured_inputs=[tf.constant(10.0)],
        output_types=[tf.float32],
        output_shapes=[[]],
        f=functional_ops.named(scaled.name),
    )[0]
    np.testing.assert_array_equal(_run(mapped), [30, 70])
    assert mapped.shape.as_list() == [2]


def test_a_switch_of_many() -> None:
    index = tf.placeholder(tf.int32, [])
    outputs = apply_op(
        "_SwitchN", name="switch", data=5.0, output_index=index, num_outs=3
    )
    merged, taken = R.Merge(inputs=[t * (i + 1.0) for i, t in enumerate(outputs)])
    with tf.Session() as sess:
        for given, wanted in ((0, 0), (1, 1), (2, 2), (7, 2), (-1, 2)):
            values = sess.run([merged, taken], {index: given})
            assert values == [5.0 * (wanted + 1), wanted]


def test_gather_tree() -> None:
    beams = R.GatherTree(
        step_ids=[[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]], [[-1, -1, -1]]],
        parent_ids=[[[0, 0, 0]], [[0, 1, 1]], [[2, 1, 2]], [[-1, -1, -1]]],
        max_sequence_lengths=[3],
        end_token=10,
    )
    assert _run(beams).tolist() == [
        [[2, 2, 2]],
        [[6, 5, 6]],
        [[7, 8, 9]],
        [[10, 10, 10]],
    ]


def test_gather_tree_names_the_beam_that_leads_to_none() -> None:
    beams = R.GatherTree(
        step_ids=[[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]]],
        parent_ids=[[[0, 0, 0]], [[0, -1, 1]], [[2, 1, 2]]],
        max_sequence_lengths=[3],
        end_token=10,
    )
    place = r"parent id -1 at \(batch, time, beam\) == \(0, 0, 1\)"
    with pytest.raises(tf.errors.InvalidArgumentError, match=place):
        _run(beams)


def test_a_constant_of_the_host() -> None:
    copy = tf.get_default_graph().create_op(
        "HostConst", [], attrs=dict(tf.constant([1, 2]).op.node_def.attr)
    )
    assert _run(copy.outputs[0] + 1).tolist() == [2, 3]
