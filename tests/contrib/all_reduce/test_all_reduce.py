"""`tf.contrib.all_reduce`: all give the reduction on the device of each tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib.all_reduce import exchanges

all_reduce = tf.contrib.all_reduce.python.all_reduce
TASK = "/job:localhost/replica:0/task:0/device:CPU:%d"
WORKERS = [
    f"/job:worker/replica:0/task:{task}/device:GPU:{gpu}"
    for task in range(2)
    for gpu in range(2)
]


def _inputs(places: list[str], shape: list[int]) -> list[Any]:
    tensors = []
    for i, place in enumerate(places):
        values = np.arange(np.prod(shape), dtype=np.float32) * (i + 1)
        with tf.device(place):
            tensors.append(tf.constant(values.reshape(shape)))
    return tensors


def _half(x: Any) -> Any:
    return x / 2.0


_RING = all_reduce.build_ring_all_reduce
_HALVING = all_reduce.build_recursive_hd_all_reduce
_SHUFFLE = all_reduce.build_shuffle_all_reduce


@pytest.mark.parametrize(
    ("count", "shape", "reduce"),
    [
        (3, [2, 5], lambda x: _RING(x, 1, 1, [0, 2, 1], tf.add, _half)),
        (4, [7], lambda x: _RING(x, 2, 2, [0, 1], tf.add, _half)),
        (4, [3], lambda x: _RING(x, 4, 1, [0], tf.add, _half)),
        (3, [10], lambda x: _RING(x, 1, 3, [0, 1, 2], tf.add, _half)),
        (4, [2, 4], lambda x: _HALVING(x, tf.add, _half)),
        (3, [2, 3], lambda x: _SHUFFLE(x, [TASK % 0, TASK % 1], tf.add_n, _half)),
        (
            2,
            [4],
            lambda x: all_reduce.build_shuffle_then_ring(
                x, [TASK % 0], 1, tf.add_n, tf.add, _half
            ),
        ),
        (
            2,
            [2, 2],
            lambda x: all_reduce.build_shuffle_then_shuffle(
                x, [TASK % 0], [TASK % 0], tf.add_n, _half
            ),
        ),
    ],
)
def test_reductions(
    count: int, shape: list[int], reduce: Callable[[list[Any]], list[Any]]
) -> None:
    config = tf.ConfigProto(device_count={"CPU": count})
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        inputs = _inputs([TASK % i for i in range(count)], shape)
        outputs = reduce(inputs)
        assert [x.device for x in outputs] == [x.device for x in inputs]
        expected = sum(session.run(inputs)) / 2
        for value in session.run(outputs):
            np.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize(
    "reduce",
    [
        lambda x: all_reduce.build_nccl_then_ring(x, 1, tf.add, _half),
        lambda x: all_reduce.build_nccl_then_recursive_hd(x, tf.add, _half),
        lambda x: all_reduce.build_nccl_then_shuffle(
            x, WORKERS[::2], tf.add, tf.add_n, _half
        ),
    ],
)
def test_nccl_within_tasks(reduce: Callable[[list[Any]], list[Any]]) -> None:
    with tf.Graph().as_default() as graph:
        outputs = reduce(_inputs(WORKERS, [4]))
        assert [x.device for x in outputs] == WORKERS
        types = [op.type for op in graph.get_operations()]
        assert types.count("NcclAllReduce") == 4
        assert types.count("NcclBroadcast") == 2


@pytest.mark.parametrize(
    ("reduce", "message"),
    [
        (lambda x: _RING(x[:1], 1, 1, [0], tf.add), "length 2 or longer"),
        (lambda x: _RING(x, 1, 5, range(4), tf.add), "num_subchunks 5 must be <= num"),
        (lambda x: _HALVING(x[:3], tf.add), "must be a power of 2"),
        (lambda x: _SHUFFLE([], [], tf.add_n), "tensors cannot be empty"),
        (
            lambda x: all_reduce.build_shuffle_then_ring(x, [""], 1, tf.add_n, tf.add),
            "one device per worker",
        ),
        (
            lambda x: all_reduce.build_nccl_all_reduce(x, tf.maximum),
            "not supported by NCCL",
        ),
        (
            lambda x: all_reduce.build_nccl_all_reduce([tf.constant(1)], tf.add),
            "Device assignment required",
        ),
        (lambda x: all_reduce.build_nccl_all_reduce([], tf.add), "Must pass >0"),
    ],
)
def test_refusals(reduce: Callable[[list[Any]], Any], message: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        reduce(_inputs(WORKERS, [4]))


def test_the_first_half_of_the_rings() -> None:
    tensors = _inputs(WORKERS, [6])
    places = [tensor.device for tensor in tensors]
    before, ranks = exchanges.rings(2, 1, [1, 0])
    assert before == [[1, 2, 3, 0]]
    assert ranks == [[1, 0, 3, 2]]
    chunks, padding = exchanges.ring_gather(tensors, places, 1, before, ranks, tf.add)
    assert padding == 2
    assert [len(parts) for parts in chunks] == [4] * 4
    alone = exchanges.ring_gather(tensors[:1], places[:1], 1, [[0]], [[0]], tf.add)
    assert alone == tensors[:1]
    with pytest.raises(ValueError, match="must be 1D"):
        exchanges.ring_gather([tf.ones([1, 1])] * 2, places, 1, before, ranks, tf.add)
