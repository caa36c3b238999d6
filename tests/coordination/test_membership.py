"""Tasks that join a job at a lock service, and who sees them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.cluster.membership import Membership
from tensorloom.coordination import open_coordinator, writers
from tensorloom.coordination.coordinator import LEASE_VARIABLE, VARIABLE
from tests.cluster.clusters import free_ports
from tests.cluster.processes import eventually

WAIT_S = 120.0
# Of sessions that are tried again and again, while a task is not there.
QUICK = tf.ConfigProto(operation_timeout_in_ms=2000)


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The service of this process's job."""
    url = f"file://{tmp_path}"
    monkeypatch.setenv(VARIABLE, url)
    monkeypatch.setenv(LEASE_VARIABLE, "60")
    yield url
    writers._close_all()


def test_a_resolver_sees_who_joins_and_leaves(url: str) -> None:
    resolver = tf.distribute.cluster_resolver.MembershipClusterResolver(
        task_type="worker", task_id=0, wait_for={"ps": 1, "worker": 1}, timeout_s=WAIT_S
    )
    ps, worker = (f"localhost:{port}" for port in free_ports(2))
    first = tf.train.Server({"ps": [ps]}, "ps", 0)
    second = tf.train.Server({"worker": {3: worker}}, "worker", 3)
    assert resolver.cluster_spec().as_dict() == {"ps": [ps], "worker": {3: worker}}
    assert resolver.master("ps", 0) == f"grpc://{ps}"
    assert resolver.incarnations().keys() == {"/job:ps/task:0", "/job:worker/task:3"}
    second.stop()
    first.stop()
    late = tf.distribute.cluster_resolver.MembershipClusterResolver(
        wait_for={"ps": 1}, timeout_s=0.0
    )
    with pytest.raises(tf.errors.DeadlineExceededError, match=r"has the members \[\]"):
        late.cluster_spec()


@pytest.mark.slow
def test_a_worker_joins_a_cluster_that_runs(url: str) -> None:
    """Neither knows the other's address but from the service."""
    ps, worker = (f"localhost:{port}" for port in free_ports(2))
    first = tf.train.Server({"ps": [ps]}, "ps", 0)
    second = tf.train.Server({"worker": {1: worker}}, "worker", 1)
    with tf.device("/job:ps/task:0"):
        count = tf.Variable(41.0, use_resource=True)

    def devices() -> set[str]:
        try:
            with tf.Session(second.target, config=QUICK) as sess:
                return {d.name.partition("/device")[0] for d in sess.list_devices()}
        except (tf.errors.UnavailableError, tf.errors.DeadlineExceededError):
            return set()

    both = {"/job:ps/replica:0/task:0", "/job:worker/replica:0/task:1"}
    assert eventually(lambda: devices() == both, WAIT_S)
    with tf.Session(second.target) as sess:
        sess.run(count.initializer)
        assert sess.run(count.assign_add(1.0)) == 42.0
    # It did not begin with the other one: gone is gone, nobody waits for it.
    first.stop()
    assert eventually(lambda: devices() == both - {"/job:ps/replica:0/task:0"}, WAIT_S)
    second.stop()


@pytest.mark.slow
def test_a_task_that_moves(url: str) -> None:
    """The task comes back elsewhere; the other was started with its old address."""
    old, new, worker = (f"localhost:{port}" for port in free_ports(3))
    cluster = {"ps": [old], "worker": [worker]}
    ps = tf.train.Server(cluster, "ps", 0)
    other = tf.train.Server(cluster, "worker", 0)
    with tf.device("/job:ps/task:0"):
        count = tf.Variable(1.0, use_resource=True)
    with tf.Session(other.target) as sess:
        sess.run(count.initializer)
    membership = other._membership
    assert membership is not None
    assert eventually(lambda: ("ps", 0) in membership._known, WAIT_S)
    ps.stop()
    moved = tf.train.Server({"ps": [new]}, "ps", 0)

    def value() -> float | None:
        try:
            with tf.Session(other.target, config=QUICK) as sess:
                sess.run(count.initializer)
                return float(sess.run(count))
        except (tf.errors.UnavailableError, tf.errors.DeadlineExceededError):
            return None

    assert eventually(lambda: value() == 1.0, WAIT_S)
    with closing(open_coordinator(url)) as coordinator:
        found = coordinator.group("tasks").members()
    assert found["ps 0"]["address"] == new
    other.stop()
    moved.stop()


def test_a_record_of_an_earlier_life(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has just been told where a task is does not believe what is older."""
    monkeypatch.setenv(LEASE_VARIABLE, "60")
    told: list[dict[str, Any]] = []
    with open_coordinator(url) as coordinator:
        group = coordinator.group("tasks")
        group.join("ps 0", {"job": "ps", "index": 0, "address": "old:1"})
        group.join("ps 1", {"job": "ps", "index": 1, "address": "b:1"})
        member = Membership(
            coordinator,
            "worker",
            0,
            {"address": "c:1"},
            tf.train.ClusterSpec({"ps": ["new:1"], "worker": ["c:1"]}),
            lambda cluster: told.append(cluster.as_dict()),
        )
        assert eventually(lambda: told == [{"ps": {1: "b:1"}}], WAIT_S)
        # When its lease would have ended, it is no earlier one.
        member._began -= 100.0
        assert eventually(lambda: told[1:] == [{"ps": ["old:1"]}], WAIT_S)
        member.leave()


def test_a_resolver_without_a_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(ValueError, match="Which lock service"):
        tf.distribute.cluster_resolver.MembershipClusterResolver()
