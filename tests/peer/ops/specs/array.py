"""Shapes, slices, joins, gathers and other ways of moving elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peer.ops.draw import Draw, K
from tests.peer.ops.spec import call, spec

Q = ["qint8", "quint8", "qint32"]


def rank_of(x: Any) -> int:
    return int(np.ndim(getattr(x, "value", x)))


def shape_of(x: Any) -> tuple[int, ...]:
    return tuple(np.shape(getattr(x, "value", x)))


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


# --- shapes ---------------------------------------------------------------------


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


# --- joins and splits -----------------------------------------------------------


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

# --- slices ---------------------------------------------------------------------


def slice_(d: Draw) -> Any:
    x = d.array()
    shape = shape_of(x)
    begin = [d.integer(0, s) for s in shape]
    size = [
        -1 if d.maybe(0.3) else d.integer(0, s - b)
        for s, b in zip(shape, begin, strict=True)
    ]
    kind = d.index_type()
    return x, K(np.array(begin, kind)), K(np.array(size, kind))


spec(
    "Slice",
    slice_,
    bad=(
        lambda d: (d.array((3,)), K([2], "int32"), K([2], "int32")),
        lambda d: (d.array((3,)), K([-1], "int32"), K([2], "int32")),
        lambda d: (d.array((3,)), K([4], "int32"), K([0], "int32")),
    ),
)


def slice_parts(
    d: Draw, shape: tuple[int, ...]
) -> tuple[Any, Any, Any, dict[str, int]]:
    """begin, end, strides and masks; fewer entries than dimensions are possible."""
    count = d.integer(0, len(shape))
    begin, end, strides = [], [], []
    masks = dict.fromkeys(
        (
            "begin_mask",
            "end_mask",
            "ellipsis_mask",
            "new_axis_mask",
            "shrink_axis_mask",
        ),
        0,
    )
    ellipsis_at = d.integer(0, count - 1) if count and d.maybe(0.3) else None
    position = 0
    for i in range(count):
        if i == ellipsis_at:
            masks["ellipsis_mask"] |= 1 << i
            position = len(shape) - (count - i - 1)
            begin.append(0), end.append(0), strides.append(1)
            continue
        size = shape[position]
        position += 1
        if d.maybe(0.15) and size and ellipsis_at is None:
            at = d.integer(-size, size - 1)
            masks["shrink_axis_mask"] |= 1 << i
            begin.append(at), end.append(at + 1), strides.append(1)
            continue
        masks["begin_mask"] |= d.integer(0, 1) << i
        masks["end_mask"] |= d.integer(0, 1) << i
        begin.append(d.integer(-size - 1, size + 1))
        end.append(d.integer(-size - 1, size + 1))
        strides.append(d.choice([1, 1, 2, -1, -2]))
    if d.maybe(0.3):
        masks["new_axis_mask"] |= 1 << count
        begin.append(0), end.append(0), strides.append(1)
    kind = d.index_type()
    return np.array(begin, kind), np.array(end, kind), np.array(strides, kind), masks


def strided_slice(d: Draw) -> Any:
    x = d.array(d.shape(1, 4))
    begin, end, strides, masks = slice_parts(d, shape_of(x))
    return call(x, K(begin), K(end), K(strides), **masks)


spec(
    "StridedSlice",
    strided_slice,
    examples=6,
    bad=(
        lambda d: (d.array((3,)), K([0], "int32"), K([2], "int32"), K([0], "int32")),
        lambda d: call(
            d.array((3,)),
            K([3], "int32"),
            K([4], "int32"),
            K([1], "int32"),
            shrink_axis_mask=1,
        ),
        lambda d: call(
            d.array((3,)), K([0, 0], "int32"), K([1, 1], "int32"), K([1, 1], "int32")
        ),
    ),
)


def strided_slice_grad(d: Draw) -> Any:
    shape = d.shape(1, 4)
    begin, end, strides, masks = slice_parts(d, shape)
    from tensorloom.framework import graph as graphs  # noqa: F401

    result = sliced(np.zeros(shape), begin, end, strides, masks)
    kind = begin.dtype
    return call(
        K(np.array(shape, kind)),
        K(begin),
        K(end),
        K(strides),
        d.array(result.shape),
        **masks,
    )


def sliced(x: Any, begin: Any, end: Any, strides: Any, masks: dict[str, int]) -> Any:
    """NumPy's slice of the same meaning."""
    index: list[Any] = []
    for i in range(len(begin)):
        bit = 1 << i
        if masks["ellipsis_mask"] & bit:
            index.append(Ellipsis)
        elif masks["new_axis_mask"] & bit:
            index.append(None)
        elif masks["shrink_axis_mask"] & bit:
            index.append(int(begin[i]))
        else:
            index.append(
                slice(
                    None if masks["begin_mask"] & bit else int(begin[i]),
                    None if masks["end_mask"] & bit else int(end[i]),
                    int(strides[i]),
                )
            )
    return x[tuple(index)]


