"""Positions and distinct values, partitions and stitches."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peer.ops.draw import Draw, K
from tests.peer.ops.spec import call, spec
from tests.peer.ops.specs.shared.arrays import Q, rank_of, shape_of


def where(d: Draw) -> Any:
    x = d.array(d.shape(1, 4))
    return (x * (d.rng.random(shape_of(x)) < 0.5),) if d.dtype.name != "bool" else (x,)


spec("Where", where, without=["string", *Q])


def sequence(d: Draw) -> Any:
    return d.array((d.integer(0, 8),), low=0, high=4)


spec(
    "Unique UniqueWithCounts",
    lambda d: call(sequence(d), out_idx=d.choice(["int32", "int64"])),
)


# 1.15 says that the result is a vector whatever the axis.
spec("UniqueV2 UniqueWithCountsV2", lambda d: unique_v2(d), version="2.21")


def unique_v2(d: Draw) -> Any:
    x = d.array(d.shape(1, 3, size=3, empty=0), low=0, high=1)
    return call(
        x,
        K(np.array([d.axis(rank_of(x), negative=False)], np.int64)),
        out_idx=d.choice(["int32", "int64"]),
    )


spec(
    "ListDiff",
    lambda d: call(sequence(d), sequence(d), out_idx=d.choice(["int32", "int64"])),
)


def sorted_rows(d: Draw) -> Any:
    rows = d.integer(1, 3)
    x = np.sort(d.array((rows, 5)), axis=1)
    return call(
        x, d.array((rows, d.integer(0, 4))), out_type=d.choice(["int32", "int64"])
    )


spec(
    "LowerBound UpperBound",
    sorted_rows,
    mutate=("empty", "dtype"),
    attr="T",
    without=["string", "bool", "complex64", "complex128", *Q],
)


def unravel(d: Draw) -> Any:
    kind = d.dtype.np_dtype
    dims = np.array([2, 3, 4], kind)
    return d.rng.integers(0, 24, d.shape(0, 1)).astype(kind), dims


spec(
    "UnravelIndex",
    unravel,
    attr="Tidx",
    bad=(
        lambda d: (
            np.array([24], d.dtype.np_dtype),
            np.array([2, 12], d.dtype.np_dtype),
        ),
    ),
)


def partition(d: Draw) -> Any:
    shape = d.shape(1, 3)
    rank = d.integer(1, len(shape))
    ids = d.rng.integers(0, 3, shape[:rank]).astype(np.int32)
    return call(d.array(shape), ids, num_partitions=3)


spec(
    "DynamicPartition",
    partition,
    bad=(lambda d: call(d.array((2,)), np.array([0, 3], np.int32), num_partitions=3),),
)


def stitch(d: Draw) -> Any:
    order = d.rng.permutation(6).astype(np.int32)
    tail = d.shape(0, 2)
    groups = [order[:2], order[2:3], order[3:]]
    return call([K(g) for g in groups], [d.array((len(g), *tail)) for g in groups])


spec(
    "DynamicStitch ParallelDynamicStitch",
    stitch,
    mutate=("rank", "size", "empty", "dtype"),
    bad=(lambda d: call([np.array([-1, 0], np.int32)], [d.array((2,))]),),
)
