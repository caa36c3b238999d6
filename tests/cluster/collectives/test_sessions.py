"""Collectives among tasks, each of which runs a step of its own session.

The tasks are servers of this process that speak to each other over the network.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tests.cluster.clusters import cluster_over

pytestmark = pytest.mark.timeout(300)

SIZE = 3
LEADER = "/job:worker/replica:0/task:0"
# Nobody should wait so long; who does has lost its way.
LIMIT = tf.RunOptions(timeout_in_ms=120_000)
Servers = list[Any]


@pytest.fixture(scope="module", params=["sockets", "grpc"])
def servers(request: Any) -> Iterator[Servers]:
    with cluster_over(request.param, worker=SIZE) as running:
        yield running["worker"]


_keys = iter(range(1, 10_000))


def reduce(value: Any, key: int, **more: Any) -> Any:
    options = {"merge_op": "Add", "final_op": "Id", "subdiv_offsets": [], **more}
    group = {"group_size": SIZE, "group_key": 1, "instance_key": key}
    return tf.raw_ops.CollectiveReduce(input=value, **{**group, **options})


def in_turn(
    servers: Servers, build: Callable[[int], Any], steps: int = 1, session: Any = None
) -> list[list[Any]]:
    """What each task's steps give: values, or the error.

    Args:
      servers: a task each.
      build: makes a task's tensors.
      steps: how often they are fetched.
      session: called with a task's number, its session and its tensors instead.
    """
    outcomes: list[list[Any]] = [[] for _ in servers]

    def work(index: int) -> None:
        config = tf.ConfigProto(device_filters=[f"/job:worker/task:{index}"])
        config.experimental.collective_group_leader = LEADER
        with tf.Graph().as_default():
            with tf.device(f"/job:worker/task:{index}"):
                fetches = build(index)
            with tf.Session(servers[index].target, config=config) as sess:
                if session is not None:
                    outcomes[index] = session(index, sess, fetches)
                    return
                for _ in range(steps):
                    outcomes[index].append(outcome(sess, fetches))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(servers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(200)
        assert not thread.is_alive()
    return outcomes


def outcome(sess: Any, fetches: Any, **options: Any) -> Any:
    try:
        return sess.run(fetches, options=options.pop("limit", LIMIT), **options)
    except tf.errors.OpError as error:
        return error


def test_each_kind_step_after_step(servers: Servers) -> None:
    small, mean, large, rows, sent = (next(_keys) for _ in range(5))

    def build(index: int) -> list[Any]:
        value = tf.constant([[1.0, 2.0]]) * (index + 1)
        group = {"group_size": SIZE, "group_key": 1}
        if index == 1:
            broadcast = tf.raw_ops.CollectiveBcastSend(
                input=value, shape=[1, 2], instance_key=sent, **group
            )
        else:
            broadcast = tf.raw_ops.CollectiveBcastRecv(
                T=tf.float32, shape=[1, 2], instance_key=sent, **group
            )
        return [
            reduce(value, small),
            reduce(value, mean, final_op="Div", merge_op="Add"),
            reduce(tf.ones([100_000]) * (index + 1), large),
            tf.raw_ops.CollectiveGather(
                input=value, shape=[SIZE, 2], instance_key=rows, **group
            ),
            broadcast,
        ]

    for values in in_turn(servers, build, steps=3):
        for one, half, many, gathered, got in values:
            np.testing.assert_array_equal(one, [[6, 12]])
            np.testing.assert_array_equal(half, [[2, 4]])
            np.testing.assert_array_equal(many, np.full([100_000], 6))
            np.testing.assert_array_equal(gathered, [[1, 2], [2, 4], [3, 6]])
            np.testing.assert_array_equal(got, [[2, 4]])


MERGES = {"Add": np.sum, "Mul": np.prod, "Min": np.min, "Max": np.max}
DTYPES = [np.float16, np.float32, np.float64, np.int32, np.int64]


def test_two_tasks_reduce_in_all_ways(servers: Servers) -> None:
    """All merges, dtypes, with and without a division; small and large values."""
    first = 100_000
    pair = {"group_size": 2, "group_key": 3}
    kinds = [(merge, dtype, "Id", 3) for merge in MERGES for dtype in DTYPES]
    kinds += [("Add", dtype, "Div", 5) for dtype in DTYPES]
    kinds += [("Add", np.float32, final, 40_000) for final in ("Id", "Div")]

    def value(index: int, dtype: Any, count: int) -> Any:
        return ((np.arange(count) * 7 + index) % 11 + 1).astype(dtype)

    def build(index: int) -> list[Any]:
        return [
            reduce(
                tf.constant(value(index, dtype, count)),
                first + number,
                merge_op=merge,
                final_op=final,
                **pair,
            )
            for number, (merge, dtype, final, count) in enumerate(kinds)
        ]

    for (values,) in in_turn(servers[:2], build):
        for found, (merge, dtype, final, count) in zip(values, kinds, strict=True):
            both = [value(index, dtype, count) for index in range(2)]
            expected = MERGES[merge](both, axis=0)
            if final == "Div":
                is_whole = dtype in (np.int32, np.int64)
                expected = expected // 2 if is_whole else expected / 2
            np.testing.assert_allclose(found, expected, err_msg=f"{merge} {dtype}")
            assert found.dtype == dtype


def test_functions_and_branches_have_the_leader(servers: Servers) -> None:
    """Also those that a loop or a branch calls, and a broadcast in one."""
    outer, inner, sent = (next(_keys) for _ in range(3))

    def build(index: int) -> list[Any]:
        group = {"group_size": SIZE, "group_key": 1, "instance_key": sent, "shape": []}

        @tf.function
        def both(x: Any) -> Any:
            if index == 0:
                source = tf.raw_ops.CollectiveBcastSend(input=x + 10.0, **group)
            else:
                source = tf.raw_ops.CollectiveBcastRecv(T=tf.float32, **group)
            return source + reduce(x, inner)

        def branch() -> Any:
            return reduce(tf.constant(2.0) + index, outer)

        is_on = tf.random_uniform([]) < 2.0
        return [both(tf.constant(1.0)), tf.cond(is_on, branch, lambda: 0.0)]

    for steps in in_turn(servers, build, steps=2):
        assert steps == [[14.0, 9.0]] * 2


def test_a_loop_meets_once_an_iteration(servers: Servers) -> None:
    key = next(_keys)

    def build(index: int) -> Any:
        return tf.while_loop(
            lambda i, _: i < 4,
            lambda i, x: (i + 1, reduce(x, key, merge_op="Max") + index),
            [0, tf.constant(0.0)],
        )[1]

    # What is reduced is the largest, and one more each time but for the last.
    assert in_turn(servers, build) == [[6.0], [7.0], [8.0]]


def test_one_session_with_members_on_all_tasks(servers: Servers) -> None:
    """They need no leader that anybody names."""
    key = next(_keys)
    with tf.Graph().as_default():
        sums = []
        for index in range(SIZE):
            with tf.device(f"/job:worker/task:{index}"):
                value = tf.random_uniform([4]) * 0.0 + index
                sums.append(reduce(value, key, group_key=2))
        with tf.Session(servers[1].target) as sess:
            for _ in range(3):
                for found in sess.run(sums, options=LIMIT):
                    np.testing.assert_array_equal(found, [3.0] * 4)


def once_all_are_here(key: int) -> Any:
    """A scope whose ops run when the steps of all members have begun.

    Who begins a step after it has failed elsewhere would wait for the next attempt.
    """
    return tf.control_dependencies([reduce(tf.zeros([1]), key)])


@pytest.mark.parametrize(
    ("value", "kinds"),
    [
        (np.ones([3], np.float32), tf.errors.InvalidArgumentError),
        (np.ones([2], np.int32), tf.errors.InternalError),
    ],
    ids=["shape", "dtype"],
)
def test_members_that_disagree(servers: Servers, value: Any, kinds: Any) -> None:
    """All get an error, and the next step is as if nothing had been."""
    key, gate, later = (next(_keys) for _ in range(3))

    def build(index: int) -> Any:
        dtype = tf.float32 if index else value.dtype
        given = tf.placeholder(dtype, [None])
        with once_all_are_here(gate):
            compared = reduce(given, key)
        return given, compared, reduce(tf.ones([2]), later)

    def session(index: int, sess: Any, fetches: Any) -> list[Any]:
        given, compared, other = fetches
        mine = np.ones([2], np.float32) if index else value
        first = outcome(sess, compared, feed_dict={given: mine})
        return [first, outcome(sess, other)]

    for first, other in in_turn(servers, build, session=session):
        assert isinstance(first, (kinds, tf.errors.AbortedError)), first
        np.testing.assert_array_equal(other, [SIZE, SIZE])


def test_members_that_disagree_after_steps_that_went_well(servers: Servers) -> None:
    """Nobody asks the leader any more; values of another size go other ways."""
    key, gate = next(_keys), next(_keys)

    def build(index: int) -> Any:
        given = tf.placeholder(tf.float32, [None])
        with once_all_are_here(gate):
            return given, reduce(given, key)

    def session(index: int, sess: Any, fetches: Any) -> list[Any]:
        given, total = fetches
        return [
            outcome(sess, total, feed_dict={given: np.ones([count])})
            for count in (5, 500_000 if index == 1 else 5, 500_000, 7)
        ]

    for outcomes in in_turn(servers, build, session=session):
        for found, count in zip(outcomes, (5, None, 500_000, 7), strict=True):
            if count is None:
                kinds = tf.errors.InvalidArgumentError, tf.errors.AbortedError
                assert isinstance(found, kinds), found
            else:
                np.testing.assert_array_equal(found, np.full(count, SIZE))


def test_one_member_s_step_fails(servers: Servers) -> None:
    """So do those of the others, at once; and all go on after that."""
    key, gate = next(_keys), next(_keys)

    def build(index: int) -> Any:
        given = tf.placeholder(tf.float32, [2])
        with once_all_are_here(gate):
            checked = tf.check_numerics(given, "not a number")
        return given, reduce(checked, key)

    def session(index: int, sess: Any, fetches: Any) -> list[Any]:
        given, total = fetches
        bad = [float("nan"), 1.0] if index == 2 else [1.0, 1.0]
        return [
            outcome(sess, total, feed_dict={given: feed})
            for feed in ([1.0, 1.0], bad, [1.0, 1.0])
        ]

    kinds = tf.errors.InvalidArgumentError, tf.errors.AbortedError
    for before, failed, after in in_turn(servers, build, session=session):
        np.testing.assert_array_equal(before, [SIZE, SIZE])
        assert isinstance(failed, kinds), failed
        np.testing.assert_array_equal(after, [SIZE, SIZE])


def test_a_member_that_does_not_come(servers: Servers) -> None:
    """Who waits for it has its limit; so the group of another size is refused."""
    key = next(_keys)

    def build(index: int) -> Any:
        return reduce(tf.ones([2]), key, group_key=50)

    def session(index: int, sess: Any, total: Any) -> list[Any]:
        if index == 2:
            return []
        return [outcome(sess, total, limit=tf.RunOptions(timeout_in_ms=300))]

    for outcomes in in_turn(servers, build, session=session)[:2]:
        assert isinstance(outcomes[0], tf.errors.DeadlineExceededError)


def test_members_of_groups_of_different_sizes(servers: Servers) -> None:
    key = next(_keys)

    def build(index: int) -> Any:
        return reduce(tf.ones([2]), key, group_key=51, group_size=SIZE - index)

    for (error,) in in_turn(servers[:2], build):
        assert isinstance(error, tf.errors.InternalError)
        assert "size" in error.message
