"""Loops and branches with nodes on several tasks."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tests.cluster.clusters import PS, PS1, WORKER, cluster_over
from tests.cluster.processes import eventually

LIMIT = tf.RunOptions(timeout_in_ms=60_000)


@pytest.fixture(scope="module", params=["sockets", "grpc"])
def target(request: pytest.FixtureRequest) -> Iterator[str]:
    with cluster_over(request.param, ps=2, worker=1) as servers:
        yield servers["worker"][0].target


@pytest.fixture(autouse=True)
def fresh_graph(target: str) -> None:
    tf.Session.reset(target)
    tf.reset_default_graph()


def run(
    target: str, fetches: Any, feeds: dict[Any, Any] | None = None, init: Any = None
) -> Any:
    with tf.Session(target) as sess:
        if init is not None:
            sess.run(init)
        return sess.run(fetches, feeds, options=LIMIT)


def tasks_of(target: str, fetch: Any, feeds: dict[Any, Any]) -> dict[str, set[str]]:
    """The ops of a step by task."""
    metadata = tf.RunMetadata()
    options = tf.RunOptions(output_partition_graphs=True, timeout_in_ms=60_000)
    with tf.Session(target) as sess:
        sess.run(fetch, feeds, options=options, run_metadata=metadata)
    found: dict[str, set[str]] = {}
    for graph in metadata.partition_graphs:
        for node in graph.node:
            task = node.device.partition("/replica")[0]
            found.setdefault(task, set()).add(node.op)
    return found


def counted_loop(body_device: str, n: Any, x: Any) -> Any:
    """`total = total * x + 1`, n times, the product at `body_device`."""

    def body(i: Any, total: Any) -> Any:
        with tf.device(body_device):
            product = total * x
        return i + 1, product + 1.0

    return tf.while_loop(lambda i, _: i < n, body, [tf.constant(0), tf.constant(1.0)])


def expected_loop(n: int, x: float) -> float:
    total = 1.0
    for _ in range(n):
        total = total * x + 1.0
    return total


@pytest.mark.parametrize("n", [0, 1, 2, 17])
def test_loop_with_its_body_on_two_tasks(target: str, n: int) -> None:
    with tf.device(WORKER):
        count, x = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [])
        i, total = counted_loop(PS, count, x)
    found = run(target, [i, total], {count: n, x: 0.5})
    assert found == [n, pytest.approx(expected_loop(n, 0.5))]


def test_nodes_of_the_body_run_where_they_ask_to(target: str) -> None:
    with tf.device(WORKER):
        x = tf.placeholder(tf.float32, [])

        def body(i: Any, total: Any) -> Any:
            with tf.device(PS):
                return i + 1, tf.sqrt(total * x)

        with tf.device(WORKER):
            _, total = tf.while_loop(
                lambda i, _: i < 3, body, [tf.constant(0), tf.constant(1.0)]
            )
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    with tf.Session(target) as sess:
        sess.run(total, {x: 2.0}, options=options, run_metadata=metadata)
    ops: dict[str, set[str]] = {}
    for stats in metadata.step_stats.dev_stats:
        for node in stats.node_stats:
            ops.setdefault(stats.device.partition("/replica")[0], set()).add(
                node.node_name.rpartition("/")[2]
            )
    assert "Sqrt" in ops["/job:ps"]
    assert "Sqrt" not in ops.get("/job:worker", set())


def test_what_stays_on_one_task_stays_a_function(target: str) -> None:
    with tf.device(WORKER):
        x = tf.placeholder(tf.float32, [])
        _, total = counted_loop(WORKER, 3, x)
    with tf.device(PS):
        y = total * 2.0
    ops = tasks_of(target, y, {x: 2.0})
    assert not any("Enter" in names for names in ops.values())
    assert "StatelessWhile" in ops["/job:worker"]


def test_gradient_through_a_loop_on_two_tasks(target: str) -> None:
    with tf.device(WORKER):
        x = tf.placeholder(tf.float32, [])
        _, total = counted_loop(PS, 6, x)
        gradient = tf.gradients(total, x)[0]
    found = run(target, [total, gradient], {x: 1.5})
    step = 1e-6
    slope = (expected_loop(6, 1.5 + step) - expected_loop(6, 1.5 - step)) / (2 * step)
    assert found == [
        pytest.approx(expected_loop(6, 1.5)),
        pytest.approx(slope, rel=1e-4),
    ]


def test_three_tasks_in_one_loop(target: str) -> None:
    def body(i: Any, a: Any, b: Any) -> Any:
        with tf.device(PS):
            c = a + b
        with tf.device(PS1):
            d = c * 2.0
        return i + 1, d, a + c

    with tf.device(WORKER):
        loop = tf.while_loop(
            lambda i, a, b: i < 4,
            body,
            [tf.constant(0), tf.constant(1.0), tf.constant(2.0)],
        )
    a, b = 1.0, 2.0
    for _ in range(4):
        a, b = (a + b) * 2, a + (a + b)
    assert list(run(target, loop)) == [4, a, b]


def test_test_of_the_loop_on_another_task(target: str) -> None:
    def test(i: Any, total: Any) -> Any:
        with tf.device(PS):
            return total < 100.0

    with tf.device(WORKER):
        start = tf.placeholder(tf.float32, [])
        loop = tf.while_loop(
            test, lambda i, total: (i + 1, total * 2.0), [tf.constant(0), start]
        )
    assert list(run(target, loop, {start: 1.0})) == [7, 128.0]
    assert list(run(target, loop, {start: 1000.0})) == [0, 1000.0]


@pytest.mark.parametrize("n", [0, 1, 4])
def test_nested_loops(target: str, n: int) -> None:
    def inner(j: Any, total: Any) -> Any:
        with tf.device(PS):
            on_ps = total + tf.cast(j, tf.float32)
        return j + 1, on_ps * 1.5

    def body(i: Any, total: Any) -> Any:
        _, found = tf.while_loop(lambda j, _: j < i, inner, [tf.constant(0), total])
        return i + 1, found + 1.0

    with tf.device(WORKER):
        count = tf.placeholder(tf.int32, [])
        _, total = tf.while_loop(
            lambda i, _: i < count, body, [tf.constant(0), tf.constant(1.0)]
        )
    value = 1.0
    for i in range(n):
        for j in range(i):
            value = (value + j) * 1.5
        value += 1.0
    assert run(target, total, {count: n}) == value


def test_loop_inside_wholly_on_the_other_task(target: str) -> None:
    """The inner loop stays a function, in the frame of the outer one."""

    def body(i: Any, total: Any) -> Any:
        with tf.device(PS):
            _, found = tf.while_loop(
                lambda j, _: j < i,
                lambda j, t: (j + 1, t * 2.0),
                [tf.constant(0), total],
            )
        return i + 1, found + 1.0

    with tf.device(WORKER):
        _, total = tf.while_loop(
            lambda i, _: i < 4, body, [tf.constant(0), tf.constant(1.0)]
        )
    value = 1.0
    for i in range(4):
        value = value * 2.0**i + 1.0
    assert run(target, total) == value


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_branch_on_another_task(target: str, sign: float) -> None:
    with tf.device(WORKER):
        x = tf.placeholder(tf.float32, [2])

        def on_ps() -> Any:
            with tf.device(PS):
                return tf.reduce_sum(x) * 2.0

        y = tf.cond(x[0] > 0, on_ps, lambda: x[1] - 1.0)
        gradient = tf.gradients(y, x)[0]
    with tf.device(PS):
        after = y + 1.0
    found = run(target, [y, gradient, after], {x: [sign, 2.0]})
    if sign > 0:
        np.testing.assert_equal(found, [6.0, np.array([2.0, 2.0]), 7.0])
    else:
        np.testing.assert_equal(found, [1.0, np.array([0.0, 1.0]), 2.0])


def test_constants_of_a_branch_not_taken_have_no_effect(target: str) -> None:
    with tf.device(PS):
        v = tf.get_variable(
            "v", [], use_resource=True, initializer=tf.zeros_initializer()
        )
    with tf.device(WORKER):
        flag = tf.placeholder(tf.bool, [])

        def update() -> Any:
            with tf.control_dependencies([v.assign_add(1.0)]):
                return tf.constant(1)

        y = tf.cond(flag, update, lambda: tf.constant(0))
    with tf.Session(target) as sess:
        sess.run(v.initializer)
        found = [sess.run(y, {flag: f}, LIMIT) for f in (True, False, True)]
        assert (found, sess.run(v)) == ([1, 0, 1], 2.0)


def test_case_on_three_tasks(target: str) -> None:
    with tf.device(WORKER):
        index, x = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [])

        def branch(device: str, factor: float) -> Any:
            def build() -> Any:
                with tf.device(device):
                    return x * factor

            return build

        branches = [branch(WORKER, 2.0), branch(PS, 3.0), branch(PS1, 5.0)]
        y = tf.switch_case(index, branches)
    with tf.Session(target) as sess:
        found = [sess.run(y, {index: i, x: 1.0}, LIMIT) for i in (0, 1, 2, -1, 7)]
    assert found == [2.0, 3.0, 5.0, 5.0, 5.0]


def test_branch_in_a_loop(target: str) -> None:
    def even(total: Any) -> Any:
        with tf.device(PS):
            return total * 2.0

    with tf.device(WORKER):
        n = tf.placeholder(tf.int32, [])
        _, total = tf.while_loop(
            lambda i, _: i < n,
            lambda i, t: (
                i + 1,
                tf.cond(tf.equal(i % 2, 0), lambda: even(t), lambda: t + 1.0),
            ),
            [tf.constant(0), tf.constant(1.0)],
        )
        gradient_source = tf.identity(total)
    assert [run(target, gradient_source, {n: m}) for m in (0, 1, 5)] == [1.0, 2.0, 14.0]


@pytest.mark.parametrize("taken", [True, False])
def test_loop_in_a_branch(target: str, taken: bool) -> None:
    def loop(x: Any) -> Any:
        def body(i: Any, total: Any) -> Any:
            with tf.device(PS):
                return i + 1, total * 2.0

        return tf.while_loop(lambda i, _: i < 3, body, [tf.constant(0), x])[1]

    with tf.device(WORKER):
        flag, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [])
        y = tf.cond(flag, lambda: loop(x), lambda: x)
    assert run(target, y, {flag: taken, x: 3.0}) == (24.0 if taken else 3.0)


@pytest.mark.parametrize("use_resource", [True, False])
def test_updates_of_a_ps_variable(target: str, use_resource: bool) -> None:
    with tf.device(PS):
        v = tf.get_variable(
            "v", [], use_resource=use_resource, initializer=tf.zeros_initializer()
        )
    with tf.device(WORKER):
        n = tf.placeholder(tf.int32, [])

        def body(i: Any) -> Any:
            with tf.control_dependencies([v.assign_add(2.0)]):
                return i + 1

        i = tf.while_loop(lambda i: i < n, body, [tf.constant(0)])
    with tf.Session(target) as sess:
        sess.run(v.initializer)
        found = [(sess.run(i, {n: m}, LIMIT), sess.run(v)) for m in (0, 1, 4)]
    assert found == [(0, 0.0), (1, 2.0), (4, 10.0)]


def test_variables_of_two_parameter_servers(target: str) -> None:
    """The loop that uses both pulls neither to the other's task."""
    variables = []
    for index, device in enumerate((PS, PS1)):
        with tf.device(device):
            variables.append(
                tf.get_variable(
                    f"v{index}",
                    [],
                    use_resource=True,
                    initializer=tf.constant_initializer(index + 1.0),
                )
            )
    with tf.device(WORKER):

        def body(i: Any, total: Any) -> Any:
            updates = [v.assign_add(1.0) for v in variables]
            with tf.control_dependencies(updates):
                return i + 1, total + variables[0] * variables[1]

        loop = tf.while_loop(
            lambda i, _: i < 3, body, [tf.constant(0), tf.constant(0.0)]
        )
    with tf.Session(target) as sess:
        sess.run(tf.global_variables_initializer())
        assert list(sess.run(loop, options=LIMIT)) == [3, 2 * 3 + 3 * 4 + 4 * 5]
        assert sess.run(variables) == [4.0, 5.0]
    with tf.Session(target) as sess:  # another client finds them there
        assert sess.run([v.read_value() for v in variables]) == [4.0, 5.0]


