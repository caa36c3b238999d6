"""One device, central storage, parameter servers, collectives; what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

import tensorloom as tf

DEVICES = ["/device:CPU:0", "/device:CPU:1"]
CONFIG = tf.ConfigProto(device_count={"CPU": 2})


def _train(strategy: Any, steps: int = 2) -> list[float]:
    """The losses of a few steps of one variable."""
    with strategy.scope():
        v = tf.get_variable("v", initializer=1.0)
        optimizer = tf.train.GradientDescentOptimizer(0.25)

        def fn() -> Any:
            loss = tf.square(v)
            with tf.control_dependencies([optimizer.minimize(loss)]):
                return tf.identity(loss)

        per_replica = strategy.experimental_run_v2(fn)
        loss = strategy.reduce(tf.distribute.ReduceOp.MEAN, per_replica)
        init = tf.global_variables_initializer()
    with tf.Session(config=CONFIG) as session:
        session.run(init)
        return [float(session.run(loss)) for _ in range(steps)]


def test_one_device() -> None:
    strategy = tf.distribute.OneDeviceStrategy("/cpu:1")
    assert _train(strategy) == [1.0, 0.25]
    (v,) = tf.global_variables()
    assert v.device.endswith("CPU:1")
    assert strategy.num_replicas_in_sync == 1


def test_central_storage_keeps_one_variable() -> None:
    strategy = tf.distribute.experimental.CentralStorageStrategy(DEVICES, DEVICES[1])
    assert _train(strategy) == [1.0, 0.0]
    (v,) = tf.global_variables()
    assert v.device.endswith("CPU:1")
    assert [n.name for n in tf.get_default_graph().get_operations() if n.name == "v"]
    assert not [
        n for n in tf.get_default_graph().get_operations() if "v/replica_1" in n.name
    ]


def test_central_storage_takes_single_values_alone() -> None:
    strategy = tf.distribute.experimental.CentralStorageStrategy(DEVICES)
    with strategy.scope():
        v = tf.get_variable("v", initializer=1.0)
        value = strategy.extended.call_for_each_replica(lambda: tf.random.normal([]))
        with pytest.raises(ValueError, match="PerReplica object"):
            strategy.extended.update(v, lambda v, x: v.assign(x), args=(value,))


def test_parameter_servers_of_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = {"worker": ["a:1", "b:1"], "ps": ["c:1", "d:1"]}
    task = {"type": "worker", "index": 1}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": task}))
    strategy = tf.distribute.experimental.ParameterServerStrategy()
    with strategy.scope():
        a = tf.get_variable("a", initializer=1.0)
        b = tf.get_variable("b", initializer=1.0)
        c = tf.identity(a)
    assert [v.device for v in (a, b)] == ["/job:ps/task:0", "/job:ps/task:1"]
    assert c.device == "/job:worker/task:1"
    assert not strategy.extended.experimental_should_init
    filters = strategy.update_config_proto(tf.ConfigProto()).device_filters
    assert list(filters) == ["/job:worker/task:1", "/job:ps"]


def test_a_cluster_without_parameter_servers_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = {"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    with pytest.raises(ValueError, match="needs to have `ps` jobs"):
        tf.distribute.experimental.ParameterServerStrategy()


def test_collectives_on_the_devices_of_one_worker() -> None:
    kind = tf.distribute.experimental.MultiWorkerMirroredStrategy
    strategy = kind._from_local_devices(DEVICES)
    assert _train(strategy) == [1.0, 0.0]
    kinds = {op.type for op in tf.get_default_graph().get_operations()}
    assert "CollectiveReduce" in kinds


def test_a_worker_of_collectives_among_several(monkeypatch: pytest.MonkeyPatch) -> None:
    """It knows its place, its inputs' part and who leads the group."""
    config = {
        "cluster": {"chief": ["a:1"], "worker": ["b:1", "c:1"]},
        "task": {"type": "worker", "index": 1},
    }
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
    assert strategy.num_replicas_in_sync == 3
    (inputs,) = strategy.extended._input_contexts()
    assert (inputs.num_input_pipelines, inputs.input_pipeline_id) == (3, 2)
    assert not strategy.extended.should_checkpoint
    updated = strategy.update_config_proto(tf.ConfigProto())
    assert list(updated.device_filters) == ["/job:worker/task:1"]
    leader = updated.experimental.collective_group_leader
    assert leader == "/job:chief/replica:0/task:0"


def test_a_worker_of_collectives_must_know_which_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": {"worker": ["a:1", "b:1"]}}))
    with pytest.raises(ValueError, match="you must also specify `task_type`"):
        tf.distribute.experimental.MultiWorkerMirroredStrategy()


def test_tpus_are_refused_by_name() -> None:
    with pytest.raises(RuntimeError, match=r"experimental\.TPUStrategy: .* no TPUs"):
        tf.distribute.experimental.TPUStrategy()
