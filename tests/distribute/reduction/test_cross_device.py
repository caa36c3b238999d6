"""CrossDeviceOps: reductions and broadcasts by each of the ways."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.distribute.reduction.collective import CollectiveAllReduce
from tensorloom.distribute.reduction.multi_worker import MultiWorkerAllReduce
from tensorloom.distribute.reduction.packing import extract_ranges
from tensorloom.distribute.values.device_maps import ReplicaDeviceMap
from tensorloom.distribute.values.distributed_values import Mirrored, PerReplica

SUM, MEAN = tf.distribute.ReduceOp.SUM, tf.distribute.ReduceOp.MEAN
COUNT = 4
CONFIG = tf.ConfigProto(device_count={"CPU": COUNT})
NAMES = [f"/device:CPU:{i}" for i in range(COUNT)]


def _per_replica(shape: tuple[int, ...], start: float, sparse: bool = False) -> Any:
    parts = []
    for i, name in enumerate(NAMES):
        with tf.device(f"/replica:0/task:0{name}"):
            value = tf.fill(shape, start + i)
            if sparse:
                value = tf.IndexedSlices(value, tf.constant([i]), tf.constant([8, 2]))
            parts.append(value)
    return PerReplica(ReplicaDeviceMap(NAMES), parts)


def _workers(alg: str, shards: int = 2) -> Any:
    workers = ["/replica:0/task:0"]
    return MultiWorkerAllReduce(workers, COUNT, all_reduce_spec=(alg, shards, -1))


WAYS = [
    pytest.param(tf.distribute.ReductionToOneDevice, id="one device"),
    pytest.param(lambda: tf.distribute.HierarchicalCopyAllReduce(0), id="copies"),
    pytest.param(lambda: tf.distribute.HierarchicalCopyAllReduce(2), id="packs"),
    pytest.param(
        lambda: tf.contrib.distribute.AllReduceCrossDeviceOps(
            "hierarchical_copy", 0, 4 * 6, 2
        ),
        id="small",
    ),
    pytest.param(lambda: CollectiveAllReduce(1, COUNT), id="collective"),
    pytest.param(lambda: _workers("xring"), id="ring"),
    pytest.param(lambda: _workers("pscpu"), id="shuffle"),
    pytest.param(lambda: _workers("pscpu/pscpu"), id="two levels"),
]


@pytest.mark.parametrize("make", WAYS)
@pytest.mark.parametrize("op", [SUM, MEAN])
def test_reductions_of_dense_values(make: Any, op: Any) -> None:
    values = [
        _per_replica((2, 3), 1.0),
        _per_replica((4,), 5.0),
        _per_replica((1,), 2.0),
    ]
    reduced = make().batch_reduce(op, [(v, v) for v in values])
    totals = np.array([10.0, 26.0, 14.0]) / (COUNT if op is MEAN else 1)
    with tf.Session(config=CONFIG) as session:
        found = session.run([list(mirrored.values) for mirrored in reduced])
    for mirrored, value, total, parts in zip(
        reduced, values, totals, found, strict=True
    ):
        assert isinstance(mirrored, Mirrored)
        shape = value.values[0].shape.as_list()
        for part, static in zip(parts, mirrored.values, strict=True):
            assert static.shape.as_list() == shape
            np.testing.assert_allclose(part, np.full(shape, total))


@pytest.mark.parametrize("make", WAYS[:5])
def test_reductions_of_slices(make: Any) -> None:
    value = _per_replica((1, 2), 1.0, sparse=True)
    (reduced,) = make().batch_reduce(MEAN, [(value, value)])
    dense = [
        tf.unsorted_segment_sum(part.values, part.indices, 8) for part in reduced.values
    ]
    with tf.Session(config=CONFIG) as session:
        for part in session.run(dense):
            np.testing.assert_allclose(part[:5, 0], [0.25, 0.5, 0.75, 1.0, 0.0])


def test_a_reduction_to_another_device() -> None:
    way = tf.distribute.HierarchicalCopyAllReduce()
    reduced = way.reduce(SUM, _per_replica((1,), 1.0), NAMES[2])
    assert reduced.device == f"/replica:0/task:0{NAMES[2]}"


def test_a_broadcast_is_mirrored() -> None:
    value = tf.constant(3.0)
    copies = tf.distribute.ReductionToOneDevice().broadcast(
        value, _per_replica((1,), 0)
    )
    with tf.Session(config=CONFIG) as session:
        assert session.run(list(copies.values)) == [3.0] * COUNT


@pytest.mark.slow
def test_nccl_is_of_gpus() -> None:
    value = _per_replica((1,), 1.0)
    reduced = tf.distribute.NcclAllReduce().reduce(SUM, value, value)
    with tf.Session(config=CONFIG) as session, pytest.raises(tf.errors.OpError):
        session.run(reduced.values[0])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: tf.distribute.HierarchicalCopyAllReduce(num_packs=-1),
            ValueError,
            "num_packs >= 0",
        ),
        (
            lambda: tf.distribute.NcclAllReduce(num_packs=-1),
            ValueError,
            "num_packs >= 0",
        ),
        (
            lambda: tf.distribute.CrossDeviceOps().reduce(SUM, 1.0, "/cpu:0"),
            ValueError,
            "doesn't have device",
        ),
        (
            lambda: tf.distribute.ReductionToOneDevice().broadcast(1.0, 3),
            ValueError,
            "destinations must be one of",
        ),
        (
            lambda: MultiWorkerAllReduce([], 0, all_reduce_spec=(1, 2, 3, 4)),
            ValueError,
            "Too many",
        ),
    ],
)
def test_arguments_that_do_not_fit(call: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_an_unknown_algorithm() -> None:
    value = _per_replica((1,), 1.0)
    with pytest.raises(ValueError, match="unsupported all_reduce alg"):
        _workers("unheard of").reduce(SUM, value, value)


def test_runs_of_numbers() -> None:
    assert extract_ranges([0, 1, 2, 5, 7, 8]) == ([[0, 2], [7, 8]], [5])
    assert extract_ranges([]) == ([], [])
