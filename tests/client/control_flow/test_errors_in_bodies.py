"""Errors of nodes in loops, branches and pipelines name the user's line."""

from __future__ import annotations

import inspect
from contextlib import ExitStack
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.client.session import session_errors
from tests.cluster.clusters import over_the_network


def _fail(value: Any) -> Any:
    return tf.check_numerics(tf.log(value), "message")  # the line that is named


_LINE = inspect.getsourcelines(_fail)[1] + 1


def _cond() -> Any:
    return tf.cond(tf.constant(True), lambda: _fail(0.0), lambda: 1.0)


def _while() -> Any:
    return tf.while_loop(lambda i, _: i < 3, lambda i, x: (i + 1, _fail(x)), [0, 0.0])


def _case() -> Any:
    is_two = tf.equal(tf.constant(2), 2)
    return tf.case([(is_two, lambda: _fail(0.0))], default=lambda: 1.0)


def _map() -> Any:
    return tf.map_fn(_fail, tf.constant([1.0, 0.0]))


def _scan() -> Any:
    return tf.scan(lambda a, x: a + _fail(x), tf.constant([1.0, 1.0, 0.0]))


def _nested() -> Any:
    def body(i: Any, x: Any) -> Any:
        return i + 1, tf.cond(i > 1, lambda: _fail(x * 0.0), lambda: x)

    return tf.while_loop(lambda i, _: i < 3, body, [0, 1.0])


@pytest.mark.parametrize(
    ("make", "node_name"),
    [
        (_cond, "cond/CheckNumerics"),
        (_while, "while/CheckNumerics"),
        (_case, "case/cond/CheckNumerics"),
        (_map, "map/while/CheckNumerics"),
        (_scan, "scan/while/CheckNumerics"),
        (_nested, "while/cond/CheckNumerics"),
    ],
)
@pytest.mark.parametrize("is_remote", [False, True])
def test_a_body_of_control_flow(
    make: Any, node_name: str, is_remote: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched = make()
    over_the_network(monkeypatch)
    with ExitStack() as stack:
        target = ""
        if is_remote:
            server = tf.train.Server.create_local_server()
            stack.callback(server.stop)
            target = server.target
        sess = stack.enter_context(tf.Session(target))
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            sess.run(fetched)
    error = caught.value
    assert f"[[node {node_name} (defined at {__file__}:{_LINE})" in error.message
    assert error.op.name == error.node_def.name == node_name
    assert error.op.type == error.node_def.op == "CheckNumerics"
    assert error.op.traceback[-1][:2] == (__file__, _LINE)
    trace = str(error).partition(f"Original stack trace for {node_name!r}:")[2]
    assert f'File "{__file__}", line {_LINE}, in _fail' in trace


@pytest.mark.parametrize("parallel", [None, 2])
def test_a_function_of_a_pipeline(parallel: int | None) -> None:
    data = tf.data.Dataset.range(3).map(
        lambda i: _fail(tf.to_float(i)), num_parallel_calls=parallel
    )
    element = data.make_one_shot_iterator().get_next()
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        sess.run(element)
    message = caught.value.message
    assert (
        "[[node CheckNumerics in function __inference_Dataset_map_<lambda>" in message
    )
    assert f"(defined at {__file__}:{_LINE})" in message
    assert "[[node IteratorGetNext (defined at" in message
    assert caught.value.op.name == "IteratorGetNext"


def test_a_kernel_that_refuses_its_attrs() -> None:
    clipped = tf.fake_quant_with_min_max_args(tf.constant([1.0]), min=1.0, max=-1.0)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        sess.run(clipped)
    assert "[[node FakeQuantWithMinMaxArgs (defined at" in caught.value.message


def test_a_closed_queue() -> None:
    queue = tf.FIFOQueue(3, tf.int32, shapes=[[]])
    enqueue = queue.enqueue(1)
    with tf.Session() as sess:
        sess.run(queue.close())
        with pytest.raises(tf.errors.CancelledError, match="node fifo_queue_enqueue"):
            sess.run(enqueue)


@pytest.mark.parametrize(
    ("mark", "name"),
    [
        ("{{node middle}}", "while/middle"),
        ("{{node deep}}", "while/cond/deep"),
        ("{{node outside}}", "outside"),
        ("{{node while/middle}}", "while/middle"),
        ("{{node twice}}", None),  # in both branches
        ("{{node unknown}}", None),
    ],
)
def test_marks_of_servers_of_tensorflow(mark: str, name: str | None) -> None:
    """They name a node as in its body; newer ones name the body as well."""

    def body(i: Any, x: Any) -> Any:
        x = tf.identity(x, name="middle")
        found = tf.cond(
            i > 1,
            lambda: tf.identity(tf.identity(x, name="deep"), name="twice"),
            lambda: tf.identity(x, name="twice"),
        )
        return i + 1, found

    with tf.Graph().as_default() as graph:
        start = tf.constant(1.0, name="outside")
        tf.while_loop(lambda i, _: i < 3, body, [0, start])
    error = tf.errors.InvalidArgumentError(None, None, f"bad\n\t [[{mark}]]")
    found = session_errors.with_operation(error, graph).op
    assert (found and found.name) == name
    for function in graph._functions:
        marked = f"bad\n\t [[{{{{function_node {function}}}}}{{{{node twice}}}}]]"
        error = tf.errors.InvalidArgumentError(None, None, marked)
        found = session_errors.with_operation(error, graph).op
        is_branch = "true" in function or "false" in function
        assert (found and found.name) == ("while/cond/twice" if is_branch else None)
