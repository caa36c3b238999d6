"""Reductions that travel together among tasks, and those that cannot."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.kernels.host.collective import collective_ops
from tensorloom.worker.collective.step_collectives import StepCollectives
from tests.cluster.clusters import cluster_over

pytestmark = pytest.mark.timeout(300)

SIZE = 3
# Nobody should wait so long; who does has lost its way.
LIMIT = tf.RunOptions(timeout_in_ms=120_000)
LEADER = "/job:worker/replica:0/task:0"
SHAPES = [[], [3], [2, 2], [50_000]]


@pytest.fixture(scope="module", params=["sockets", "grpc"])
def servers(request: Any) -> Iterator[list[Any]]:
    """A task for each member."""
    with cluster_over(request.param, worker=SIZE) as running:
        yield running["worker"]


def fusing(*, fuses: bool = True) -> Any:
    """The config of a session whose reductions travel together."""
    config = tf.ConfigProto()
    rewrites = config.graph_options.rewrite_options
    rewrites.scoped_allocator_optimization = rewrites.ON if fuses else rewrites.OFF
    return config


def reductions(value: Any, size: int, group: int, **more: Any) -> list[Any]:
    """One of each shape."""
    options = {"merge_op": "Add", "final_op": "Div", "subdiv_offsets": [], **more}
    return [
        tf.raw_ops.CollectiveReduce(
            input=tf.ones(shape) * (value + key),
            **{
                "group_size": size,
                "group_key": group,
                "instance_key": 10 * group + key,
            },
            **options,
        )
        for key, shape in enumerate(SHAPES)
    ]


def steps_of(servers: list[Any], group: int, *, fuses: list[bool]) -> list[Any]:
    """What each task's two steps give; the first one fetches something more."""
    found: list[Any] = [None] * len(servers)

    def work(index: int) -> None:
        config = fusing(fuses=fuses[index])
        config.device_filters.append(f"/job:worker/task:{index}")
        config.experimental.collective_group_leader = LEADER
        place = tf.device(f"/job:worker/task:{index}")
        with tf.Graph().as_default(), place:
            means = reductions(index + 1.0, SIZE, group)
            halves = [mean / 2 for mean in means]
            extra = [means[1], means[2] + 1.0] if index == 0 else []
            with tf.Session(servers[index].target, config=config) as session:
                try:
                    for _ in range(2):
                        found[index] = session.run([halves, extra], options=LIMIT)[0]
                except tf.errors.OpError as error:
                    found[index] = error

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(servers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def count_kinds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many values each collective that crosses tasks has."""
    sizes: list[int] = []
    real = StepCollectives.run

    def run(self: Any, request: Any, cancellation: Any) -> Any:
        sizes.append(request.value.size)
        return real(self, request, cancellation)

    monkeypatch.setattr(StepCollectives, "run", run)
    return sizes


def check(found: list[Any]) -> None:
    """Each has the halves of the means."""
    for values in found:
        for key, (value, shape) in enumerate(zip(values, SHAPES, strict=True)):
            np.testing.assert_allclose(value, np.full(shape, (2.0 + key) / 2))


def test_they_travel_as_one(
    servers: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = count_kinds(monkeypatch)
    check(steps_of(servers, 1, fuses=[True] * SIZE))
    assert sizes == [50_008] * (2 * SIZE)


def test_members_of_tensorflow_get_each(
    servers: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StepCollectives, "is_among_own", lambda *_: False)
    sizes = count_kinds(monkeypatch)
    # One that does not fuse, as those of TensorFlow do not, is a member like others.
    check(steps_of(servers, 2, fuses=[True, False, True]))
    assert sorted(set(sizes)) == [1, 3, 4, 50_000]


def test_tasks_that_do_not_agree_are_told(servers: list[Any]) -> None:
    found = steps_of(servers, 3, fuses=[True, False, True])
    assert all(isinstance(error, tf.errors.OpError) for error in found)
    told = "\n".join(error.message for error in found)
    assert "Shape mismatch" in told


def test_members_of_one_task() -> None:
    config = fusing()
    config.device_count["CPU"] = 2
    means = []
    with tf.Graph().as_default():
        for device in range(2):
            with tf.device(f"/cpu:{device}"):
                means.append(reductions(device + 1.0, 2, 4))
        with tf.Session(config=config) as session:
            found = session.run(means)
    for values in found:
        for key, (value, shape) in enumerate(zip(values, SHAPES, strict=True)):
            np.testing.assert_allclose(value, np.full(shape, 1.5 + key))
    assert collective_ops.reduce_many is not None
