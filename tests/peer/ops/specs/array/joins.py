"""Ops that join and split tensors."""

from __future__ import annotations

from typing import Any

from tests.peer.ops.draw import Draw, K
from tests.peer.ops.spec import call, spec
from tests.peer.ops.specs.shared.arrays import rank_of


def joined(d: Draw) -> tuple[list[Any], int, int]:
    shape = list(d.shape(1, 4))
    axis = d.axis(len(shape))
    parts = []
    for _ in range(d.integer(2, 4)):
        shape[axis] = d.integer(0, 3)
        parts.append(d.array(shape))
    return parts, axis, len(shape)


def concat(d: Draw) -> Any:
    parts, axis, rank = joined(d)
    return call(K(axis % rank, "int32"), parts)


def concat_v2(d: Draw) -> Any:
    parts, axis, _ = joined(d)
    return call(parts, K(axis, d.index_type()))


spec(
    "Concat",
    concat,
    bad=(lambda d: call(K(0, "int32"), [d.array((2, 3)), d.array((2, 4))]),),
)


spec(
    "ConcatV2",
    concat_v2,
    bad=(
        lambda d: call([d.array((2, 3)), d.array((2, 4))], K(0, "int32")),
        lambda d: call([d.array((2, 3)), d.array((2, 3))], K(2, "int32")),
    ),
)


spec(
    "ConcatOffset",
    lambda d: call(
        K(1, "int32"), [K([2, 3], "int32"), K([2, 5], "int32"), K([2, 0], "int32")]
    ),
    types=(),
)


def pack(d: Draw) -> Any:
    shape = d.shape(0, 3)
    return call(
        [d.array(shape) for _ in range(d.integer(1, 4))], axis=d.axis(len(shape) + 1)
    )


spec(
    "Pack",
    pack,
    bad=(
        lambda d: call([d.array((2,)), d.array((3,))]),
        lambda d: call([d.array((2,)), d.array((2,))], axis=2),
    ),
)


def unpack(d: Draw) -> Any:
    shape = d.shape(1, 4, empty=0)
    axis = d.axis(len(shape))
    return call(d.array(shape), num=shape[axis], axis=axis)


spec(
    "Unpack",
    unpack,
    bad=(
        lambda d: call(d.array((2, 3)), num=3, axis=0),
        lambda d: call(d.array((2, 3)), num=3, axis=2),
    ),
)


def split(d: Draw) -> Any:
    shape = list(d.shape(1, 4))
    axis, count = d.axis(len(shape)), d.integer(1, 3)
    shape[axis] = count * d.integer(0, 2)
    return call(K(axis, "int32"), d.array(shape), num_split=count)


spec(
    "Split",
    split,
    bad=(
        lambda d: call(K(0, "int32"), d.array((4, 3)), num_split=3),
        lambda d: call(K(2, "int32"), d.array((4, 3)), num_split=2),
    ),
)


def split_v(d: Draw) -> Any:
    shape = list(d.shape(1, 4))
    axis, count = d.axis(len(shape)), d.integer(1, 3)
    sizes = d.rng.integers(0, 3, count).astype(d.index_type())
    shape[axis] = int(sizes.sum())
    if count > 1 and d.maybe(0.4):
        sizes[d.integer(0, count - 1)] = -1
    return call(d.array(shape), K(sizes), K(axis, "int32"), num_split=count)


spec(
    "SplitV",
    split_v,
    mutate=("size", "empty", "dtype"),
    bad=(
        lambda d: call(d.array((4,)), K([3, 2], "int32"), K(0, "int32"), num_split=2),
    ),
)


spec(
    "ParallelConcat",
    lambda d: call([d.array((1, 2)), d.array((1, 2))], shape=(2, 2)),
    gradient=False,
    mutate=(),
    bad=(lambda d: call([d.array((2, 2))], shape=(1, 2)),),
)


def tile(d: Draw) -> Any:
    x = d.array(d.shape(0, 3))
    return x, K(d.rng.integers(0, 3, rank_of(x)).astype(d.index_type()))


spec(
    "Tile",
    tile,
    bad=(
        lambda d: (d.array((2,)), K([-1], "int32")),
        lambda d: (d.array((2,)), K([1, 2], "int32")),
    ),
)
