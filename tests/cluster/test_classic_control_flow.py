"""Switch and Merge, as other clients write them, over tasks; errors of the ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import tensorloom as tf
from tests.cluster.clusters import PS, WORKER, cluster, over_the_network


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, list[Any]]]:
    with cluster(ps=1, worker=1) as running:
        yield running


@pytest.fixture
def target(servers: dict[str, list[Any]], monkeypatch: pytest.MonkeyPatch) -> str:
    over_the_network(monkeypatch)
    return str(servers["worker"][0].target)


def _read_if_initialized() -> tuple[Any, Any]:
    """A variable of the ps, and a classic branch of the worker that reads it."""
    with tf.device(PS):
        v = tf.Variable(7, name="v", use_resource=False)
    with tf.device(WORKER):
        ready = tf.is_variable_initialized(v)
        _, there = tf.raw_ops.RefSwitch(data=v._ref(), pred=ready)
        absent, _ = tf.raw_ops.Switch(data=tf.constant(-1), pred=ready)
        branches = [tf.identity(absent), tf.identity(there)]
        return v, tf.raw_ops.Merge(inputs=branches).output


def test_a_branch_reads_a_variable_of_another_task(target: str) -> None:
    """Only if it is taken: as programs read variables that may have no value yet."""
    with tf.Graph().as_default():
        v, y = _read_if_initialized()
        with tf.Session(target) as sess:
            assert sess.run(y) == -1
            sess.run(v.initializer)
            assert sess.run(y) == 7


@pytest.mark.parametrize(
    ("writes", "expected"),
    [(False, [(0, 1.0), (3, 13.0)]), (True, [(0, 1.0), (3, 45.0)])],
)
def test_a_loop_works_on_a_variable_of_another_task(
    writes: bool, expected: list[tuple[int, float]], target: str
) -> None:
    """By reference: it is read, and written to, where it is."""
    tf.disable_control_flow_v2()
    with tf.Graph().as_default():
        with tf.device(PS):
            v = tf.Variable(3.0, use_resource=False)
        with tf.device(WORKER):
            more = v.assign_add(1.0)
            limit = tf.placeholder(tf.int32, [])

            def body(i: Any, sum_: Any) -> Any:
                return i + 1, sum_ + (v.assign_add(sum_) if writes else more)

            with tf.control_dependencies([more]):
                looped = tf.while_loop(lambda i, _: i < limit, body, [0, 1.0])
        with tf.Session(target) as sess:
            for n, result in expected:
                sess.run(v.initializer)
                assert sess.run(looped, {limit: n}) == (n, result)


def test_an_error_in_a_classic_branch_names_its_node(target: str) -> None:
    with tf.Graph().as_default():
        with tf.device(WORKER):
            i = tf.placeholder(tf.int32, [])
            last, here = tf.raw_ops.Switch(data=i, pred=i < 9)
            taken = tf.gather([1, 2], tf.identity(here), name="taken")
            y = tf.raw_ops.Merge(inputs=[tf.identity(last), taken]).output
        with tf.Session(target) as sess:
            assert [sess.run(y, {i: n}) for n in (1, 9)] == [2, 9]
            with pytest.raises(tf.errors.InvalidArgumentError) as raised:
                sess.run(y, {i: 5})
            assert raised.value.op is taken.op


def test_the_error_of_a_fetched_variable_names_it(target: str) -> None:
    with tf.Graph().as_default():
        with tf.device(PS):
            v = tf.Variable(7, name="absent", use_resource=False)
        with tf.Session(target) as sess:
            for fetch in (v, v + 1):
                with pytest.raises(tf.errors.FailedPreconditionError) as raised:
                    sess.run(fetch)
                assert raised.value.op is not None
                assert raised.value.op.name.startswith("absent")
