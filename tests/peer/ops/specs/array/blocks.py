"""Blocks of space moved to batch or depth, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peer.ops.draw import Draw, K
from tests.peer.ops.spec import call, spec


def depth_to_space(d: Draw) -> Any:
    block = d.integer(2, 3)
    shape = (
        d.integer(1, 2),
        d.integer(1, 3),
        d.integer(1, 3),
        block * block * d.integer(1, 2),
    )
    return call(d.array(shape), block_size=block)


def space_to_depth(d: Draw) -> Any:
    block = d.integer(2, 3)
    shape = (
        d.integer(1, 2),
        block * d.integer(1, 2),
        block * d.integer(1, 2),
        d.integer(1, 2),
    )
    return call(d.array(shape), block_size=block)


spec(
    "DepthToSpace",
    depth_to_space,
    bad=(lambda d: call(d.array((1, 2, 2, 3)), block_size=2),),
)


spec(
    "SpaceToDepth",
    space_to_depth,
    bad=(lambda d: call(d.array((1, 3, 2, 3)), block_size=2),),
)


def space_to_batch_nd(d: Draw) -> Any:
    count = d.integer(1, 3)
    block = d.rng.integers(1, 3, count)
    pads = d.rng.integers(0, 2, (count, 2))
    sizes = []
    for b, p in zip(block, pads, strict=True):
        size = d.integer(1, 3) * b - p.sum()
        sizes.append(int(size if size > 0 else size + 2 * b))
    shape = (d.integer(1, 2), *sizes, *d.shape(0, 1, empty=0))
    kind = d.index_type()
    return d.array(shape), K(block.astype(kind)), K(pads.astype(kind))


def batch_to_space_nd(d: Draw) -> Any:
    count = d.integer(1, 3)
    block = d.rng.integers(1, 3, count)
    sizes = [d.integer(2, 3) for _ in range(count)]
    crops = d.rng.integers(0, 2, (count, 2))
    shape = (int(np.prod(block)) * d.integer(1, 2), *sizes, *d.shape(0, 1, empty=0))
    kind = d.index_type()
    return d.array(shape), K(block.astype(kind)), K(crops.astype(kind))


spec(
    "SpaceToBatchND",
    space_to_batch_nd,
    bad=(
        lambda d: (d.array((1, 3)), K([2], "int32"), K([[0, 0]], "int32")),
        lambda d: (d.array((1, 4)), K([0], "int32"), K([[0, 0]], "int32")),
    ),
)


spec(
    "BatchToSpaceND",
    batch_to_space_nd,
    bad=(lambda d: (d.array((3, 3)), K([2], "int32"), K([[0, 0]], "int32")),),
)


def space_to_batch(d: Draw) -> Any:
    return call(d.array((2, 3, 2, 2)), K([[0, 1], [1, 1]], "int32"), block_size=2)


def batch_to_space(d: Draw) -> Any:
    return call(d.array((4, 2, 2, 2)), K([[0, 1], [1, 0]], "int32"), block_size=2)


spec("SpaceToBatch", space_to_batch)


spec("BatchToSpace", batch_to_space)
