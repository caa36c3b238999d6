"""Training with parameter servers: between-graph and in-graph, at each one's pace."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tests.cluster.clusters import cluster_over, free_ports

pytestmark = pytest.mark.slow

Servers = dict[str, list[Any]]
TRUTH = np.arange(4, dtype=np.float32)[:, None]


@pytest.fixture(params=["sockets", "grpc"])
def servers(request: Any) -> Iterator[Servers]:
    with cluster_over(request.param, ps=2, worker=2) as running:
        yield running


def spec_of(servers: Servers) -> Any:
    return tf.train.ClusterSpec(servers["worker"][0].server_def.cluster)


def batches(seed: int) -> Iterator[tuple[Any, Any]]:
    random = np.random.RandomState(seed)
    while True:
        x = random.rand(16, 4).astype(np.float32)
        yield x, x @ TRUTH


def filters(index: int) -> Any:
    return tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{index}"])


class Replica:
    """A worker's graph: a linear model whose variables are on parameter servers."""

    def __init__(
        self,
        servers: Servers,
        index: int,
        optimizer: Callable[[], Any],
        **variable: Any,
    ) -> None:
        self.graph = tf.Graph()
        self.index = index
        device = tf.train.replica_device_setter(
            cluster=spec_of(servers), worker_device=f"/job:worker/task:{index}"
        )
        with self.graph.as_default(), tf.device(device):
            self.x = tf.placeholder(tf.float32, [None, 4])
            self.y = tf.placeholder(tf.float32, [None, 1])
            self.w = tf.get_variable(
                "w", [4, 1], initializer=tf.zeros_initializer(), **variable
            )
            self.step = tf.train.get_or_create_global_step()
            weights = tf.convert_to_tensor(self.w)
            self.loss = tf.reduce_mean(tf.square(tf.matmul(self.x, weights) - self.y))
            self.weights = tf.identity(weights)
            self.optimizer = optimizer()
            self.train = self.optimizer.minimize(self.loss, global_step=self.step)
            self.extend()
            self.init = tf.global_variables_initializer()
            self.missing = tf.report_uninitialized_variables(tf.global_variables())
        self.session = tf.Session(
            servers["worker"][index].target, graph=self.graph, config=filters(index)
        )

    def extend(self) -> None:
        """For operations beyond training."""

    def start(self) -> None:
        """The chief initializes the variables; the others wait for that."""
        if self.index == 0:
            self.session.run(self.init)
        while len(self.session.run(self.missing)):
            time.sleep(0.02)

    def fit(self, steps: int, before: Callable[[], Any] | None = None) -> float:
        """Trains; returns the last loss."""
        loss = 0.0
        for _, (x, y) in zip(range(steps), batches(self.index), strict=False):
            if before is not None:
                before()
            feed = {self.x: x, self.y: y}
            loss, _ = self.session.run([self.loss, self.train], feed)
        return loss


