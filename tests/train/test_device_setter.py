"""`replica_device_setter`: devices as TensorFlow 1.15 gives them."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf

CLUSTER = {"ps": ["a:1", "b:1"], "worker": ["c:1"]}

# Arguments, and the devices of v1, v2, v3 (a resource), add, mul (on /cpu:0), v4 (on
# /cpu:0), p/part_0, p/part_1, a queue, and a constant on /job:worker/task:7.
CASES: list[tuple[dict[str, Any], list[str]]] = [
    (
        {"cluster": CLUSTER},
        [
            "/job:ps/task:0",
            "/job:ps/task:1",
            "/job:ps/task:0",
            "/job:worker",
            "/job:worker/device:CPU:0",
            "/job:ps/task:1/device:CPU:0",
            "/job:ps/task:0",
            "/job:ps/task:1",
            "/job:worker",
            "/job:worker/task:7",
        ],
    ),
    (
        {"ps_tasks": 2, "merge_devices": False},
        [
            "/job:ps/task:0",
            "/job:ps/task:1",
            "/job:ps/task:0",
            "/job:worker",
            "/device:CPU:0",
            "/device:CPU:0",
            "/job:ps/task:1",
            "/job:ps/task:0",
            "/job:worker",
            "/job:worker/task:7",
        ],
    ),
    (
        {
            "ps_tasks": 2,
            "worker_device": "/job:worker/task:3",
            "ps_device": "/job:ps/cpu:0",
        },
        [
            "/job:ps/task:0/device:CPU:0",
            "/job:ps/task:1/device:CPU:0",
            "/job:ps/task:0/device:CPU:0",
            "/job:worker/task:3",
            "/job:worker/task:3/device:CPU:0",
            "/job:ps/task:1/device:CPU:0",
            "/job:ps/task:0/device:CPU:0",
            "/job:ps/task:1/device:CPU:0",
            "/job:worker/task:3",
            "/job:worker/task:7",
        ],
    ),
    (
        {"ps_tasks": 2, "ps_ops": ["VariableV2"]},
        [
            "/job:ps/task:0",
            "/job:ps/task:1",
            "/job:worker",
            "/job:worker",
            "/job:worker/device:CPU:0",
            "/job:ps/task:0/device:CPU:0",
            "/job:ps/task:1",
            "/job:ps/task:0",
            "/job:worker",
            "/job:worker/task:7",
        ],
    ),
]


@pytest.mark.parametrize(("arguments", "expected"), CASES)
def test_devices(arguments: dict[str, Any], expected: list[str]) -> None:
    with tf.device(tf.train.replica_device_setter(**arguments)):
        v1 = tf.Variable(1.0)
        v2 = tf.get_variable("v2", [2])
        v3 = tf.get_variable("v3", [2], use_resource=True)
        add = v1 + 1
        with tf.device("/cpu:0"):
            mul = v2 * 2
            v4 = tf.Variable(2.0)
        parts = tf.get_variable("p", [4, 2], partitioner=tf.fixed_size_partitioner(2))
        queue = tf.FIFOQueue(2, tf.float32).queue_ref
        with tf.device("/job:worker/task:7"):
            far = tf.constant(1.0)
    made = [v1, v2, v3, add, mul, v4, *parts, queue, far]
    assert [thing.device for thing in made] == expected


def test_the_greedy_strategy_looks_at_sizes() -> None:
    strategy = tf.contrib.training.GreedyLoadBalancingStrategy(
        2, tf.contrib.training.byte_size_load_fn
    )
    setter = tf.train.replica_device_setter(ps_tasks=2, ps_strategy=strategy)
    with tf.device(setter):
        made = [tf.get_variable(f"v{size}", [size]) for size in (100, 10, 20, 30)]
    assert [v.device[-1] for v in made] == ["0", "1", "1", "1"]
    assert strategy.ps_loads == [400, 240]


def test_no_parameter_servers() -> None:
    assert tf.train.replica_device_setter() is None
    assert tf.train.replica_device_setter(cluster={"worker": ["a:1"]}) is None


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match="must be a dictionary mapping"):
        tf.train.replica_device_setter(cluster=3)
    with pytest.raises(TypeError, match="ps_strategy must be callable"):
        tf.train.replica_device_setter(ps_tasks=2, ps_strategy=3)  # type: ignore[arg-type]
