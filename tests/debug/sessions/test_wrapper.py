"""Sessions and hooks that dump their runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.debug import (
    DebugDumpDir,
    DumpingDebugHook,
    DumpingDebugWrapperSession,
    WatchOptions,
)


def _runs(root: Path) -> list[DebugDumpDir]:
    folders = sorted(root.iterdir(), key=lambda path: int(path.name.rpartition("_")[2]))
    return [DebugDumpDir(str(folder)) for folder in folders]


def test_each_run_has_its_dump(tmp_path: Path) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.square(x, name="y")
    sess = DumpingDebugWrapperSession(tf.Session(), str(tmp_path))
    with sess:
        assert sess.run(y, {x: 2.0}) == 4.0
        assert y.eval({x: 3.0}) == 9.0
        assert sess.make_callable(y, [x])(4.0) == 16.0
        assert sess.run([]) == []
    first, second, third = _runs(tmp_path)
    assert first.get_tensors("y", 0, "DebugIdentity") == [4.0]
    assert second.get_tensors("y", 0, "DebugIdentity") == [9.0]
    assert third.get_tensors("y", 0, "DebugIdentity") == [16.0]
    assert "y:0" in first.run_fetches_info
    assert "x:0" in first.run_feed_keys_info
    assert [r.core_metadata.executor_step_index for r in (first, third)] == [0, 2]
    sess.close()
    with pytest.raises(ValueError, match="non-empty"):
        DumpingDebugWrapperSession(tf.Session(), str(tmp_path))
    with pytest.raises(TypeError, match="watch_fn"):
        DumpingDebugWrapperSession(tf.Session(), str(tmp_path / "x"), watch_fn=3)
    with pytest.raises(TypeError, match="Expected type"):
        DumpingDebugWrapperSession(None, str(tmp_path / "y"))


def test_watch_functions_and_errors(tmp_path: Path) -> None:
    x = tf.placeholder(tf.int32, [], name="x")
    y = tf.floordiv(6, x, name="y")

    def watch(fetches: Any, feeds: Any) -> WatchOptions:
        return WatchOptions(node_name_regex_whitelist="y$")

    sess = DumpingDebugWrapperSession(tf.Session(), str(tmp_path), watch_fn=watch)
    assert sess.run(y, {x: 2}) == 3
    # What went wrong is the result, as in TensorFlow.
    failure = sess.run(y, {x: 0})
    assert isinstance(failure, tf.errors.InvalidArgumentError)
    assert failure.op is y.op
    good, bad = _runs(tmp_path)
    assert [d.tensor_name for d in good.dumped_tensor_data] == ["y:0"]
    assert bad.size == 0
    loud = DumpingDebugWrapperSession(
        tf.Session(), str(tmp_path / "loud"), pass_through_operrors=True
    )
    with pytest.raises(tf.errors.InvalidArgumentError):
        loud.run(y, {x: 0})
    with pytest.raises(NotImplementedError):
        loud.partial_run_setup([y])


def test_threads_that_are_left_alone(tmp_path: Path) -> None:
    x = tf.constant(1.0)
    sess = DumpingDebugWrapperSession(
        tf.Session(), str(tmp_path), thread_name_filter="Nobody"
    )
    assert sess.run(x) == 1.0
    assert _runs(tmp_path) == []


def test_hooks_of_monitored_sessions(tmp_path: Path) -> None:
    step = tf.train.get_or_create_global_step()
    grow = tf.assign_add(step, 1, name="grow")
    hook = DumpingDebugHook(str(tmp_path))
    with tf.train.MonitoredSession(hooks=[hook]) as sess:
        assert sess.run(grow) == 1
        assert sess.run(grow) == 2
    first, second = _runs(tmp_path)
    assert first.get_tensors("grow", 0, "DebugIdentity") == [1]
    assert second.get_tensors("grow", 0, "DebugIdentity") == [2]


def test_gradients() -> None:
    x = tf.constant(3.0, name="x")
    y = tf.square(x, name="y")
    debugger = tf.debug.GradientsDebugger()
    z = tf.exp(debugger.identify_gradient(y), name="z")
    with debugger:
        tf.gradients(z, x)
    found = debugger.gradient_tensor(y)
    assert debugger.gradient_tensors() == {"y:0": found}
    later = tf.debug.GradientsDebugger()
    w = tf.negative(x, name="w")
    v = tf.sin(w, name="v")
    with later.watch_gradients_by_tensors(x.graph, w):
        tf.gradients(v, x)
    with tf.Session() as sess:
        assert sess.run(later.gradient_tensor("w:0")) == sess.run(tf.cos(w))
        assert sess.run(found) == sess.run(z)
    with pytest.raises(LookupError, match="v:0"):
        later.gradient_tensor(v)
    with pytest.raises(TypeError):
        later.gradient_tensor(3)
