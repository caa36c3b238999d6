"""What a node without a shared name holds on a server is its session's alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tensorloom as tf
from tests.cluster.clusters import PS, cluster, over_the_network

Program = tuple[Any, Any]  # what is done first, and what is looked at then


@pytest.fixture(scope="module")
def target() -> Iterator[str]:
    with cluster(ps=1, worker=1) as servers:
        yield str(servers["worker"][0].target)


@pytest.fixture(autouse=True)
def _over_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    over_the_network(monkeypatch)


def queue(**options: Any) -> Program:
    made = tf.FIFOQueue(9, tf.float32, [()], name="queue", **options)
    return made.enqueue(1.0), made.size()


def priorities() -> Program:
    made = tf.PriorityQueue(9, [tf.float32], [()], name="priorities")
    return made.enqueue((tf.constant(1, tf.int64), 1.0)), made.size()


def accumulator() -> Program:
    made = tf.ConditionalAccumulator(tf.float32, [], name="accumulator")
    return made.apply_grad(1.0), made.num_accumulated()


def table(**options: Any) -> Program:
    made = tf.raw_ops.MutableHashTableV2(
        key_dtype=tf.int64, value_dtype=tf.int64, name="table", **options
    )
    counter = tf.raw_ops.LookupTableSizeV2(table_handle=made)
    one = tf.constant([1], tf.int64)
    insert = tf.raw_ops.LookupTableInsertV2(
        table_handle=made, keys=tf.reshape(counter, [1]), values=one
    )
    return insert, counter


def random_numbers() -> Program:
    return tf.no_op(), tf.random_uniform([], 0, 10**6, tf.int32, seed=3)


def results(target: str, program: Callable[[], Program]) -> list[int]:
    """Of a session, of another at the same time, and of one after both."""
    found = []
    open_sessions = []
    for is_last in (False, False, True):
        with tf.Graph().as_default(), tf.device(PS):
            first, seen = program()
            sess = tf.Session(target)
            open_sessions.append(sess)
            sess.run(first)
            found.append(int(sess.run(seen)))
        if len(open_sessions) == 2 or is_last:
            for each in open_sessions:
                each.close()
            open_sessions = []
    return found


@pytest.mark.parametrize("program", [queue, priorities, accumulator, table])
def test_each_session_has_its_own(target: str, program: Any) -> None:
    assert results(target, program) == [1, 1, 1]


@pytest.mark.parametrize(
    "program",
    [
        lambda: queue(shared_name="shared"),
        lambda: table(shared_name="shared"),
        lambda: table(use_node_name_sharing=True),
    ],
)
def test_what_has_a_name_is_for_all(target: str, program: Any) -> None:
    assert results(target, program) == [1, 2, 3]


def test_random_numbers_begin_anew(target: str) -> None:
    assert len(set(results(target, random_numbers))) == 1


def test_an_iterator_is_initialized_by_each_session(target: str) -> None:
    with tf.Graph().as_default(), tf.device(PS):
        iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(5))
        element = iterator.get_next()
        with tf.Session(target) as one, tf.Session(target) as other:
            one.run(iterator.initializer)
            assert one.run(element) == 0
            with pytest.raises(tf.errors.FailedPreconditionError):
                other.run(element)
            other.run(iterator.initializer)
            assert [one.run(element), other.run(element)] == [1, 0]


def test_a_queue_that_was_closed_is_new_in_the_next_session(target: str) -> None:
    """A program that ended its queue runners runs again on the same servers."""
    for _ in range(2):
        with tf.Graph().as_default(), tf.device(PS):
            made = tf.FIFOQueue(9, tf.int32, [()], name="runners")
            add, take = made.enqueue_many([[1, 2]]), made.dequeue()
            with tf.Session(target) as sess:
                sess.run(add)
                sess.run(made.close(cancel_pending_enqueues=True))
                assert [sess.run(take), sess.run(take)] == [1, 2]
                with pytest.raises(tf.errors.OutOfRangeError):
                    sess.run(take)


def test_a_reset_takes_what_is_a_sessions_too(target: str) -> None:
    with tf.Graph().as_default(), tf.device(PS), tf.container("once"):
        add, size = queue()
        sess = tf.Session(target)
        sess.run(add)
        assert sess.run(size) == 1
        tf.Session.reset(target, ["once"])
        with pytest.raises(tf.errors.AbortedError):
            sess.run(size)
        with tf.Session(target) as other:
            assert other.run(size) == 0


def test_steps_of_a_session_that_was_reset_fail_in_the_servers_own_process() -> None:
    server = tf.train.Server.create_local_server()
    with tf.Graph().as_default():
        v = tf.Variable(3)
        sessions = [tf.Session(server.target) for _ in range(2)]
        sessions[0].run(v.initializer)
        assert [session.run(v) for session in sessions] == [3, 3]
        tf.Session.reset(server.target, ["of nobody"])
        for session in sessions * 2:
            with pytest.raises(tf.errors.AbortedError, match="is not found"):
                session.run(v)
        with tf.Session(server.target) as session:
            assert session.run(v) == 3
