"""A fetched value never changes later, and what a program does to it changes nothing.

Every way in which an output may share memory with something that lives on (a view op,
a body of control flow) is tried over every such thing (a variable, a feed, a constant,
a queue), for values in host memory and for tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

# Squares of these sides: variables in host memory, other values there, those there that
# views are made of, torch tensors.
TINY, SMALL, MEDIUM, LARGE = 3, 8, 128, 200

VIEWS: dict[str, Callable[[Any], Any]] = {
    "itself": lambda x: x,
    "identity": tf.identity,
    "reshape": lambda x: tf.reshape(x, [-1]),
    "transpose": tf.transpose,
    "slice": lambda x: x[1:],
    "strided": lambda x: x[::2, 1],
    "expand": lambda x: tf.expand_dims(x, 0),
    "squeeze": lambda x: tf.squeeze(tf.expand_dims(x, 0), [0]),
    "split": lambda x: tf.split(x, [1, -1])[1],
    "unstack": lambda x: tf.unstack(x)[0],
    "stop": tf.stop_gradient,
    "cast": lambda x: tf.cast(x, tf.float32),
    "tuple": lambda x: tf.tuple([x])[0],
    "concat": lambda x: tf.concat([x], 0),
    "tile": lambda x: tf.tile(x, [1, 1]),
    "pad": lambda x: tf.pad(x, [[0, 0], [0, 0]]),
    "broadcast": lambda x: tf.broadcast_to(x, x.shape),
    "reverse": lambda x: tf.reverse(tf.reverse(x, [0]), [0]),
    "gather": lambda x: tf.gather(x, [0, 1]),
    "real": lambda x: tf.math.real(x),
    "sum_of_none": lambda x: tf.reduce_sum(x, []),
    "max_of_one": lambda x: tf.reduce_max(tf.expand_dims(x, 0), 0),
    "add_n": lambda x: tf.add_n([x]),
    "dropout_none": lambda x: tf.nn.dropout(x, rate=0.0),
    "cond": lambda x: tf.cond(
        tf.equal(tf.size(x), 3), lambda: x + 1.0, lambda: tf.identity(x)
    ),
    "while": lambda x: tf.while_loop(
        lambda i, v: i < 2, lambda i, v: (i + 1, tf.identity(v)), [0, x]
    )[1],
    "while_unused": lambda x: tf.while_loop(
        lambda i, v: i < 0, lambda i, v: (i + 1, v * 2.0), [0, x]
    )[1],
    "defun": lambda x: _call(x),
}


def _call(x: Any) -> Any:
    from tensorloom.client.functions import function

    @function.Defun(tf.float32)
    def same(a: Any) -> Any:
        return tf.identity(a)

    out = same(x)
    return out[0] if isinstance(out, (list, tuple)) else out


def _start(side: int) -> np.ndarray[Any, Any]:
    return np.arange(1.0, side * side + 1, dtype=np.float32).reshape(side, side)


def _check(
    sess: Any, fetch: Any, change: Callable[[], Any], feed: Any = None
) -> tuple[Any, Any]:
    """Fetches, changes the source, and spoils what was fetched."""
    value = sess.run(fetch, feed)
    again = sess.run([fetch, fetch], feed)  # one array twice, as in TensorFlow
    kept = np.array(value)
    change()
    np.testing.assert_array_equal(value, kept)
    for other in again:
        np.testing.assert_array_equal(other, kept)
    after = sess.run(fetch, feed)
    kept_after = np.array(after)
    after[...] = -1.0
    for other in (value, *again):
        other[...] = -2.0
    np.testing.assert_array_equal(sess.run(fetch, feed), kept_after)
    return kept, kept_after


SIDES = pytest.mark.parametrize("side", [TINY, SMALL, MEDIUM, LARGE])
VIEW = pytest.mark.parametrize("view", sorted(VIEWS))


@SIDES
@VIEW
@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
def test_values_of_a_variable(resource: bool, view: str, side: int) -> None:
    v = tf.get_variable("v", initializer=_start(side), use_resource=resource)
    fetch = VIEWS[view](v)
    add = v.assign_add(np.ones([side, side], np.float32)).op
    rows = tf.scatter_update(v, [0, 1], np.full([2, side], 7.0, np.float32))
    with tf.Session() as sess:
        sess.run(v.initializer)
        before, after = _check(sess, fetch, lambda: sess.run(add))
        assert not np.array_equal(before, after)
        _check(sess, fetch, lambda: sess.run(rows))


@SIDES
@VIEW
def test_values_of_a_feed(view: str, side: int) -> None:
    x = tf.placeholder(tf.float32, [side, side])
    fetch = VIEWS[view](x)
    array = _start(side)

    def change() -> None:
        array[...] += 1.0

    with tf.Session() as sess:
        _check(sess, fetch, change, {x: array})


@SIDES
@VIEW
def test_values_of_a_constant(view: str, side: int) -> None:
    array = _start(side)
    fetch = VIEWS[view](tf.constant(array))

    def change() -> None:
        array[...] += 1.0

    with tf.Session() as sess:
        before, after = _check(sess, fetch, change)
    np.testing.assert_array_equal(before, after)


@SIDES
@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
def test_a_variable_does_not_hold_the_fed_array(resource: bool, side: int) -> None:
    x = tf.placeholder(tf.float32, [side, side])
    v = tf.get_variable("v", [side, side], use_resource=resource)
    w = tf.get_variable("w", [side, side], use_resource=resource)
    both = [v.assign(x).op, w.assign(tf.reshape(x, [side, side])).op]
    array = _start(side)
    with tf.Session() as sess:
        sess.run(both, {x: array})
        array[...] = 0.0
        np.testing.assert_array_equal(sess.run(v), _start(side))
        sess.run(v.assign_add(x).op, {x: _start(side)})
        np.testing.assert_array_equal(sess.run(w), _start(side))
        assert array.max() == 0.0


@SIDES
@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
def test_variables_assigned_from_each_other_stay_apart(
    resource: bool, side: int
) -> None:
    v = tf.get_variable("v", initializer=_start(side), use_resource=resource)
    w = tf.get_variable("w", [side, side], use_resource=resource)
    copy = w.assign(v).op
    add = v.assign_add(np.ones([side, side], np.float32)).op
    with tf.Session() as sess:
        sess.run(v.initializer)
        sess.run(copy)
        sess.run(add)
        np.testing.assert_array_equal(sess.run(w), _start(side))
        np.testing.assert_array_equal(sess.run(v), _start(side) + 1)
        sess.run(v.initializer)  # the constant is what it was
        np.testing.assert_array_equal(sess.run(v), _start(side))


@SIDES
def test_a_queue_does_not_hold_the_fed_array(side: int) -> None:
    x = tf.placeholder(tf.float32, [side, side])
    queue = tf.FIFOQueue(9, tf.float32, [[side, side]])
    put, many = queue.enqueue(x), queue.enqueue_many([tf.expand_dims(x, 0)])
    array = _start(side)
    with tf.Session() as sess:
        sess.run(put, {x: array})
        sess.run(many, {x: array})
        array[...] = 0.0
        for _ in range(2):
            np.testing.assert_array_equal(sess.run(queue.dequeue()), _start(side))


@SIDES
@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
def test_a_read_before_an_update_of_the_same_step(resource: bool, side: int) -> None:
    """TensorFlow promises it for resource variables; for copies of others too."""
    v = tf.get_variable("v", initializer=_start(side), use_resource=resource)
    before = v.read_value() if resource else v.read_value() + 0.0
    with tf.control_dependencies([before]):
        add = v.assign_add(np.ones([side, side], np.float32))
    with tf.control_dependencies([add.op if resource else add]):
        after = v.read_value()
    with tf.Session() as sess:
        sess.run(v.initializer)
        for i in range(3):
            a, b = sess.run([before, after])
            np.testing.assert_array_equal(a, _start(side) + i)
            np.testing.assert_array_equal(b, _start(side) + i + 1)


@SIDES
@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("optimizer", ["GradientDescent", "Momentum", "Adam"])
def test_what_an_optimizer_updates(optimizer: str, resource: bool, side: int) -> None:
    v = tf.get_variable("v", initializer=_start(side), use_resource=resource)
    arguments = (0.1, 0.9) if optimizer == "Momentum" else (0.1,)
    step = getattr(tf.train, f"{optimizer}Optimizer")(*arguments).minimize(
        tf.reduce_sum(tf.square(v))
    )
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        before, after = _check(sess, v, lambda: sess.run(step))
        assert not np.array_equal(before, after)


@SIDES
def test_what_a_python_function_returns_and_keeps(side: int) -> None:
    kept = _start(side)

    def function(x: Any) -> Any:
        x[...] = -5.0  # its own copy
        return kept

    x = tf.placeholder(tf.float32, [side, side])
    y = tf.py_func(function, [x], tf.float32)
    array = _start(side)
    with tf.Session() as sess:
        fetched = sess.run(y, {x: array})
        kept[...] = 0.0
        np.testing.assert_array_equal(fetched, _start(side))
        np.testing.assert_array_equal(array, _start(side))


def test_strings_stay() -> None:
    x = tf.placeholder(tf.string, [2])
    array = np.array([b"a", b"b"], dtype=object)
    with tf.Session() as sess:
        fetched = sess.run(tf.identity(x), {x: array})
        array[0] = b"changed"
        assert fetched.tolist() == [b"a", b"b"]


def test_a_fed_tensor_that_is_fetched_is_a_copy() -> None:
    x = tf.placeholder(tf.float32, [2])
    array = np.zeros(2, np.float32)
    with tf.Session() as sess:
        for fetched in (
            sess.run(x, {x: array}),
            sess.run([x, x + 1.0], {x: array})[0],
            sess.make_callable(x, [x])(array),
        ):
            assert not np.shares_memory(fetched, array)
