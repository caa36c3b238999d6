"""Costs are measured on this machine, and estimated on devices that are described."""

from __future__ import annotations

import pytest
from tensorloom.python.grappler import cluster, item

import tensorloom as tf
from tests.grappler.graphs import chain, metagraph, named_device, sum_of_draws

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
SLOW = named_device("/CPU:0", "CPU", frequency=1000, num_cores=1, bandwidth=10**6)


def test_measured_costs_are_of_the_nodes_that_run() -> None:
    measured = cluster.Cluster(disable_detailed_stats=False, disable_timeline=False)
    costs, seconds, stats = measured.MeasureCosts(item.Item(metagraph(sum_of_draws)))
    assert [cost.node for cost in costs] == [
        "random_uniform/shape",
        "random_uniform/RandomUniform",
        "random_uniform_1/RandomUniform",
        "add",
    ]
    assert seconds > 0
    assert stats.dev_stats[0].device == CPU
    assert costs[-1].op.op == "AddV2"
    assert costs[-1].op.device.num_cores >= 1


def test_without_details_only_the_time_is_measured() -> None:
    with cluster.Provision() as measured:
        found = measured.MeasureCosts(item.Item(metagraph(sum_of_draws)))
        costs, seconds, stats = found
        assert not costs
        assert not stats.dev_stats
        assert seconds > 0
    assert measured.tf_cluster is None
    assert measured.ListDevices() == []
    with pytest.raises(tf.errors.UnavailableError):
        measured.MeasureCosts(item.Item(metagraph(sum_of_draws)))


def test_a_described_gpu_takes_the_time_that_tensorflow_estimates() -> None:
    def build() -> object:
        with tf.device("/device:GPU:0"):
            return tf.random_uniform([1024, 1024]) + tf.random_uniform([1024, 1024])

    gpu = named_device(
        "/device:GPU:0",
        "GPU",
        frequency=1000,
        num_cores=60,
        environment={"architecture": "7"},
    )
    described = cluster.Cluster(False, False, False, [gpu])
    costs, seconds, stats = described.MeasureCosts(item.Item(metagraph(build)))
    assert seconds == 0.000545
    assert len(costs) == 15
    assert stats.dev_stats[0].device == "/device:GPU:0"
    assert described.EstimatePerformance(gpu) == 7680.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="architecture"):
        described.EstimatePerformance(named_device("/GPU:0", "GPU"))


@pytest.mark.parametrize(
    ("build", "op", "compute", "memory"),
    [
        (lambda x: tf.exp(x), "Exp", 34_000_000, 8_000_000),
        (lambda x: tf.matmul(x, x), "MatMul", 2_000_000_000, 12_000_000),
        (lambda x: tf.nn.softmax(x), "Softmax", 0, 8_000_000),
        (lambda x: tf.identity(x), "Identity", 0, 0),
        (lambda x: tf.slice(x, [0, 0], [500, 1000]), "Slice", 500_000, 4_000_000),
    ],
    ids=["exp", "matmul", "softmax", "identity", "slice"],
)
def test_ops_cost_what_tensorflow_estimates(
    build: object, op: str, compute: int, memory: int
) -> None:
    def graph() -> object:
        return build(tf.placeholder(tf.float32, [1000, 1000]))  # type: ignore[operator]

    described = cluster.Cluster(disable_detailed_stats=False, devices=[SLOW])
    costs, _, _ = described.MeasureCosts(item.Item(metagraph(graph)))
    cost = next(cost for cost in costs if cost.op.op == op)
    assert (cost.compute_time, cost.memory_time) == (compute, memory)


def test_tensors_between_devices_take_time() -> None:
    def build(second: str) -> object:
        x = tf.placeholder(tf.float32, [1000, 1000])
        with tf.device("/CPU:0"):
            y = tf.exp(x)
        with tf.device(second):
            return tf.exp(y)

    devices = [SLOW, named_device("/CPU:1", "CPU", frequency=1000, num_cores=1)]
    described = cluster.Cluster(devices=devices)
    _, alone, _ = described.MeasureCosts(item.Item(metagraph(lambda: build("/CPU:0"))))
    _, across, _ = described.MeasureCosts(item.Item(metagraph(lambda: build("/CPU:1"))))
    # The second device has a faster memory: 32 bytes in a nanosecond, not 1.
    assert alone == pytest.approx(2 * 0.042)
    assert across == pytest.approx(0.042 + 0.004 + 0.03425)


def test_peak_memory_is_of_the_tensors_that_live_at_once() -> None:
    simulated = cluster.Cluster()
    usage = simulated.DeterminePeakMemoryUsage(item.Item(metagraph(chain)))
    peak, tensors = usage[CPU]
    assert peak == 16
    assert sorted(tensor[0] for tensor in tensors) == ["a", "b", "c", "d"]
    described = cluster.Cluster(devices=[SLOW, named_device("/CPU:1", "CPU")])
    usage = described.DeterminePeakMemoryUsage(item.Item(metagraph(chain)))
    assert usage["/CPU:1"] == (-1, [])


def test_devices_support_what_they_have_kernels_for() -> None:
    graph = item.Item(metagraph(chain))
    assert cluster.Cluster().GetSupportedDevices(graph)["d"] == [CPU]
    devices = [named_device("/GPU:0", "GPU"), named_device("/CPU:0", "CPU")]
    described = cluster.Cluster(devices=devices)
    assert described.GetSupportedDevices(graph)["d"] == ["/CPU:0", "/GPU:0"]


def test_ops_are_listed_by_name() -> None:
    names = cluster.Cluster().ListAvailableOps()
    assert names == sorted(names)
    assert {"Add", "MatMul"} <= set(names)
