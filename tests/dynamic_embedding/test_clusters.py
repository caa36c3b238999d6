"""Embedding variables on parameter servers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
import tensorloom.dynamic_embedding as de
from tests.cluster.clusters import cluster_over

pytestmark = pytest.mark.slow

KEYS = 40


@pytest.fixture
def servers() -> Iterator[dict[str, list[Any]]]:
    with cluster_over("sockets", ps=2, worker=2) as running:
        yield running


class Replica:
    """A worker's graph: each key's row is to become the key."""

    def __init__(self, servers: Any, index: int, replicas: int = 0) -> None:
        self.graph = tf.Graph()
        cluster = tf.train.ClusterSpec(servers["worker"][0].server_def.cluster)
        device = tf.train.replica_device_setter(
            cluster=cluster, worker_device=f"/job:worker/task:{index}"
        )
        with self.graph.as_default(), tf.device(device):
            step = tf.train.get_or_create_global_step()
            self.table = de.get_variable(
                "table",
                dim=2,
                partitioner=tf.fixed_size_partitioner(2),
                initializer=0.0,
                evict_option=de.GlobalStepEvict(10_000),
            )
            self.ids = tf.placeholder(tf.int64, [None])
            rows = tf.nn.embedding_lookup(self.table, self.ids)
            wanted = tf.cast(self.ids, tf.float32)[:, None]
            self.loss = tf.reduce_sum(tf.square(rows - wanted))
            optimizer: Any = tf.train.GradientDescentOptimizer(0.03)
            self.hooks = []
            if replicas:
                optimizer = tf.train.AdagradOptimizer(1.0)
                optimizer = tf.train.SyncReplicasOptimizer(optimizer, replicas)
                self.train = optimizer.minimize(self.loss, step)
                self.hooks.append(optimizer.make_session_run_hook(index == 0, 0))
            else:
                self.train = optimizer.minimize(self.loss, step)
            self.rows = self.table.lookup(np.arange(KEYS))
            self.size = self.table.size()
            self.saver = tf.train.Saver(sharded=True)
            self.init = tf.global_variables_initializer()
        self.target = servers["worker"][index].target


def test_workers_train_rows_on_two_servers(servers: Any, tmp_path: Path) -> None:
    replicas = [Replica(servers, i) for i in range(2)]
    devices = [shard.device for shard in replicas[0].table.shards]
    assert sorted(devices) == ["/job:ps/task:0", "/job:ps/task:1"]
    chief = tf.Session(replicas[0].target, graph=replicas[0].graph)
    with chief:
        chief.run(replicas[0].init)
        failures: list[BaseException] = []

        def work(replica: Replica) -> None:
            random = np.random.RandomState(0)
            try:
                with tf.Session(replica.target, graph=replica.graph) as sess:
                    for _ in range(60):
                        keys = random.randint(0, KEYS, 32)
                        sess.run(replica.train, {replica.ids: keys})
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(r,)) for r in replicas]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        rows, size = chief.run([replicas[0].rows, replicas[0].size])
        assert size == KEYS
        assert np.abs(rows - np.arange(KEYS)[:, None]).max() < 5.0
        path = replicas[0].saver.save(chief, str(tmp_path / "model"))
    # The same rows in one process, in one shard.
    with tf.Graph().as_default(), tf.Session() as sess:
        table = de.get_variable("table", dim=2, initializer=0.0)
        tf.train.Saver().restore(sess, path)
        np.testing.assert_array_equal(sess.run(table.lookup(np.arange(KEYS))), rows)


def test_synchronous_replicas_sum_up_slices_by_key(servers: Any) -> None:
    replicas = [Replica(servers, i, replicas=2) for i in range(2)]
    sessions: list[Any] = [None, None]

    def work(index: int) -> None:
        replica = replicas[index]
        with (
            replica.graph.as_default(),
            tf.train.MonitoredTrainingSession(
                replica.target, is_chief=index == 0, hooks=replica.hooks
            ) as sess,
        ):
            for key in (3, 5):
                # Both keys in both replicas: their mean is of each.
                sess.run(replica.train, {replica.ids: [key, key + 20 * index]})
            sessions[index] = sess.run(replica.rows)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    changed = np.flatnonzero(np.abs(sessions[0]).sum(1))
    assert set(changed) <= {3, 5, 23, 25}
    assert {3, 5} <= set(changed)
