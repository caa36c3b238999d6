"""Operations of classic control flow, and what a program may ask of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tensorloom.python.ops import (
    control_flow_ops,
    control_flow_util,
    gradient_checker_v2,
)

import tensorloom as tf
from tensorloom.framework.graph import classic_node_counts
from tensorloom.framework.types.indexed_slices import IndexedSlicesValue


def _run(tensor: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(tensor)


def test_frames_by_hand() -> None:
    inside = control_flow_ops._Enter(2, "frame", is_constant=True)
    product = inside * control_flow_ops._Enter(tf.constant(3), "frame")
    assert control_flow_util.IsLoopConstantEnter(inside.op)
    assert control_flow_util.GetLoopConstantEnter(tf.identity(inside)) is inside.op
    outside = control_flow_ops.exit(product)
    assert control_flow_util.IsLoopExit(outside.op)
    assert _run(outside) == 6


def test_references_pass() -> None:
    variable = tf.Variable(7, use_resource=False)
    reference = control_flow_ops._Identity(variable)
    assert reference.dtype._is_ref_dtype
    assert _run(tf.assign(reference, 9)) == 9
    assert control_flow_ops._Enter(variable, "frame").op.type == "RefEnter"
    value = control_flow_ops._Enter(variable, "frame", use_ref=False)
    assert value.op.type == "Enter"


@pytest.mark.parametrize("kind", ["cond", "loop"])
def test_switches_and_merges(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    form = classic_node_counts.Form.CLASSIC
    monkeypatch.setattr(classic_node_counts, "_form", form)
    if kind == "cond":
        tf.cond(tf.placeholder(tf.bool, []), lambda: tf.constant(1), lambda: 2)
    else:
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
    operations = tf.get_default_graph().get_operations()
    found = 0
    for op in operations:
        is_cond = control_flow_util.IsCondSwitch(op) or control_flow_util.IsCondMerge(
            op
        )
        is_loop = control_flow_util.IsLoopSwitch(op) or control_flow_util.IsLoopMerge(
            op
        )
        if control_flow_util.IsSwitch(op) or control_flow_util.IsMerge(op):
            found += 1
            assert (is_cond, is_loop) == (kind == "cond", kind == "loop"), op.name
        else:
            assert not is_cond
            assert not is_loop
    assert found


def test_values_of_the_checker() -> None:
    with tf.Session():
        assert gradient_checker_v2._to_numpy(tf.constant(2.0)) == 2
    slices = IndexedSlicesValue(np.ones([2, 2]), np.array([1, 1]), [3, 2])
    made = gradient_checker_v2._to_numpy(slices)
    np.testing.assert_array_equal(made, [[0, 0], [2, 2], [0, 0]])
