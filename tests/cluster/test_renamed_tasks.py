"""Sessions whose clients give servers the names of tasks in a cluster of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import tensorloom as tf
from tests.cluster.clusters import free_ports, over_the_network
from tests.cluster.processes import eventually


@pytest.fixture(scope="module")
def servers() -> Iterator[list[Any]]:
    running = [tf.train.Server.create_local_server() for _ in range(2)]
    yield running
    for server in running:
        server.stop()


def address(server: Any) -> str:
    return str(server.target).removeprefix("grpc://")


def config_of(*servers: Any, job: str = "named", shares: bool = False) -> Any:
    cluster = tf.train.ClusterSpec({job: [address(server) for server in servers]})
    config = tf.ConfigProto(cluster_def=cluster.as_cluster_def())
    config.experimental.share_session_state_in_clusterspec_propagation = shares
    return config


@pytest.fixture(params=["in process", "over the network"])
def way(request: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """How the client reaches the first server."""
    if request.param == "over the network":
        over_the_network(monkeypatch)
    return str(request.param)


def variable_graph(task: str) -> tuple[tf.Graph, Any, Any, Any]:
    with tf.Graph().as_default() as graph, tf.device(task):
        v = tf.get_variable("v", initializer=1.0, use_resource=True)
        return graph, v.initializer, v.assign_add(1.0), v.read_value()


def test_a_step_over_tasks_of_other_names(servers: list[Any], way: str) -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2])
        with tf.device("/job:named/task:1"):
            y = x * 2.0
        with tf.device("/job:named/task:0"):
            z = y + 1.0
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    metadata = tf.RunMetadata()
    with tf.Session(servers[0].target, graph, config_of(*servers)) as session:
        found = session.run(z, {x: [1.0, 2.0]}, options, metadata)
        names = {device.name for device in session.list_devices()}
    assert found.tolist() == [3.0, 5.0]
    tasks = [f"/job:named/replica:0/task:{i}/device:CPU:0" for i in range(2)]
    assert names == set(tasks)
    assert {d.device for d in metadata.step_stats.dev_stats} == set(tasks)


def test_the_tasks_end_with_their_session(servers: list[Any], way: str) -> None:
    graph, initializer, _, read = variable_graph("/job:named/task:1")
    with tf.Session(servers[0].target, graph, config_of(*servers)) as session:
        session.run(initializer)
        part = session.partial_run_setup([read], [])
        assert session.partial_run(part, read) == 1.0
        started = [task for server in servers for task in server._session_tasks]
        assert not all(task.is_stopped for task in started)
    eventually(lambda: all(task.is_stopped for task in started))
    with tf.Graph().as_default(), tf.Session(servers[1].target) as session:
        assert session.run(tf.constant(1)) == 1  # the servers go on


def test_variables_are_the_session_s_own_unless_it_says_so(servers: list[Any]) -> None:
    graph, initializer, add, read = variable_graph("/job:named/task:1")
    target = servers[0].target
    with (
        tf.Session(target, graph, config_of(*servers)) as first,
        tf.Session(target, graph, config_of(*servers)) as second,
    ):
        first.run(initializer)
        assert first.run(add) == 2.0
        with pytest.raises(tf.errors.FailedPreconditionError):
            second.run(read)
        second.run(initializer)
        assert (first.run(read), second.run(read)) == (2.0, 1.0)
    sharing = config_of(*servers, shares=True)
    with tf.Session(target, graph, sharing) as session:
        session.run(initializer)
        session.run(add)
    with tf.Session(target, graph, sharing) as session:
        assert session.run(read) == 2.0
    # Whoever uses the server itself sees them, too.
    graph, _, _, read = variable_graph("/job:local/task:0")
    with tf.Session(servers[1].target, graph) as session:
        assert session.run(read) == 2.0


def test_other_roles_in_two_sessions(servers: list[Any]) -> None:
    with tf.Graph().as_default() as graph:
        with tf.device("/job:a/task:0"):
            x = tf.constant([1.0, 2.0])
        with tf.device("/job:b/task:0"):
            y = tf.reduce_sum(x)
    cluster = {"a": [address(servers[0])], "b": [address(servers[1])]}
    for roles in (cluster, {"a": cluster["b"], "b": cluster["a"]}):
        spec = tf.train.ClusterSpec(roles).as_cluster_def()
        config = tf.ConfigProto(cluster_def=spec)
        with tf.Session(servers[0].target, graph, config) as session:
            assert session.run(y) == 3.0


def test_a_server_that_is_no_task_or_several(servers: list[Any]) -> None:
    first, second = servers
    for config, message in (
        (config_of(second), "not in the session's cluster_def"),
        (config_of(first, first), "is several tasks"),
    ):
        with (
            tf.Graph().as_default(),
            tf.Session(first.target, config=config) as session,
            pytest.raises(tf.errors.InvalidArgumentError, match=message),
        ):
            session.run(tf.constant(1))


def test_a_server_that_does_not_run_all_ops_starts_no_tasks(servers: list[Any]) -> None:
    closed = tf.train.Server({"local": ["localhost:0"]}, deny_ops=["ReadFile"])
    try:
        for target in (closed, servers[0]):
            config = config_of(target, closed if target is not closed else servers[1])
            with (
                tf.Graph().as_default(),
                tf.Session(target.target, config=config) as session,
                pytest.raises(tf.errors.PermissionDeniedError),
            ):
                session.run(tf.constant(1))
    finally:
        closed.stop()
    assert all(task.is_stopped for task in servers[0]._session_tasks)


@pytest.fixture(scope="module")
def jobs() -> Iterator[list[Any]]:
    """Three tasks of one job."""
    ports = free_ports(3)
    spec = {"local": [f"localhost:{port}" for port in ports]}
    running = [tf.train.Server(spec, "local", index) for index in range(3)]
    yield running
    for server in running:
        server.stop()


def _doubled(server: Any, cluster: dict[str, Any], **options: Any) -> tuple[Any, Any]:
    """A step over /job:other and /job:local, and the session's tasks."""
    config = tf.ConfigProto(operation_timeout_in_ms=8000, **options)
    config.cluster_def.CopyFrom(tf.train.ClusterSpec(cluster).as_cluster_def())
    with tf.Graph().as_default() as graph:
        with tf.device("/job:other/task:0"):
            a = tf.placeholder(tf.float32, []) + 1.0
        with tf.device("/job:local/task:0"):
            b = a * 2.0
    with tf.Session(server.target, graph, config) as session:
        tasks = {
            device.name.partition("/device")[0] for device in session.list_devices()
        }
        return session.run(b, {a.op.inputs[0]: 3.0}), tasks


def test_a_master_may_keep_its_name_while_another_task_gets_one(
    jobs: list[Any],
) -> None:
    a, b, c = map(address, jobs)
    result, tasks = _doubled(jobs[0], {"local": {0: a}, "other": {0: b}})
    assert result == 8.0
    assert tasks == {"/job:local/replica:0/task:0", "/job:other/replica:0/task:0"}
    # What the filters leave out is not started, nor has it to be there.
    absent = f"localhost:{free_ports(1)[0]}"
    filters = ["/job:local", "/job:other/task:0"]
    cluster = {"local": {0: a}, "other": {0: b, 1: absent}}
    assert _doubled(jobs[0], cluster, device_filters=filters)[0] == 8.0
    # Two tasks may change their names.
    result, tasks = _doubled(jobs[0], {"local": {0: b, 1: a}, "other": {0: c}})
    assert result == 8.0
    assert len(tasks) == 3
