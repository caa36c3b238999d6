"""Specs of Gather, GatherNd, GatherV2, OneHot, ...."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peer.ops.draw import Draw, K
from tests.peer.ops.spec import call, spec
from tests.peer.ops.specs.shared.arrays import shape_of


def gather(d: Draw) -> Any:
    x = d.array(d.shape(1, 3, empty=0))
    return x, d.indices(d.shape(0, 2), shape_of(x)[0])


def gather_v2(d: Draw) -> Any:
    shape = d.shape(1, 4, empty=0)
    axis = d.axis(len(shape))
    ids_rank = d.integer(0, 2)
    batch = (
        d.integer(0, min(axis % len(shape), max(ids_rank - 1, 0)))
        if d.maybe(0.4)
        else 0
    )
    ids = d.indices(
        (*shape[:batch], *d.shape(ids_rank - batch, ids_rank - batch)), shape[axis]
    )
    return call(d.array(shape), ids, K(axis, d.index_type()), batch_dims=batch)


def gather_out_of_range(d: Draw) -> Any:
    return d.array((3, 2)), np.array([1, 3], np.int32)


spec("Gather", gather, attr="Tparams", bad=(gather_out_of_range,))


spec(
    "GatherV2",
    gather_v2,
    attr="Tparams",
    examples=5,
    bad=(
        lambda d: (*gather_out_of_range(d), K(0, "int32")),
        lambda d: (d.array((3, 2)), np.array([1], np.int32), K(2, "int32")),
        lambda d: (d.array((3, 2)), np.array([-1], np.int32), K(0, "int32")),
    ),
)


def nd_indices(d: Draw, shape: tuple[int, ...]) -> Any:
    depth = d.integer(1, len(shape))
    batch = d.shape(1, 2)
    parts = [d.rng.integers(0, s, batch) for s in shape[:depth]]
    return np.stack(parts, -1).astype(d.index_type())


def gather_nd(d: Draw) -> Any:
    shape = d.shape(1, 4, empty=0)
    return d.array(shape), nd_indices(d, shape)


spec(
    "GatherNd",
    gather_nd,
    attr="Tparams",
    bad=(
        lambda d: (d.array((3, 2)), np.array([[3, 0]], np.int32)),
        lambda d: (d.array((3,)), np.array([[0, 0]], np.int32)),
    ),
)


def scatter_nd(d: Draw) -> Any:
    shape = d.shape(1, 4, empty=0)
    ids = nd_indices(d, shape)
    updates = d.array((*ids.shape[:-1], *shape[ids.shape[-1] :]))
    return ids, updates, K(np.array(shape, ids.dtype))


spec(
    "ScatterNd",
    scatter_nd,
    without=["string"],
    bad=(lambda d: (np.array([[4]], np.int32), d.array((1,)), K([3], "int32")),),
)


def tensor_scatter(d: Draw) -> Any:
    shape = d.shape(1, 4, empty=0)
    ids = nd_indices(d, shape)
    if d.op in ("TensorScatterUpdate",):
        _, first = np.unique(ids.reshape(-1, ids.shape[-1]), axis=0, return_index=True)
        ids = ids.reshape(-1, ids.shape[-1])[first]
    return d.array(shape), ids, d.array((*ids.shape[:-1], *shape[ids.shape[-1] :]))


spec(
    "TensorScatterUpdate TensorScatterAdd TensorScatterSub ScatterNdNonAliasingAdd",
    tensor_scatter,
    bad=(lambda d: (d.array((3,)), np.array([[4]], np.int32), d.array((1,))),),
)


spec("TensorScatterMax TensorScatterMin", tensor_scatter, mutate=("dtype", "integer"))


def one_hot(d: Draw) -> Any:
    ids = d.rng.integers(-1, 5, d.shape(0, 3)).astype(
        d.choice([np.uint8, np.int32, np.int64])
    )
    return call(
        ids, K(4, "int32"), d.array(()), d.array(()), axis=d.integer(-1, ids.ndim)
    )


spec(
    "OneHot",
    one_hot,
    bad=(
        lambda d: (np.array([1], np.int32), K(-1, "int32"), d.array(()), d.array(())),
    ),
)
