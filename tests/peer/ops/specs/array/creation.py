"""Specs of Bitcast, BroadcastArgs, BroadcastGradientArgs, BroadcastTo, ...."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peer.ops.draw import Draw, K
from tests.peer.ops.spec import call, spec
from tests.peer.ops.specs.shared.arrays import Q, rank_of, shape_of


def any_tensor(d: Draw) -> Any:
    return (d.array(),)


spec(
    "Identity StopGradient PreventGradient Snapshot DeepCopy GuaranteeConst", any_tensor
)


spec("Rank", any_tensor)


spec("Shape Size", lambda d: call(d.array(), out_type=d.choice(["int32", "int64"])))


spec(
    "ShapeN",
    lambda d: call([d.array(), d.array()], out_type=d.choice(["int32", "int64"])),
)


spec(
    "IdentityN",
    lambda d: ([d.array(), d.array(dtype="float32")],),
    types=["float64", "string"],
)


spec("EnsureShape", lambda d: ensure_shape(d))


spec("Bitcast", lambda d: bitcast(d), attr="T", gradient=False)


spec(
    "CheckNumerics",
    lambda d: call(d.array(), message="not good"),
    bad=(
        lambda d: call(np.array([1, np.nan], d.dtype.np_dtype), message="m"),
        lambda d: call(np.array([1, np.inf], d.dtype.np_dtype), message="m"),
    ),
)


def ensure_shape(d: Draw) -> Any:
    x = d.array()
    shape = tuple(None if d.maybe(0.3) else s for s in shape_of(x))
    return call(x, shape=shape)


def bitcast(d: Draw) -> Any:
    sizes = {1: "uint8", 2: "int16", 4: "int32", 8: "int64", 16: "complex128"}
    size = d.dtype.size
    other = d.choice([s for s in sizes if s <= size or s <= 8])
    if other == 1 and d.dtype.name == "bool":
        other = 2
    shape = d.shape(0, 3)
    if other > size:
        shape = (*shape, other // size)
    return call(d.array(shape), type=sizes[other])


def reshape(d: Draw) -> Any:
    x = d.array()
    sizes = list(shape_of(x))
    d.rng.shuffle(sizes)
    if sizes and 0 not in sizes and d.maybe(0.4):
        sizes[d.integer(0, len(sizes) - 1)] = -1
    return x, K(np.array(sizes, d.index_type()))


def reshape_wrong(d: Draw) -> Any:
    return d.array((2, 3)), K([4, 2], "int32")


def reshape_two_unknown(d: Draw) -> Any:
    return d.array((2, 3)), K([-1, -1], "int32")


spec("Reshape", reshape, bad=(reshape_wrong, reshape_two_unknown))


def expand_dims(d: Draw) -> Any:
    x = d.array()
    rank = rank_of(x) + 1
    return x, K(d.axis(rank), d.index_type())


spec("ExpandDims", expand_dims, bad=(lambda d: (d.array((2, 3)), K(3, "int32")),))


def squeeze(d: Draw) -> Any:
    x = d.array(d.shape(0, 4, size=2))
    ones = [i for i, s in enumerate(shape_of(x)) if s == 1]
    picked = [i - rank_of(x) if d.maybe(0.3) else i for i in ones if d.maybe()]
    return call(x, squeeze_dims=picked)


spec(
    "Squeeze",
    squeeze,
    bad=(
        lambda d: call(d.array((2, 1)), squeeze_dims=[0]),
        lambda d: call(d.array((2, 1)), squeeze_dims=[2]),
    ),
)


def transpose(d: Draw) -> Any:
    x = d.array()
    return x, K(d.rng.permutation(rank_of(x)).astype(d.index_type()))


def full_transpose(d: Draw) -> Any:
    """TensorFlow 1.15 dies of empty tensors, vectors and scalars."""
    x = d.array(d.shape(2, 4, empty=0))
    return x, K(d.rng.permutation(rank_of(x)).astype(d.index_type()))


spec(
    "Transpose",
    transpose,
    mutate=("rank", "size", "empty", "dtype"),
    bad=(
        lambda d: (d.array((2, 3)), K([0, 0], "int32")),
        lambda d: (d.array((2, 3)), K([0, 2], "int32")),
    ),
)


spec(
    "ConjugateTranspose",
    full_transpose,
    mutate=("dtype",),
    bad=(
        lambda d: (d.array((2, 3)), K([0, 0], "int32")),
        lambda d: (d.array((2, 3)), K([0, 2], "int32")),
    ),
)


def broadcast_to(d: Draw) -> Any:
    shape = d.shape()
    return d.array(d.broadcast(shape)), K(np.array(shape, d.index_type()))


spec(
    "BroadcastTo",
    broadcast_to,
    mutate=("rank", "dtype"),
    bad=(lambda d: (d.array((2, 3)), K([2, 4], "int32")),),
)


def broadcast_args(d: Draw) -> Any:
    shape = d.shape()
    kind = d.dtype.np_dtype
    a, b = np.array(d.broadcast(shape), kind), np.array(shape, kind)
    return (K(a), K(b)) if d.maybe() else (K(b), K(a))


spec(
    "BroadcastArgs BroadcastGradientArgs",
    broadcast_args,
    bad=(lambda d: (np.array([2], d.dtype.np_dtype), np.array([3], d.dtype.np_dtype)),),
)


def fill(d: Draw) -> Any:
    return K(np.array(d.shape(), d.index_type())), d.array(())


spec("Fill", fill, bad=(lambda d: (K([-1], "int32"), d.array(())),))


spec(
    "InvertPermutation",
    lambda d: (d.rng.permutation(d.integer(0, 6)).astype(d.dtype.np_dtype),),
    bad=(
        lambda d: (np.array([0, 0], d.dtype.np_dtype),),
        lambda d: (np.array([0, 5], d.dtype.np_dtype),),
    ),
)


spec("Empty", lambda d: call(K(np.array(d.shape(), np.int32)), init=True), attr="dtype")


def constant(d: Draw) -> Any:
    x = d.array()
    return call(value=getattr(x, "value", x), dtype=d.dtype)


spec("Const", constant, attr="dtype", without=Q)


spec("PlaceholderWithDefault", lambda d: with_default(d), attr="dtype")


def with_default(d: Draw) -> Any:
    x = d.array()
    return call(x, shape=tuple(None if d.maybe() else s for s in shape_of(x)))
