"""Making, entering, closing and resetting sessions; graphs that grow."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import tensorloom as tf


def test_identity() -> None:
    a = tf.constant(1.0)
    sess = tf.Session()
    assert sess.graph is a.graph
    assert sess.graph_def == a.graph.as_graph_def()
    assert sess.sess_str == b""
    device = sess.list_devices()[0]
    assert device.name == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert device.device_type == "CPU"
    assert device.memory_limit_bytes == 2**28
    assert device.incarnation > 0
    sess.close()


BAD_ARGUMENTS = [
    ({"target": 5}, TypeError, "target must be a string, but got <class 'int'>"),
    ({"graph": 5}, TypeError, "graph must be a tf.Graph, but got <class 'int'>"),
    ({"config": 5}, TypeError, "config must be a tf.ConfigProto, but got"),
    ({"target": "nope"}, tf.errors.NotFoundError, "No session factory registered"),
    ({"target": "no://host"}, tf.errors.NotFoundError, "No session factory registered"),
]


@pytest.mark.parametrize(("arguments", "error", "message"), BAD_ARGUMENTS, ids=str)
def test_bad_arguments(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as info:
        tf.Session(**arguments)
    assert message in str(info.value)


def test_a_config_in_the_place_of_the_target() -> None:
    with pytest.raises(TypeError, match=r'Did you do "Session\(config\)"'):
        tf.Session(tf.ConfigProto())


def test_default_sessions() -> None:
    a = tf.constant(2.0)
    with pytest.raises(ValueError, match="No default session"):
        a.eval()
    with tf.Session() as sess:
        assert tf.get_default_session() is sess
        assert a.eval() == 2.0
        with tf.Session().as_default() as inner:
            assert tf.get_default_session() is inner
        with pytest.raises(RuntimeError, match="not re-entrant"):
            sess.__enter__()
    assert tf.get_default_session() is None
    with pytest.raises(RuntimeError, match=r"Attempted to use a closed Session."):
        sess.run(a)


def test_a_session_may_be_the_default_within_another_twice() -> None:
    one, two = tf.Session(), tf.Session()
    with one.as_default():
        with two.as_default():
            with one.as_default():
                assert tf.get_default_session() is one
            assert tf.get_default_session() is two
        assert tf.get_default_session() is one
    assert tf.get_default_session() is None


@pytest.mark.parametrize("make", [tf.Session, tf.Graph])
def test_blocks_of_sessions_and_graphs_must_nest(make: Callable[[], Any]) -> None:
    def cross() -> None:
        first, second = make().as_default(), make().as_default()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)

    # In a thread of its own, which takes what it leaves on its stacks away.
    with (
        ThreadPoolExecutor(1) as threads,
        pytest.raises(AssertionError, match="Nesting violated"),
    ):
        threads.submit(cross).result()


def test_a_session_makes_its_graph_the_default() -> None:
    graph = tf.Graph()
    with tf.Session(graph=graph) as sess:
        b = tf.constant(1)
        assert b.graph is graph
        assert sess.run(b) == 1


def test_interactive_sessions() -> None:
    a = tf.constant(3.0)
    one = tf.InteractiveSession()
    assert a.eval() == 3.0
    with pytest.warns(UserWarning, match="An interactive session is already active"):
        two = tf.InteractiveSession(graph=tf.Graph())
    assert tf.get_default_graph() is two.graph
    one.close()
    two.close()
    two.close()
    assert tf.get_default_session() is None
    assert tf.get_default_graph() is a.graph


def test_closed() -> None:
    a = tf.constant(1.0)
    sess = tf.Session()
    call = sess.make_callable(a)
    sess.run(a)
    sess.close()
    sess.close()
    for use in (lambda: sess.run(a), call, lambda: sess.partial_run_setup([a])):
        with pytest.raises(RuntimeError, match=r"Attempted to use a closed Session."):
            use()
    with pytest.raises(tf.errors.CancelledError, match="has been closed"):
        sess.list_devices()


def test_an_empty_graph() -> None:
    with (
        tf.Session(graph=tf.Graph()) as sess,
        pytest.raises(RuntimeError, match=r"The Session graph is empty."),
    ):
        sess.run([])


def test_the_graph_may_grow() -> None:
    a = tf.constant(1.0)
    with tf.Session() as sess:
        assert sess.run(a) == 1.0
        b = a + 1.0
        v = tf.get_variable("v", initializer=5.0)
        assert sess.run(b) == 2.0
        sess.run(v.initializer)
        assert sess.run([a, v]) == [1.0, 5.0]
        tf.get_default_graph().finalize()
        assert sess.run(b) == 2.0
        with pytest.raises(RuntimeError, match="finalized"):
            tf.constant(1.0)
    tf.get_default_graph()._unsafe_unfinalize()


def test_sessions_do_not_share_variables_unless_reset_tells() -> None:
    v = tf.get_variable("v", initializer=1.0)
    one, two = tf.Session(), tf.Session()
    one.run(v.initializer)
    with pytest.raises(
        tf.errors.FailedPreconditionError, match="uninitialized value v"
    ):
        two.run(v)
    call = one.make_callable(v)
    tf.Session.reset("")
    for use in (lambda: one.run(v), call, lambda: two.run(v)):
        with pytest.raises(tf.errors.CancelledError, match="Session has been closed"):
            use()
    one.close()
    with tf.Session() as three, pytest.raises(tf.errors.FailedPreconditionError):
        three.run(v)
    with pytest.raises(tf.errors.NotFoundError, match="No session factory"):
        tf.Session.reset("nope")


def test_many_threads_run_one_session() -> None:
    x = tf.placeholder(tf.float32, [])
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    add = v.assign_add(1.0)
    with tf.Session() as sess:
        sess.run(v.initializer)
        failures: list[BaseException] = []

        def work(number: int) -> None:
            try:
                y = x * float(number)  # each thread prepares a step of its own too
                for i in range(50):
                    assert sess.run(y, {x: i}) == np.float32(i * number)
                    sess.run(add)
            except BaseException as error:
                failures.append(error)

        graph = tf.get_default_graph()

        def in_graph(number: int) -> None:
            with graph.as_default():
                work(number)

        threads = [threading.Thread(target=in_graph, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        assert sess.run(v) == 300.0


def test_close_wakes_a_step_that_waits() -> None:
    queue = tf.FIFOQueue(1, [tf.float32])
    taken = queue.dequeue()
    sess = tf.Session()
    errors: list[Exception] = []

    def wait_for_an_element() -> None:
        try:
            sess.run(taken)
        except tf.errors.CancelledError as error:
            errors.append(error)

    thread = threading.Thread(target=wait_for_an_element)
    thread.start()
    (worker,) = sess._master._directory.known()
    while not any(s._running for s in worker._sessions.values()):
        time.sleep(0.001)
    sess.close()
    thread.join(60)
    assert len(errors) == 1


def test_a_dropped_session_leaves_nothing() -> None:
    a = tf.constant(1.0)
    sess = tf.Session()
    sess.run(a)
    master = weakref.ref(sess._master)
    del sess
    gc.collect()
    assert master() is None


def test_growth_from_one_line_is_told_once() -> None:
    v = tf.get_variable("v", initializer=0.0)
    with tf.Session() as sess:
        sess.run(v.initializer)

        def train() -> None:
            for _ in range(30):
                sess.run(tf.assign_add(v, 1.0))

        with pytest.warns(UserWarning, match="adds operations to the graph") as record:
            train()
        assert len(record) == 1
        assert "test_session_lifecycle.py" in str(record[0].message)


def test_growth_from_many_lines_is_building() -> None:
    with tf.Session() as sess:
        a = tf.constant(1.0)
        sess.run(a)
        for _ in range(30):
            sess.run(a)
        b = a + 1.0
        sess.run(b)
        c = b + 1.0
        assert sess.run(c) == 3.0


def test_what_waits_says_that_it_was_cancelled() -> None:
    with tf.Graph().as_default():
        started = tf.FIFOQueue(1, tf.int32)
        queue = tf.FIFOQueue(1, tf.int32)
        begun = started.dequeue()
        with tf.control_dependencies([started.enqueue(1)]):
            dequeue = queue.dequeue()
        session = tf.Session()
        caught: list[str] = []

        def wait() -> None:
            try:
                session.run(dequeue)
            except tf.errors.CancelledError as error:
                caught.append(error.message)

        thread = threading.Thread(target=wait)
        thread.start()
        session.run(begun)
        session.close()
        thread.join()
        assert caught
        assert "Dequeue operation was cancelled" in caught[0]


@pytest.mark.parametrize("infer_shapes", [False, True])
def test_shapes_in_the_graph_def_where_the_config_asks_for_them(
    infer_shapes: bool,
) -> None:
    options = tf.GraphOptions(infer_shapes=infer_shapes)
    tf.constant([1, 2], name=b"named_by_bytes")
    with tf.Session(config=tf.ConfigProto(graph_options=options)) as session:
        (node,) = session.graph_def.node
    assert node.name == "named_by_bytes"
    assert ("_output_shapes" in node.attr) == infer_shapes
