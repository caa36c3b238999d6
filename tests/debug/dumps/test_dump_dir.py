"""Dumps of debugged steps: what is in them, and what is said of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.debug import DebugDumpDir, watch_graph
from tensorloom.debug.dumps.dump_dir import WatchKeyDoesNotExistInDebugDumpDirError

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


def _dumped(
    root: Path, fetches: Any, feeds: Any = None, init: Any = None, **watch: Any
) -> tuple[Any, DebugDumpDir]:
    with tf.Session() as sess:
        if init is not None:
            sess.run(init)
        options = tf.RunOptions()
        watch_graph(options, sess.graph, debug_urls=f"file://{root}", **watch)
        results = sess.run(fetches, feeds, options=options)
        dump = DebugDumpDir(str(root))
        dump.set_python_graph(sess.graph)
    return results, dump


def _values(dump: DebugDumpDir, name: str, slot: int = 0) -> list[Any]:
    return dump.get_tensors(name, slot, "DebugIdentity")


def test_values_of_a_step(tmp_path: Path) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    v = tf.Variable([1.0, 2.0], name="v")
    text = tf.constant(["a", "b"], name="text")
    empty = tf.zeros([0, 3], name="empty")
    half = tf.constant([1.5], tf.bfloat16, name="half")
    y = tf.multiply(v + x, 2.0, name="y")
    feeds = {x: [10.0, 20.0]}
    results, dump = _dumped(
        tmp_path, [y, text, empty, half], feeds, tf.global_variables_initializer()
    )
    np.testing.assert_array_equal(results[0], [22.0, 44.0])
    np.testing.assert_array_equal(_values(dump, "y"), [[22.0, 44.0]])
    np.testing.assert_array_equal(_values(dump, "v"), [[1.0, 2.0]])
    np.testing.assert_array_equal(_values(dump, "_arg_x_0_0"), [[10.0, 20.0]])
    assert _values(dump, "text")[0].tolist() == [b"a", b"b"]
    assert _values(dump, "empty")[0].shape == (0, 3)
    assert _values(dump, "half")[0] == 1.5
    assert dump.devices() == [CPU]
    assert dump.core_metadata.input_names == ["x:0"]
    assert dump.core_metadata.global_step == -1
    assert dump.size == len(dump.dumped_tensor_data)
    stamps = [d.timestamp for d in dump.dumped_tensor_data]
    assert stamps == sorted(set(stamps))
    assert dump.t0 == stamps[0]


def test_the_graph_of_a_step(tmp_path: Path) -> None:
    a = tf.constant(1.0, name="a")
    b = tf.negative(a, name="b")
    with tf.control_dependencies([b]):
        c = tf.exp(a, name="c")
    _, dump = _dumped(tmp_path, c)
    assert {"a", "b", "c"} <= set(dump.nodes())
    assert dump.node_exists("b")
    assert not dump.node_exists("__copy_a_0")
    assert dump.node_device("a") == CPU
    assert dump.node_op_type("c") == "Exp"
    assert dump.node_inputs("c") == ["a"]
    assert dump.node_inputs("c", is_control=True) == ["b"]
    assert sorted(n for n in dump.node_recipients("a")) == ["b", "c"]
    assert dump.node_recipients("b", is_control=True) == ["c"]
    assert dump.transitive_inputs("c") == ["a", "b"]
    assert dump.find_some_path("a", "c", include_control=False) == ["a", "c"]
    assert dump.find_some_path("c", "a") is None
    assert dump.node_attributes("a")["dtype"].type == 1
    assert "test_dump_dir.py" in str(dump.node_traceback("c:0"))
    assert dump.debug_watch_keys("b") == ["b:0:DebugIdentity"]
    (graph,) = dump.reconstructed_non_debug_partition_graphs().values()
    assert {n.name: list(n.input) for n in graph.node}["c"] == ["a", "^b"]
    with pytest.raises(WatchKeyDoesNotExistInDebugDumpDirError):
        dump.get_tensors("a", 1, "DebugIdentity")
    with pytest.raises(KeyError):
        dump.node_traceback("nowhere")


@pytest.mark.parametrize("is_classic", [False, True])
def test_loops_and_branches_by_iteration(tmp_path: Path, is_classic: bool) -> None:
    if is_classic:
        tf.disable_control_flow_v2()
    try:
        i, y = tf.while_loop(
            lambda i, y: i < 3,
            lambda i, y: (i + 1, tf.multiply(y, 2.0, name="twice")),
            [0, 1.0],
            name="loop",
        )
        z = tf.cond(
            y > 1.0,
            lambda: tf.negative(y, name="taken"),
            lambda: tf.exp(y, name="left"),
            name="branch",
        )
    finally:
        tf.enable_control_flow_v2()
    results, dump = _dumped(tmp_path, [i, z])
    assert results == [3, -8.0]
    by_end = {d.node_name.rpartition("/")[2]: d for d in dump.dumped_tensor_data}
    twice = dump.watch_key_to_data(by_end["twice"].watch_key)
    assert [d.get_tensor() for d in twice] == [2.0, 4.0, 8.0]
    assert by_end["taken"].get_tensor() == -8.0
    assert "left" not in by_end


def test_uninitialized_variables_and_handles(tmp_path: Path) -> None:
    v = tf.Variable(1.0, name="v")
    r = tf.get_variable("r", [2], use_resource=True)
    _, dump = _dumped(tmp_path, tf.is_variable_initialized(v))
    (value,) = _values(dump, "v")
    assert not value.initialized
    _, dump = _dumped(tmp_path / "r", r.read_value(), None, r.initializer)
    (handle,) = _values(dump, "r")
    assert handle.initialized
    assert not tf.debug.has_inf_or_nan(None, value)


def test_debug_ops_and_their_attrs(tmp_path: Path) -> None:
    x = tf.constant([1.0, np.nan, np.inf], name="x")
    y = tf.constant([1.0], name="y")
    ops = [
        "DebugNanCount",
        "DebugNumericSummary(mute_if_healthy=true; lower_bound=-9)",
    ]
    _, dump = _dumped(
        tmp_path,
        [x, y, tf.constant("s")],
        debug_ops=ops[1:] + ops[:1],
        tolerate_debug_op_creation_failures=True,
    )
    assert dump.get_tensors("x", 0, "DebugNanCount")[0].tolist() == [1]
    summary = dump.get_tensors("x", 0, "DebugNumericSummary")[0]
    assert summary[:8].tolist() == [1, 3, 1, 0, 0, 0, 1, 1]
    assert dump.debug_watch_keys("y") == ["y:0:DebugNanCount"]


@pytest.mark.parametrize(
    ("watch", "message"),
    [
        ({"debug_ops": "DebugNanCount"}, "DebugNanCount for tensor s:0.*kernel"),
        ({"debug_ops": "Exp"}, "no debug op Exp"),
        ({"debug_ops": "DebugIdentity(x=1)"}, "not valid for debug node"),
        ({"debug_ops": "DebugIdentity(gated_grpc=7)"}, "Invalid value string"),
        ({"debug_ops": "DebugIdentity(gated"}, "Malformed debug op name"),
    ],
)
def test_watches_that_are_refused(
    tmp_path: Path, watch: dict[str, Any], message: str
) -> None:
    s = tf.constant("text", name="s")
    with pytest.raises(tf.errors.FailedPreconditionError, match=message):
        _dumped(tmp_path, s, **watch)


def test_urls_and_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = tf.ones([100], name="x")
    with tf.Session() as sess:
        options = tf.RunOptions()
        watch_graph(options, sess.graph, debug_urls="ftp://nowhere")
        with pytest.raises(tf.errors.UnavailableError, match="ftp://nowhere"):
            sess.run(x, options=options)
        monkeypatch.setenv("TFDBG_DISK_BYTES_LIMIT", "100")
        options = tf.RunOptions()
        watch_graph(
            options,
            sess.graph,
            debug_urls=f"file://{tmp_path}",
            reset_disk_byte_usage=True,
        )
        with pytest.raises(tf.errors.ResourceExhaustedError, match="x:0"):
            sess.run(x, options=options)
        assert sess.run(x)[0] == 1.0  # a step that nobody debugs


def test_find(tmp_path: Path) -> None:
    x = tf.constant(0.0, name="x")
    y = tf.log(x, name="y")
    z = tf.exp(y * 0.0, name="z")
    _, dump = _dumped(tmp_path, z)
    found = dump.find(tf.debug.has_inf_or_nan)
    assert [d.node_name for d in found] == ["y", "mul", "z"]
    assert [d.node_name for d in dump.find(tf.debug.has_inf_or_nan, first_n=1)] == ["y"]
    left = dump.find(tf.debug.has_inf_or_nan, exclude_node_names="y|m")
    assert [d.node_name for d in left] == ["z"]
    assert not tf.debug.has_inf_or_nan(None, np.array([b"x"], object))


def test_after_a_step_that_nobody_debugs(tmp_path: Path) -> None:
    """Passes make other nodes of the program's, with state, under the same names."""
    u = tf.get_variable("u", initializer=12.0, use_resource=True)
    v = tf.get_variable("v", initializer=30.0, use_resource=True)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(u - v)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        options = tf.RunOptions()
        watch_graph(options, sess.graph, debug_urls=f"file://{tmp_path}")
        sess.run(train, options=options)
        sess.run(train)
        np.testing.assert_allclose(sess.run([u, v]), [11.7, 30.3], rtol=1e-6)
    assert DebugDumpDir(str(tmp_path)).size > 0