spec("StridedSliceGrad", strided_slice_grad, examples=6)


def pad(d: Draw) -> tuple[Any, Any]:
    x = d.array(d.shape(0, 4))
    return x, K(d.rng.integers(0, 3, (rank_of(x), 2)).astype(d.index_type()))


spec(
    "Pad",
    pad,
    bad=(
        lambda d: (d.array((2,)), K([[-1, 0]], "int32")),
        lambda d: (d.array((2,)), K([[1, 0], [1, 1]], "int32")),
    ),
)
spec("PadV2", lambda d: (*pad(d), d.array(())))


def mirror(d: Draw) -> Any:
    mode = d.choice(["REFLECT", "SYMMETRIC"])
    shape = d.shape(1, 4, empty=0)
    most = [s - (mode == "REFLECT") for s in shape]
    paddings = [[d.integer(0, m), d.integer(0, m)] for m in most]
    return call(d.array(shape), K(np.array(paddings, d.index_type())), mode=mode)


def mirror_grad(d: Draw) -> Any:
    mode = d.choice(["REFLECT", "SYMMETRIC"])
    shape = d.shape(1, 3, empty=0)
    most = [s - (mode == "REFLECT") for s in shape]
    paddings = np.array([[d.integer(0, m), d.integer(0, m)] for m in most], np.int32)
    padded = [s + int(p.sum()) for s, p in zip(shape, paddings, strict=True)]
    return call(d.array(padded), K(paddings), mode=mode)


spec(
    "MirrorPad",
    mirror,
    bad=(lambda d: call(d.array((2,)), K([[2, 0]], "int32"), mode="REFLECT"),),
)
spec("MirrorPadGrad", mirror_grad)

# --- gathers and scatters -------------------------------------------------------


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


def reverse_v2(d: Draw) -> Any:
    x = d.array()
    return x, K(np.array(d.axes(rank_of(x)), d.index_type()))


spec(
    "ReverseV2",
    reverse_v2,
    mutate=("size", "dtype", "integer"),
    bad=(
        lambda d: (d.array((2, 3)), K([2], "int32")),
        lambda d: (d.array((2, 3)), K([1, -1], "int32")),
    ),
)
spec("Reverse", lambda d: reverse(d), mutate=("size", "dtype"))


def reverse(d: Draw) -> Any:
    x = d.array()
    return x, K(d.rng.random(rank_of(x)) < 0.5)


def reverse_sequence(d: Draw) -> Any:
    shape = list(d.shape(2, 4, empty=0))
    axes = d.rng.permutation(len(shape))
    seq, batch = int(axes[0]), int(axes[1])
    lengths = d.rng.integers(0, shape[seq] + 1, shape[batch]).astype(d.index_type())
    return call(d.array(shape), lengths, seq_dim=seq, batch_dim=batch)


spec(
    "ReverseSequence",
    reverse_sequence,
    bad=(
        lambda d: call(
            d.array((2, 3)), np.array([4, 1], np.int32), seq_dim=1, batch_dim=0
        ),
    ),
)


def roll(d: Draw) -> Any:
    x = d.array(d.shape(1, 4))
    axes = np.array(d.axes(rank_of(x)) or [0], d.index_type())
    return x, d.rng.integers(-5, 6, axes.shape).astype(d.index_type()), axes


spec(
    "Roll",
    roll,
    bad=(lambda d: (d.array((2, 3)), np.array(1, np.int32), np.array(2, np.int32)),),
)

# --- blocks ---------------------------------------------------------------------


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

# --- finding --------------------------------------------------------------------


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

# --- ranges ---------------------------------------------------------------------


def range_(d: Draw) -> Any:
    kind = d.dtype.np_dtype
    start, delta = d.integer(-4, 4), d.choice([-3, -1, 1, 2])
    if d.dtype.is_unsigned:
        start, delta = abs(start), abs(delta)
    limit = start + delta * d.integer(0, 5)
    bounds = [np.asarray(v, kind) for v in (start, limit, delta)]
    if d.dtype.name == "bfloat16":  # TensorFlow's shape function misreads constants
        return tuple(bounds)
    return tuple(K(bound) for bound in bounds)


def range_backwards(d: Draw) -> Any:
    kind = d.dtype.np_dtype
    return tuple(K(np.asarray(v, kind)) for v in (0, -5, 1))


def range_zero(d: Draw) -> Any:
    kind = d.dtype.np_dtype
    return tuple(K(np.asarray(v, kind)) for v in (0, 5, 0))


spec(
    "Range",
    range_,
    attr="Tidx",
    bad=(range_backwards, range_zero),
    mutate=("rank", "empty", "dtype"),
)
spec(
    "LinSpace",
    lambda d: (d.array(()), d.array(()), K(d.integer(1, 6), d.index_type())),
    bad=(lambda d: (d.array(()), d.array(()), K(0, "int32")),),
)
