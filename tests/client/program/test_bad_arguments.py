"""Sessions, options and builders with arguments that make no sense, as 1.15 has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.ops.state import reference_variable as state_ops

INVALID = tf.errors.InvalidArgumentError


@pytest.mark.parametrize("pool", [-2, 1, 99])
def test_a_thread_pool_that_is_not_there(pool: int) -> None:
    x = tf.constant(1.0)
    with tf.Session() as sess:
        with pytest.raises(INVALID, match="inter_op_thread_pool"):
            sess.run(x, options=tf.RunOptions(inter_op_thread_pool=pool))
        for good in (-1, 0):
            sess.run(x, options=tf.RunOptions(inter_op_thread_pool=good))
    config = tf.ConfigProto(session_inter_op_thread_pool=[{}, {}])
    with tf.Session(config=config) as sess:
        assert sess.run(x, options=tf.RunOptions(inter_op_thread_pool=1)) == 1.0


@pytest.mark.parametrize("options", [{}, tf.ConfigProto(), tf.RunMetadata()])
def test_options_of_another_kind(options: Any) -> None:
    x = tf.constant(1.0)
    with tf.Session() as sess:  # a message is read as what its bytes say
        assert sess.run(x, options=options) == 1.0


@pytest.mark.parametrize("count", [0, -1])
def test_no_cpu_at_all(count: int) -> None:
    with pytest.raises(tf.errors.NotFoundError, match="CPU"):
        tf.Session(config=tf.ConfigProto(device_count={"CPU": count}))


def test_an_executor_that_is_not_there() -> None:
    config = tf.ConfigProto()
    config.experimental.executor_type = "nope"
    with (
        tf.Session(config=config) as sess,
        pytest.raises(tf.errors.NotFoundError, match="nope"),
    ):
        sess.run(tf.constant(1.0))


def test_configs_that_say_little() -> None:
    x = tf.constant(1.0)
    for config in (
        tf.ConfigProto(intra_op_parallelism_threads=-5),
        tf.ConfigProto(gpu_options=tf.GPUOptions(visible_device_list="9,x")),
    ):
        with tf.Session(config=config) as sess:
            assert sess.run(x) == 1.0


@pytest.mark.parametrize("value", [1, "a", None, [1], np.ones(2)])
@pytest.mark.parametrize("dtype", [tf.resource, tf.variant])
def test_no_handle_is_fed_for_a_handle(dtype: Any, value: Any) -> None:
    handle = tf.placeholder(dtype)
    with tf.Session() as sess, pytest.raises(TypeError, match="cannot be fed"):
        sess.run(tf.identity(handle), {handle: value})


def test_an_integer_beyond_all_dtypes_is_fed() -> None:
    x = tf.placeholder(tf.int64, [])
    with tf.Session() as sess, pytest.raises(OverflowError):
        sess.run(tf.identity(x), {x: -(2**63) - 1})


def test_callables_of_a_closed_session() -> None:
    x = tf.constant(1.0)
    sess = tf.Session()
    sess.close()
    run = sess.make_callable(x)
    with pytest.raises(RuntimeError, match="closed"):
        run()


def test_shapes_of_too_many_dimensions() -> None:
    assert tf.placeholder(tf.float32, [1] * 254).shape.rank == 254
    with pytest.raises(ValueError, match="dimensions"):
        tf.placeholder(tf.float32, [None] * 255)


def test_a_resource_of_another_kind() -> None:
    raw = tf.raw_ops
    queue = tf.FIFOQueue(1, [tf.float32])
    with tf.Session() as sess:
        for wrong in (
            raw.ReadVariableOp(resource=queue.queue_ref, dtype=tf.float32),
            raw.StackPopV2(
                handle=raw.VarHandleOp(dtype=tf.float32, shape=[]),
                elem_type=tf.float32,
            ),
        ):
            with pytest.raises(INVALID, match="wrong type"):
                sess.run(wrong)
        assert sess.run(queue.size()) == 0


def test_a_variable_of_another_dtype() -> None:
    raw = tf.raw_ops
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    handle = raw.VarHandleOp(dtype=tf.int32, shape=[], shared_name="v")
    with tf.Session() as sess:
        sess.run(v.initializer)
        with pytest.raises(INVALID, match="float32"):
            sess.run(raw.ReadVariableOp(resource=handle, dtype=tf.int32))
        assert sess.run(v) == 1.0


def test_a_reference_variable_of_partly_known_shape() -> None:
    variable = state_ops.variable_op_v2([None, 2], tf.float32, name="v")
    with tf.Session() as sess, pytest.raises(INVALID, match="not fully defined"):
        sess.run(variable)


def _in_branch() -> Any:
    return tf.cond(
        tf.constant(True),
        lambda: tf.Variable(tf.constant(1.0) * 2, use_resource=False) + 1,
        lambda: tf.constant(1.0),
    )


def _in_loop() -> Any:
    return tf.while_loop(
        lambda i: i < 3, lambda i: tf.Variable(i, use_resource=False) + 1, [0]
    )


def _scattered(indices: Any) -> Any:
    return tf.TensorArray(tf.float32, 2).scatter(indices, [1.0, 2.0]).flow


def _op(inputs: int, **attrs: Any) -> Any:
    x = tf.constant(1.0)
    decoded = {name: tf.AttrValue(type=value) for name, value in attrs.items()}
    graph = tf.get_default_graph()
    return graph.create_op("Square", [x] * inputs, [tf.float32], attrs=decoded)


REFUSED: dict[str, Callable[[], Any]] = {
    "a variable's initial value in a branch": _in_branch,
    "a variable's initial value in a loop": _in_loop,
    "scatter: fewer indices": lambda: _scattered([0]),
    "scatter: a matrix of indices": lambda: _scattered([[0, 1]]),
    "create_op: attr and input": lambda: _op(1, T=3),
    "create_op: two inputs": lambda: _op(2),
    "half an iteration": lambda: tf.while_loop(
        lambda i: i < 3, lambda i: i + 1, [0], parallel_iterations=1.5
    ),
}


@pytest.mark.parametrize("build", REFUSED.values(), ids=REFUSED)
def test_refused_while_building(build: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        build()


def test_output_types_are_the_definition_s() -> None:
    x = tf.constant(1.0)
    op = tf.get_default_graph().create_op("Square", [x], [tf.int32])
    assert op.outputs[0].dtype == tf.float32