def test_tensor_arrays(target: str) -> None:
    with tf.device(WORKER):
        x = tf.placeholder(tf.float32, [])
        array = tf.TensorArray(tf.float32, 4)

        def body(i: Any, array: Any) -> Any:
            with tf.device(PS):
                value = tf.cast(i, tf.float32) ** 2 * x
            return i + 1, array.write(i, value)

        _, array = tf.while_loop(lambda i, _: i < 4, body, [tf.constant(0), array])
        stacked = array.stack()
        gradient = tf.gradients(stacked, x)[0]
    found = run(target, [stacked, gradient], {x: 2.0})
    np.testing.assert_allclose(found[0], [0.0, 2.0, 8.0, 18.0])
    assert found[1] == 14.0


def test_control_edges_across_tasks(target: str) -> None:
    with tf.device(PS):
        v = tf.get_variable(
            "v", [], use_resource=True, initializer=tf.zeros_initializer()
        )
        before = v.assign_add(10.0)
    with tf.device(WORKER), tf.control_dependencies([before]):

        def body(i: Any, total: Any) -> Any:
            read = v.read_value()
            with tf.control_dependencies([read]):
                update = v.assign_add(1.0)
            with tf.control_dependencies([update]):
                return i + 1, total + read

        i, total = tf.while_loop(
            lambda i, _: i < 3, body, [tf.constant(0), tf.constant(0.0)]
        )
    with tf.device(PS), tf.control_dependencies([i.op, total.op]):
        after = v.read_value()
    found = run(target, [total, after], init=v.initializer)
    assert found == [10 + 11 + 12, 13.0]


