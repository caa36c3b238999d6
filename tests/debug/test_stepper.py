"""A step that stands still at values, which may be changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.debug import Stepper, has_inf_or_nan


def test_stops_one_after_the_other() -> None:
    a = tf.constant([1.0, 2.0], name="a")
    v = tf.Variable([3.0, 4.0], name="v")
    b = tf.add(a, v, name="b")
    c = tf.exp(b, name="c")
    with tf.Session() as sess:
        sess.run(v.initializer)
        with Stepper(sess, c) as stepper:
            assert stepper.stop is None
            names = []
            while (stop := stepper.step()) is not None:
                names.append(stop.tensor_name)
            assert set(names) == {"a:0", "v/read:0", "b:0", "c:0"}
            assert names[-2:] == ["b:0", "c:0"]
            assert stepper.is_over
            np.testing.assert_allclose(stepper.finish(), np.exp([4.0, 6.0]))
            with pytest.raises(ValueError, match="over"):
                stepper.step()


def test_values_are_changed() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.square(x, name="y")
    z = tf.reduce_sum(y, name="z")
    text = tf.string_join([tf.constant("a", name="text"), tf.constant("!")])
    with tf.Session() as sess:
        with Stepper(sess, [y, z, text], {x: [1.0, 2.0]}) as stepper:
            with pytest.raises(ValueError, match="no value"):
                stepper.change(1)
            stop = stepper.until("y")
            assert stop is not None
            np.testing.assert_array_equal(stop.value, [1.0, 4.0])
            with pytest.raises(ValueError, match=r"shape \(2,\).*\(3,\)"):
                stepper.change([1, 2, 3])
            stepper.change([10, 20])
            changed, total, joined = stepper.finish()
        np.testing.assert_array_equal(changed, [10.0, 20.0])
        assert total == 30.0
        assert joined == b"a!"
        with Stepper(sess, text) as stepper:
            assert stepper.until("text:0") is not None
            with pytest.raises(TypeError, match="bytes"):
                stepper.change(3)
            stepper.change(b"b")
            assert stepper.finish() == b"b!"
        assert sess.run(z, {x: [1.0, 2.0]}) == 5.0


@pytest.mark.parametrize("is_classic", [False, True])
def test_loops_by_iteration(is_classic: bool) -> None:
    if is_classic:
        tf.disable_control_flow_v2()
    try:
        _, y = tf.while_loop(
            lambda i, y: i < 5,
            lambda i, y: [i + 1, tf.multiply(y, 2.0, name="twice")],
            [0, 1.0],
            name="loop",
        )
    finally:
        tf.enable_control_flow_v2()
    with tf.Session() as sess, Stepper(sess, y) as stepper:
        stop = stepper.until(".*/twice", iteration=3)
        assert stop is not None
        assert (stop.value, stop.iteration) == (16.0, 3)
        assert "[3]" in str(stop)
        stepper.change(-1.0)
        stop = stepper.until(".*/twice")
        assert stop is not None
        assert (stop.value, stop.iteration) == (-2.0, 4)
        assert stepper.until(".*/twice") is None
        assert stepper.finish() == -2.0


def test_until_something_is_wrong() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    bad = tf.log(x, name="bad")
    y = tf.maximum(bad * 2.0, 0.0, name="y")
    with tf.Session() as sess:
        with Stepper(sess, y, {x: 0.0}) as stepper:
            stop = stepper.until(has_inf_or_nan)
            assert stop is not None
            assert stop.node_name == "bad"
            stepper.change(1.0)
            assert stepper.until(has_inf_or_nan) is None
            assert stepper.finish() == 2.0
        n = tf.placeholder(tf.int32, [], name="n")
        d = tf.floordiv(1, n, name="d")
        with Stepper(sess, d, {n: 0}) as stepper:
            with pytest.raises(tf.errors.InvalidArgumentError) as info:
                stepper.finish()
            assert info.value.op is d.op


def test_a_step_that_is_given_up() -> None:
    v = tf.Variable(1.0, name="v")
    grow = tf.assign_add(v, 1.0, name="grow")
    results: list[Any] = []
    with tf.Session() as sess:
        sess.run(v.initializer)
        with Stepper(sess, grow) as stepper:
            results.append(stepper.step())
        with pytest.raises(ValueError, match="over"):
            stepper.step()
        assert sess.run(v) == 1.0
    assert results[0] is not None
