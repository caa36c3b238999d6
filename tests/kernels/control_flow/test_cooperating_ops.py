"""Ops by which devices or steps work together: collectives, batches, queues."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

_GROUP = {"group_key": 1, "instance_key": 2}
_TWO = [[1.0, 2.0], [3.0, 6.0]]
COLLECTIVES: dict[str, tuple[str, dict[str, Any], list[list[float]]]] = {
    "mean": (
        "CollectiveReduce",
        {"merge_op": "Add", "final_op": "Div", "subdiv_offsets": [0]},
        [[2.0, 4.0]] * 2,
    ),
    "maximum": (
        "CollectiveReduceV2",
        {"merge_op": "Max", "final_op": "Id", "ordering_token": []},
        [[3.0, 6.0]] * 2,
    ),
    "gather": ("CollectiveGather", {"shape": [4]}, [[1.0, 2.0, 3.0, 6.0]] * 2),
    "gather 2": (
        "CollectiveGatherV2",
        {"ordering_token": []},
        [[1.0, 2.0, 3.0, 6.0]] * 2,
    ),
    "all to all": (
        "CollectiveAllToAllV2",
        {"ordering_token": []},
        [[1.0, 3.0], [2.0, 6.0]],
    ),
    "reduce scatter": (
        "CollectiveReduceScatterV2",
        {"merge_op": "Mul", "final_op": "Id", "ordering_token": []},
        [[3.0], [12.0]],
    ),
}


def _session() -> Any:
    return tf.Session(config=tf.ConfigProto(device_count={"CPU": 2}))


@pytest.mark.parametrize("name", COLLECTIVES)
def test_collectives_of_two_devices(name: str) -> None:
    op, attrs, expected = COLLECTIVES[name]
    with tf.Graph().as_default(), _session() as session:
        members = []
        for i, value in enumerate(_TWO):
            with tf.device(f"/cpu:{i}"):
                make = getattr(tf.raw_ops, op)
                members.append(make(input=value, group_size=2, **_GROUP, **attrs))
        for _ in range(2):
            np.testing.assert_array_equal(session.run(members), expected)


def test_broadcast_and_a_member_that_never_comes() -> None:
    with tf.Graph().as_default(), _session() as session:
        group = {"group_size": 2, "shape": [1], **_GROUP}
        with tf.device("/cpu:0"):
            send = tf.raw_ops.CollectiveBcastSend(input=[5.0], **group)
        with tf.device("/cpu:1"):
            receive = tf.raw_ops.CollectiveBcastRecv(T=tf.float32, **group)
        np.testing.assert_array_equal(session.run([send, receive]), [[5.0], [5.0]])
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(send, options=tf.RunOptions(timeout_in_ms=20))


def _group(size: int = 2, **attrs: Any) -> dict[str, Any]:
    return {"group_size": size, **_GROUP, **attrs}


_SUM = {"merge_op": "Add", "final_op": "Id", "subdiv_offsets": [0]}
_REDUCE = ("CollectiveReduce", [1.0, 2.0], _group(**_SUM))
_SEND = ("CollectiveBcastSend", [1.0, 2.0], _group(shape=[2]))
_RECEIVE = ("CollectiveBcastRecv", None, _group(T=tf.float32, shape=[2]))
# For each member: (op, what it gives, attrs); and what all of them get.
DISAGREEMENTS: dict[str, tuple[list[tuple[str, Any, dict[str, Any]]], str]] = {
    "sizes of the group": (
        [_REDUCE, ("CollectiveReduce", [1.0, 2.0], _group(3, **_SUM))],
        "InternalError",
    ),
    "another collective": (
        [_REDUCE, ("CollectiveGather", [1.0, 2.0], _group(shape=[4]))],
        "InternalError",
    ),
    "dtypes": (
        [_REDUCE, ("CollectiveReduce", [1, 2], _group(**_SUM))],
        "InternalError",
    ),
    "shapes": (
        [_REDUCE, ("CollectiveReduce", [1.0], _group(**_SUM))],
        "InvalidArgumentError",
    ),
    "shapes of a gathering": (
        [
            ("CollectiveGather", [1.0, 2.0], _group(shape=[4])),
            ("CollectiveGather", [1.0], _group(shape=[2])),
        ],
        "InvalidArgumentError",
    ),
    "one member too many": ([_REDUCE] * 3, "InternalError"),
    "two senders": ([_SEND] * 2, "InternalError"),
    "no sender": ([_RECEIVE] * 2, "InternalError"),
    "shapes of a broadcast": (
        [_SEND, ("CollectiveBcastRecv", None, _group(T=tf.float32, shape=[3]))],
        "InvalidArgumentError",
    ),
    "dtypes of a broadcast": (
        [_SEND, ("CollectiveBcastRecv", None, _group(T=tf.int32, shape=[2]))],
        "InternalError",
    ),
    "a shape and its value": (
        [("CollectiveBcastSend", [1.0, 2.0], _group(shape=[3]))] * 2,
        "InternalError",
    ),
}


@pytest.mark.parametrize("name", DISAGREEMENTS)
def test_members_that_disagree_do_not_wait(name: str) -> None:
    rows, error = DISAGREEMENTS[name]
    config = tf.ConfigProto(device_count={"CPU": 3})
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        members = []
        for i, (op, value, attrs) in enumerate(rows):
            given = {} if value is None else {"input": value}
            with tf.device(f"/cpu:{i}"):
                members.append(getattr(tf.raw_ops, op)(**given, **attrs))
        with pytest.raises(getattr(tf.errors, error)):
            session.run(members)


def test_a_collective_in_a_loop_meets_once_an_iteration() -> None:
    def body(n: Any, total: Any) -> Any:
        value = tf.cast(tf.stack([n, n + 1]), tf.float32)
        both = tf.raw_ops.CollectiveReduce(input=value, **_group(**_SUM))
        return n + 1, total + both

    with tf.Graph().as_default(), _session() as session:
        sums = []
        for i in range(2):
            with tf.device(f"/cpu:{i}"):
                start = [tf.constant(0), tf.zeros([2])]
                sums.append(tf.while_loop(lambda n, _: n < 4, body, start)[1])
        np.testing.assert_array_equal(session.run(sums), [[12.0, 20.0]] * 2)


def test_assigned_groups() -> None:
    groups = [[0, 2], [1, 3]]
    with tf.Graph().as_default(), tf.Session() as session:
        assign = tf.raw_ops.CollectiveAssignGroupV2
        of_three = assign(group_assignment=groups, device_index=3, base_key=10)
        nowhere = assign(group_assignment=groups, device_index=7, base_key=10)
        assert tuple(session.run(of_three)) == (2, 11)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(nowhere)


def _run_together(session: Any, fetch: Any, feeds: list[Any]) -> dict[int, Any]:
    results: dict[int, Any] = {}

    def run(i: int) -> None:
        results[i] = session.run(fetch, feeds[i])

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(feeds))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_steps_share_a_batch() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None])
        factor = tf.constant(3.0)

        # It waits long, but no longer than until it is full.
        @tf.nondifferentiable_batch_function(1, 6, 60_000_000)
        def triple(rows: Any) -> Any:
            return rows * factor, tf.fill([tf.shape(rows)[0]], tf.shape(rows)[0])

        feeds = [{x: [float(i)] * (i + 1)} for i in range(3)]
        results = _run_together(session, triple(x), feeds)
    for i in range(3):
        np.testing.assert_array_equal(results[i][0], [3.0 * i] * (i + 1))
        np.testing.assert_array_equal(results[i][1], [6] * (i + 1))


def test_batches_are_filled_up_and_refused() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None])

        @tf.nondifferentiable_batch_function(1, 4, 100, allowed_batch_sizes=[3, 4])
        def sizes(rows: Any) -> Any:
            return tf.fill([tf.shape(rows)[0]], tf.shape(rows)[0])

        size = sizes(x)
        assert session.run(size, {x: [1.0]})[0].tolist() == [3]
        with pytest.raises(tf.errors.InvalidArgumentError, match="larger than"):
            session.run(size, {x: [1.0] * 5})


def test_batch_and_unbatch() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None])
        joined = tf.raw_ops.Batch(
            in_tensors=[x],
            num_batch_threads=1,
            max_batch_size=4,
            batch_timeout_micros=5_000_000,
            grad_timeout_micros=0,
        )
        own = tf.raw_ops.Unbatch(
            batched_tensor=joined.batched_tensors[0] * 2,
            batch_index=joined.batch_index,
            id=joined.id,
            timeout_micros=5_000_000,
        )
        results = _run_together(session, own, [{x: [1.0, 2.0]}, {x: [3.0, 4.0]}])
    np.testing.assert_array_equal(results[0], [2.0, 4.0])
    np.testing.assert_array_equal(results[1], [6.0, 8.0])


@pytest.mark.parametrize("kind", ["FIFOQueue", "RandomShuffleQueue"])
def test_queues_behind_references(kind: str) -> None:
    ops = tf.raw_ops
    with tf.Graph().as_default(), tf.Session() as session:
        queue = getattr(ops, kind)(component_types=[tf.float32], shapes=[[]])
        session.run(ops.QueueEnqueueMany(handle=queue, components=[[4.0, 5.0, 6.0]]))
        assert session.run(ops.QueueSize(handle=queue)) == 3
        one = ops.QueueDequeue(handle=queue, component_types=[tf.float32])
        many = ops.QueueDequeueMany(handle=queue, n=2, component_types=[tf.float32])
        taken = [*session.run(one), *session.run(many)[0]]
        assert sorted(taken) == [4.0, 5.0, 6.0]
        session.run(ops.QueueClose(handle=queue))
        assert session.run(ops.QueueIsClosed(handle=queue))
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(one)


def test_one_critical_section_at_a_time() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(0.0, use_resource=True)
        section = tf.CriticalSection(name="section")

        def count() -> Any:
            before = tf.identity(v.read_value())
            with tf.control_dependencies([before]):
                added = v.assign_add(1.0, read_value=False)
            with tf.control_dependencies([added]):
                return tf.identity(before)

        counts = [section.execute(count) for _ in range(6)]
        session.run(v.initializer)
        assert sorted(session.run(counts)) == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
        with pytest.raises(ValueError, match="exclusive resource access"):
            tf.CriticalSection().execute(lambda: v.read_value())


def test_synchronous_replicas() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.train.get_or_create_global_step()
        v = tf.Variable([1.0, 2.0])
        optimizer = tf.train.SyncReplicasOptimizer(
            tf.train.GradientDescentOptimizer(0.25), replicas_to_aggregate=1
        )
        train = optimizer.minimize(tf.reduce_sum(v * v), global_step=step)
        session.run(tf.global_variables_initializer())
        session.run(optimizer.chief_init_op)
        # The only token is that of the update, so running waits for it.
        runner = optimizer.get_chief_queue_runner()
        coordinator = tf.train.Coordinator()
        threads = runner.create_threads(session, coord=coordinator, start=True)
        assert session.run(train) == 1
        value, number = session.run([v, step])
        coordinator.request_stop()
        session.close()
        coordinator.join(threads, stop_grace_period_secs=10)
    assert number == 1
    np.testing.assert_allclose(value, [0.5, 1.0])