def in_parallel(*tasks: Callable[[], Any]) -> list[Any]:
    """Runs the tasks in threads; returns what they give, or raises."""
    results: list[Any] = [None] * len(tasks)
    errors: list[BaseException] = []

    def run(index: int) -> None:
        try:
            results[index] = tasks[index]()
        except BaseException as error:
            errors.append(error)

    threads = [
        threading.Thread(target=run, args=(i,), daemon=True) for i in range(len(tasks))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive() or errors, "a task hangs"
    if errors:
        raise errors[0]
    return results


def train_all(replicas: list[Any], steps: int, in_step: bool = False) -> list[float]:
    """Trains all at once; `in_step` lets none begin a step before the others do."""
    barrier = threading.Barrier(len(replicas), timeout=60)

    def work(replica: Any) -> float:
        replica.start()
        wait = barrier.wait if in_step else None
        loss: float = replica.fit(steps, wait)
        return loss

    return in_parallel(*[lambda r=r: work(r) for r in replicas])  # type: ignore[misc]


@pytest.mark.parametrize(
    "variable",
    [
        {},
        {"use_resource": True},
        {"partitioner": tf.fixed_size_partitioner(2)},
        {"partitioner": tf.fixed_size_partitioner(3), "use_resource": True},
    ],
    ids=["reference", "resource", "partitioned", "partitioned resource"],
)
def test_asynchronous_training(servers: Servers, variable: dict[str, Any]) -> None:
    def optimizer() -> Any:
        return tf.train.AdamOptimizer(0.05)

    replicas = [Replica(servers, i, optimizer, **variable) for i in range(2)]
    losses = train_all(replicas, 150)
    assert max(losses) < 0.05
    # Nobody's update is lost: the counter is added to where it lives.
    assert replicas[0].session.run(replicas[0].step) == 300
    # Both see the same variables.
    both = [r.session.run(r.weights) for r in replicas]
    assert np.array_equal(*both)
    assert np.allclose(both[0], TRUTH, atol=0.5)


def test_variables_are_spread(servers: Servers) -> None:
    """Parts of a variable, and its slots with it, are on both parameter servers."""
    replica = Replica(
        servers,
        0,
        lambda: tf.train.AdamOptimizer(0.1),
        partitioner=tf.fixed_size_partitioner(2),
    )
    devices = {v.op.name: v.device for v in replica.graph.get_collection("variables")}
    assert devices["w/part_0"] == "/job:ps/task:0"
    assert devices["w/part_1"] == "/job:ps/task:1"
    assert devices["w/part_1/Adam"] == "/job:ps/task:1"
    replica.start()
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    x, y = next(batches(0))
    feed = {replica.x: x, replica.y: y}
    replica.session.run(replica.train, feed, options, metadata)
    updates = {
        node.node_name.split(":")[0]: device.device
        for device in metadata.step_stats.dev_stats
        for node in device.node_stats
    }
    for part in range(2):
        assert (
            f"/job:ps/replica:0/task:{part}/"
            in updates[f"Adam/update_w/part_{part}/ApplyAdam"]
        )


def test_greedy_strategy_balances(servers: Servers) -> None:
    strategy = tf.contrib.training.GreedyLoadBalancingStrategy(
        2, tf.contrib.training.byte_size_load_fn
    )
    device = tf.train.replica_device_setter(
        cluster=spec_of(servers),
        worker_device="/job:worker/task:0",
        ps_strategy=strategy,
    )
    with tf.Graph().as_default() as graph, tf.device(device):
        sizes = (1000, 10, 10, 10)
        variables = [
            tf.get_variable(f"v{i}", [size], initializer=tf.ones_initializer())
            for i, size in enumerate(sizes)
        ]
        total = tf.add_n([tf.reduce_sum(v) for v in variables])
        init = tf.global_variables_initializer()
        assert [v.device[-1] for v in variables] == ["0", "1", "1", "1"]
    with tf.Session(servers["worker"][0].target, graph=graph) as sess:
        sess.run(init)
        assert sess.run(total) == sum(sizes)


class SyncReplica(Replica):
    """A replica of synchronous training; the chief runs the updates."""

    def __init__(
        self, servers: Servers, index: int, aggregate: int, total: int, **variable: Any
    ) -> None:
        def optimizer() -> Any:
            return tf.train.SyncReplicasOptimizer(
                tf.train.GradientDescentOptimizer(0.1), aggregate, total
            )

        self.coordinator = tf.train.Coordinator()
        super().__init__(servers, index, optimizer, **variable)

    def extend(self) -> None:
        self.runner = self.optimizer.get_chief_queue_runner()
        self.tokens = self.optimizer.get_init_tokens_op(0)

    def start(self) -> None:
        super().start()
        optimizer = self.optimizer
        if self.index:
            self.session.run(optimizer.local_step_init_op)
            return
        self.session.run(optimizer.chief_init_op)
        self.threads = self.runner.create_threads(
            self.session, coord=self.coordinator, daemon=True, start=True
        )
        self.session.run(self.tokens)

    def wait_for_step(self, step: int) -> None:
        """Waits until the chief has made that many updates."""
        deadline = time.monotonic() + 60
        while self.session.run(self.step) < step:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def stop(self) -> None:
        """Ends the chief's queue runner, which waits for gradients."""
        self.coordinator.request_stop()
        self.session.close()
        for thread in self.threads:
            thread.join(60)
            assert not thread.is_alive()


@pytest.mark.parametrize("use_resource", [False, True])
def test_synchronous_training(servers: Servers, use_resource: bool) -> None:
    replicas = [
        SyncReplica(servers, i, 2, 2, use_resource=use_resource) for i in range(2)
    ]
    # A replica that leaves lets the others wait for its gradients, in TensorFlow too;
    # and a fast one may take two tokens. So they keep step here.
    losses = train_all(replicas, 60, in_step=True)
    assert max(losses) < 0.3
    # One update for both replicas' gradients; none is dropped without spare tokens.
    assert replicas[0].session.run(replicas[0].step) == 60
    replicas[0].stop()


def test_synchronous_update_is_the_mean(servers: Servers) -> None:
    replicas = [SyncReplica(servers, i, 2, 2) for i in range(2)]
    chief = replicas[0]
    for replica in replicas:
        replica.start()
    x = np.eye(4, dtype=np.float32)
    targets = [np.full([4, 1], 8.0, np.float32), np.full([4, 1], 24.0, np.float32)]
    in_parallel(
        *[
            lambda r=r, y=y: r.session.run(r.train, {r.x: x, r.y: y})  # type: ignore[misc]
            for r, y in zip(replicas, targets, strict=True)
        ]
    )
    chief.wait_for_step(1)
    # d loss / d w = 2/4 (w - y); the mean over both replicas at w = 0 is -8.
    assert np.allclose(chief.session.run(chief.weights), 0.1 * 8.0)
    chief.stop()


def test_backup_worker_and_stale_gradients(servers: Servers) -> None:
    """One gradient makes an update; the other replica's, being late, is dropped."""
    replicas = [SyncReplica(servers, i, 1, 2) for i in range(2)]
    chief, backup = replicas
    for replica in replicas:
        replica.start()
    for expected in range(1, 6):
        chief.fit(1)
        chief.wait_for_step(expected)
        # Each update gives a token to both; this one is the other replica's.
        chief.session.run(chief.optimizer._token_queue.dequeue())
    before = chief.session.run(chief.weights)
    assert backup.session.run(backup.optimizer._local_step) == 0
    handed = threading.Thread(target=backup.fit, args=(1,), daemon=True)
    handed.start()
    time.sleep(0.3)
    # Dropped: no update, and so no token for the replica that gave it.
    assert handed.is_alive()
    assert chief.session.run(chief.step) == 5
    assert np.array_equal(chief.session.run(chief.weights), before)
    chief.fit(1)
    handed.join(60)
    assert backup.session.run(backup.optimizer._local_step) == 6
    backup.fit(1)
    chief.wait_for_step(7)  # up to date, its gradient counts
    chief.stop()


def test_synchronous_embeddings(servers: Servers) -> None:
    """Sparse gradients meet in sparse accumulators on the parameter servers."""
    graphs = []
    for index in range(2):
        device = tf.train.replica_device_setter(
            cluster=spec_of(servers), worker_device=f"/job:worker/task:{index}"
        )
        with tf.Graph().as_default() as graph, tf.device(device):
            step = tf.train.get_or_create_global_step()
            table = tf.get_variable("table", [5, 2], initializer=tf.ones_initializer())
            ids = tf.placeholder(tf.int64, [None])
            loss = tf.reduce_sum(tf.nn.embedding_lookup(table, ids))
            optimizer = tf.train.SyncReplicasOptimizer(
                tf.train.GradientDescentOptimizer(0.5), 2
            )
            train = optimizer.minimize(loss, global_step=step)
            runner = optimizer.get_chief_queue_runner()
            tokens = optimizer.get_init_tokens_op()
            init = tf.global_variables_initializer()
        sess = tf.Session(servers["worker"][index].target, graph=graph)
        if index == 0:
            sess.run(init)
            sess.run(optimizer.chief_init_op)
            coordinator = tf.train.Coordinator()
            threads = runner.create_threads(sess, coordinator, True, True)
            sess.run(tokens)
        else:
            sess.run(optimizer.local_step_init_op)
        graphs.append((sess, train, ids, step, table))
    in_parallel(
        *[
            lambda g=g, i=i: g[0].run(g[1], {g[2]: i})  # type: ignore[misc]
            for g, i in zip(graphs, ([0, 1], [1, 4]), strict=True)
        ]
    )
    sess, _, _, step, table = graphs[0]
    deadline = time.monotonic() + 60
    while sess.run(step) < 1:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    # A sparse accumulator divides each row by how many replicas gave it.
    assert sess.run(table)[:, 0].tolist() == [0.5, 0.5, 1.0, 1.0, 0.5]
    coordinator.request_stop()
    sess.close()
    for thread in threads:
        thread.join(60)


def test_in_graph_replication(servers: Servers) -> None:
    """One client's graph with a tower on each worker; the ps average and apply."""
    with tf.Graph().as_default() as graph:
        with tf.device("/job:ps/task:0"):
            w = tf.get_variable("w", [4, 1], initializer=tf.zeros_initializer())
        x = tf.placeholder(tf.float32, [32, 4])
        y = tf.placeholder(tf.float32, [32, 1])
        optimizer = tf.train.GradientDescentOptimizer(0.2)
        towers, losses = [], []
        parts = zip(tf.split(x, 2), tf.split(y, 2), strict=True)
        for index, (part_x, part_y) in enumerate(parts):
            with tf.device(f"/job:worker/task:{index}"):
                loss = tf.reduce_mean(tf.square(tf.matmul(part_x, w) - part_y))
                losses.append(loss)
                towers.append(optimizer.compute_gradients(loss, [w]))
        with tf.device("/job:ps/task:0"):
            mean = tf.add_n([pairs[0][0] for pairs in towers]) / 2.0
            train = optimizer.apply_gradients([(mean, w)])
        init = tf.global_variables_initializer()
    with tf.Session(servers["worker"][1].target, graph=graph) as sess:
        sess.run(init)
        random = np.random.RandomState(0)
        for _ in range(80):
            data = random.rand(32, 4).astype(np.float32)
            *found, _ = sess.run([*losses, train], {x: data, y: data @ TRUTH})
    assert max(found) < 0.2


@pytest.mark.parametrize("use_resource", [False, True])
def test_embeddings_on_two_servers(servers: Servers, use_resource: bool) -> None:
    """Lookups in a partitioned table; only the rows that were used change."""
    device = tf.train.replica_device_setter(
        cluster=spec_of(servers), worker_device="/job:worker/task:0"
    )
    with tf.Graph().as_default() as graph, tf.device(device):
        table = tf.get_variable(
            "table",
            [6, 2],
            initializer=tf.ones_initializer(),
            partitioner=tf.fixed_size_partitioner(2),
            use_resource=use_resource,
        )
        ids = tf.placeholder(tf.int64, [None])
        rows = tf.nn.embedding_lookup(table, ids, partition_strategy="div")
        optimizer = tf.train.AdagradOptimizer(0.5)
        train = optimizer.minimize(tf.reduce_sum(rows))
        whole = tf.convert_to_tensor(table)
        init = tf.global_variables_initializer()
    with tf.Session(servers["worker"][0].target, graph=graph) as sess:
        sess.run(init)
        sess.run(train, {ids: [0, 4, 4]})
        # Row 4 was used twice: its gradient is 2. The accumulators begin at 0.1.
        once, twice = 1 - 0.5 / 1.1**0.5, 1 - 0.5 * 2 / 4.1**0.5
        assert np.allclose(sess.run(whole)[:, 0], [once, 1, 1, 1, twice, 1])
        assert np.allclose(sess.run(rows, {ids: [4]}), [[twice, twice]])


@pytest.mark.parametrize("is_sharded", [False, True])
def test_checkpoint_of_a_cluster(
    servers: Servers, is_sharded: bool, tmp_path: Path
) -> None:
    replica = Replica(
        servers,
        0,
        lambda: tf.train.MomentumOptimizer(0.1, 0.9),
        partitioner=tf.fixed_size_partitioner(2),
    )
    with replica.graph.as_default():
        saver = tf.train.Saver(sharded=is_sharded)
    replica.start()
    replica.fit(5)
    sess = replica.session
    path = saver.save(sess, str(tmp_path / "model"), replica.step)
    kept = sess.run(replica.weights)
    replica.fit(5)
    assert not np.array_equal(sess.run(replica.weights), kept)
    saver.restore(sess, path)
    assert np.array_equal(sess.run(replica.weights), kept)
    assert sess.run(replica.step) == 5
    reader = tf.train.NewCheckpointReader(path)
    assert np.array_equal(reader.get_tensor("w"), kept)
    shards = sorted(p.name for p in tmp_path.glob("model-5.data*"))
    if is_sharded:
        assert len(shards) >= 2
    # Alone, without a cluster, it is the same checkpoint.
    with tf.Graph().as_default(), tf.Session() as alone:
        w = tf.get_variable("w", [4, 1])
        tf.train.Saver([w]).restore(alone, path)
        assert np.array_equal(alone.run(w), kept)


LOST = (tf.errors.AbortedError, tf.errors.UnavailableError)


def test_recovery_from_a_restarted_server(tmp_path: Path) -> None:
    """A program that tries again: new session, the last checkpoint, and on it goes."""
    ports = free_ports(2)
    spec = {"ps": [f"localhost:{ports[0]}"], "worker": [f"localhost:{ports[1]}"]}
    servers = {
        job: [tf.train.Server(spec, job_name=job, task_index=0)]
        for job in ("ps", "worker")
    }
    done, failures, restarts = 0, 0, iter((30, 55))
    next_restart = next(restarts)
    while done < 80:
        replica = Replica(servers, 0, lambda: tf.train.GradientDescentOptimizer(0.1))
        with replica.graph.as_default():
            saver = tf.train.Saver()
        try:
            latest = tf.train.latest_checkpoint(str(tmp_path))
            if latest is None:
                replica.start()
            else:
                saver.restore(replica.session, latest)
            while done < 80:
                replica.fit(1)
                done = int(replica.session.run(replica.step))
                if done % 10 == 0:
                    saver.save(replica.session, str(tmp_path / "model"), done)
                if done == next_restart:
                    next_restart = next(restarts, -1)
                    servers["ps"][0].stop()
                    servers["ps"][0] = tf.train.Server(spec, "ps", 0)
        except LOST:
            failures += 1
            done = -1
        finally:
            replica.session.close()
    assert failures == 2
    for (server,) in servers.values():
        server.stop()
