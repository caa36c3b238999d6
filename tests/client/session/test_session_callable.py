"""`make_callable` and callables from options."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tensorloom as tf


def test_without_feeds() -> None:
    v = tf.get_variable("v", initializer=1.0)
    add = tf.assign_add(v, 1.0)
    with tf.Session() as sess:
        sess.make_callable(v.initializer)()
        call = sess.make_callable({"sum": add})
        assert call() == {"sum": 2.0}
        assert call() == {"sum": 3.0}
        assert sess.make_callable(add.op)() is None


def test_with_feeds() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.placeholder(tf.float32, [], name="y")
    z = x * y
    with tf.Session() as sess:
        one = sess.make_callable(x * 2.0, [x])
        two = sess.make_callable([z, z], [y, x])
        named = sess.make_callable("x:0", ["x:0"])
        for _ in range(3):
            assert one([1, 2]).tolist() == [2, 4]
            assert one(np.array([1, 2], np.float32)).tolist() == [2, 4]
            assert [v.tolist() for v in two(3, [1, 2])] == [[3, 6], [3, 6]]
            assert named([1, 2]).tolist() == [1, 2]
            with pytest.raises(ValueError, match="Cannot feed value of shape"):
                one([1, 2, 3])
            with pytest.raises(tf.errors.InvalidArgumentError, match="must feed"):
                one()


def test_with_sparse_feeds() -> None:
    s = tf.sparse_placeholder(tf.float32)
    total = tf.reduce_sum(s.values)
    with tf.Session() as sess:
        call = sess.make_callable(total, [s])
        for _ in range(2):
            assert call(([[0]], [2.0], [1])) == 2.0


def test_with_options() -> None:
    a = tf.constant(1.0)
    x = tf.placeholder(tf.float32, [])
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    with tf.Session() as sess:
        call = sess.make_callable(a, accept_options=True)
        assert call(options=options, run_metadata=metadata) == 1.0
        assert metadata.step_stats.dev_stats
        fed = sess.make_callable(x + 1.0, [x], accept_options=True)
        assert fed(1.0, options=options, run_metadata=metadata) == 2.0
        with pytest.raises(TypeError):
            sess.make_callable(a)(options=options)


def test_what_a_debugger_asks_comes_from_the_step(tmp_path: Path) -> None:
    a = tf.constant(1.0, name="a")
    options = tf.RunOptions()
    options.debug_options.global_step = 3
    with tf.Session() as sess:
        call = sess.make_callable(a, accept_options=True)
        assert call(options=options) == sess.run(a, options=options) == 1.0
        for number, run in enumerate(
            [call, lambda options: sess.run(a, None, options)]
        ):
            asked = tf.RunOptions()
            root = tmp_path / str(number)
            tf.debug.watch_graph(asked, sess.graph, debug_urls=f"file://{root}")
            assert run(options=asked) == 1.0
            assert [d.tensor_name for d in tf.debug.DebugDumpDir(root).find(_any)] == [
                "a:0"
            ]


def _any(datum: object, value: object) -> bool:
    return True


def test_errors_come_when_it_is_made() -> None:
    a = tf.constant(1.0)
    with tf.Session() as sess:
        with pytest.raises(TypeError, match="`feed_list` must be a list or tuple"):
            sess.make_callable(a, a)
        with pytest.raises(TypeError, match="Fetch argument None"):
            sess.make_callable(None)


def test_errors_of_a_step_have_their_operation() -> None:
    x = tf.placeholder(tf.int32, [], name="x")
    y = tf.floordiv(1, x, name="y")
    with tf.Session() as sess:
        call = sess.make_callable(y, [x])
        assert call(1) == 1
        with pytest.raises(tf.errors.InvalidArgumentError) as info:
            call(0)
        assert info.value.op is y.op


def test_from_options() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    tf.add(x, 1.0, name="y")
    v = tf.get_variable("v", initializer=0.0)
    tf.assign_add(v, 1.0, name="step")
    options = tf.CallableOptions() if hasattr(tf, "CallableOptions") else None
    if options is None:
        from tensorloom.protos.config_pb2 import CallableOptions

        options = CallableOptions()
    options.feed.append("x:0")
    options.fetch.extend(["y:0", "x:0"])
    options.target.append("step")
    with tf.Session() as sess:
        sess.run(v.initializer)
        call = sess._make_callable_from_options(options)
        assert call(np.float32(2.0)) == [3.0, 2.0]
        assert sess.run(v) == 1.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="Expected 1 feed"):
            call()
        with pytest.raises(AttributeError):
            sess._make_callable_from_options(5)
