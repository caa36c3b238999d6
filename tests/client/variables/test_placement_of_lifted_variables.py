"""Variables made in bodies of loops and branches get the devices of those blocks."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf


def _ps_and_workers(op: Any) -> str:
    return "/job:ps" if op.type in ("VariableV2", "VarHandleOp") else "/job:worker"


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize(
    ("around", "inside", "outside", "read"),
    [
        (None, "/job:w/task:1", "", "/job:w/task:1"),
        ("/cpu:0", "/job:w/task:1/device:CPU:0", "/device:CPU:0", None),
        (_ps_and_workers, "/job:ps", "/job:ps", None),
    ],
)
def test_in_a_loop(
    around: Any, inside: str, outside: str, read: str | None, use_resource: bool
) -> None:
    def body(i: tf.Tensor) -> tf.Tensor:
        with tf.device("/job:w/task:1"):
            v = tf.get_variable("v", [], tf.int32, use_resource=use_resource)
        w = tf.get_variable("w", [], tf.int32, use_resource=use_resource)
        return i + v + w

    with tf.device(around):
        tf.while_loop(lambda i: i < 3, body, [0])
    v, w = tf.global_variables()
    assert (v.device, w.device) == (inside, outside)
    if read is not None:
        assert v.value().device == read


def test_in_a_branch_of_a_loop() -> None:
    def body(i: tf.Tensor) -> tf.Tensor:
        def branch() -> tf.Tensor:
            return i + tf.get_variable("v", [], tf.int32)

        with tf.device("/job:w/task:2"):
            return tf.cond(i > 0, branch, lambda: i)

    tf.while_loop(lambda i: i < 3, body, [0])
    (v,) = tf.global_variables()
    assert v.device == "/job:w/task:2"
    assert v.initializer.device == "/job:w/task:2"
    assert v.initial_value.device == ""