def test_error_in_an_iteration_on_another_task(target: str) -> None:
    def body(i: Any, total: Any) -> Any:
        with tf.device(PS):
            return i + 1, total + tf.gather([1.0, 2.0, 3.0], i)

    with tf.device(WORKER):
        n = tf.placeholder(tf.int32, [])
        _, total = tf.while_loop(
            lambda i, _: i < n, body, [tf.constant(0), tf.constant(0.0)]
        )
    with tf.Session(target) as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="3 is not in") as info:
            sess.run(total, {n: 9}, options=LIMIT)
        assert "/job:ps" in str(info.value)
        assert sess.run(total, {n: 3}, options=LIMIT) == 6.0


def test_timeout_of_an_endless_loop_leaves_nothing_behind(target: str) -> None:
    def body(i: Any) -> Any:
        with tf.device(PS):
            return i * 1

    with tf.device(WORKER):
        i = tf.while_loop(lambda i: i < 1, body, [tf.constant(0)])
        other = tf.constant(3) * 2
    with tf.Session(target) as sess:
        sess.run(other)
        for _ in range(2):
            with pytest.raises(tf.errors.DeadlineExceededError):
                sess.run(i, options=tf.RunOptions(timeout_in_ms=300))
        threads = _settled_thread_count()
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(i, options=tf.RunOptions(timeout_in_ms=300))
        assert sess.run(other) == 6
        # One that was needed because others came back late ends when it is idle.
        assert eventually(lambda: threading.active_count() <= threads, 60)


def _settled_thread_count() -> int:
    """The number of threads, once it has stopped changing."""
    last = threading.active_count()
    for _ in range(20):
        time.sleep(0.1)
        count = threading.active_count()
        if count >= last:
            return count
        last = count
    return last
