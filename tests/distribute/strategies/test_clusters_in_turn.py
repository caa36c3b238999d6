"""A process that is in one cluster after the other; the other tasks are new each time.

The other worker is a thread of its own, which counts keys as a process of its own does.
"""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

import tensorloom as tf
from tests.cluster.clusters import free_ports

pytestmark = pytest.mark.timeout(120)

Kind = tf.distribute.experimental.MultiWorkerMirroredStrategy


def train(addresses: list[str], index: int, patch: pytest.MonkeyPatch) -> list[Any]:
    """What a worker has after some steps: two variables."""
    cluster = {"worker": addresses}
    task = {"type": "worker", "index": index}
    with tf.Graph().as_default():
        with _environment:
            patch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": task}))
            strategy = Kind()
        config = strategy.update_config_proto(tf.ConfigProto())
        server = tf.train.Server(cluster, "worker", index, config=config)

        def step() -> Any:
            loss = tf.square(tf.get_variable("a", initializer=1.0) - 3.0)
            # Too large for the bucket of the first.
            many = tf.get_variable("b", initializer=tf.ones([2 << 20]))
            loss += tf.reduce_sum(many) * float(index)
            optimizer = tf.train.GradientDescentOptimizer(0.25)
            return optimizer.minimize(loss, tf.train.get_or_create_global_step())

        with strategy.scope():
            trained = tf.group(strategy.unwrap(strategy.experimental_run_v2(step)))
            found = [tf.global_variables()[0], tf.global_variables()[1][0]]
        try:
            with tf.Session(server.target, config=config) as session:
                session.run(tf.global_variables_initializer())
                for _ in range(2):
                    session.run(trained)
                return [float(one) for one in session.run(found)]
        finally:
            server.stop()


_environment = threading.Lock()


@pytest.mark.parametrize("is_elsewhere", [True, False])
def test_the_next_cluster_begins_anew(
    monkeypatch: pytest.MonkeyPatch, is_elsewhere: bool
) -> None:
    """At other addresses, and at those of the first, whose servers have stopped."""
    addresses = [f"localhost:{port}" for port in free_ports(2)]
    found = []
    for _ in range(2):
        other: list[Any] = []
        thread = threading.Thread(
            target=lambda at=addresses, to=other: to.append(train(at, 1, monkeypatch))
        )
        thread.start()
        found.append(train(addresses, 0, monkeypatch))
        thread.join()
        assert other == found[-1:]
        if is_elsewhere:
            addresses = [f"localhost:{port}" for port in free_ports(2)]
    assert found == [found[0]] * 2


def test_clusters_are_counted_alone() -> None:
    """And strategies of one cluster together, as TensorFlow counts them."""
    from tensorloom.distribute.reduction.collective import CollectiveKeys
    from tensorloom.framework.collective import op_keys

    here = op_keys.ClusterPlace("a:1", "first")
    there = op_keys.ClusterPlace("b:1", "second")
    first, again, second = (CollectiveKeys(place=p) for p in (here, here, there))
    keys = [one.get_op_instance_key() for one in (first, second, again, first)]
    assert keys == [100, 100, 101, 102]
    op_keys.leave("a:1")
    assert [one.get_op_instance_key() for one in (again, second)] == [100, 101]
