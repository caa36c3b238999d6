"""Sparse and ragged tensors, strings, parsing."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peer.ops.draw import Draw, K
from tests.peer.ops.spec import call, spec

# Wrong sizes make TensorFlow's sparse kernels read what is not theirs.
SAFE = ("dtype",)
NUMBERS = ["float32", "float64", "int32", "int64", "complex64", "int8"]


def sparse(
    d: Draw, shape: tuple[int, ...] | None = None, dtype: Any = None
) -> tuple[Any, Any, Any]:
    """Indices in row-major order without repeats, values, shape."""
    dims = d.shape(2, 3) if shape is None else shape
    total = int(np.prod(dims))
    places = (
        np.flatnonzero(d.rng.random(total) < 0.6) if total else np.zeros(0, np.int64)
    )
    indices = (
        np.stack(np.unravel_index(places, dims), axis=1).astype(np.int64)
        if len(dims)
        else places[:, None]
    )
    values = (
        d.array((len(places),))
        if dtype is None
        else d.array((len(places),), dtype=dtype)
    )
    return indices, values, np.array(dims, np.int64)


def words(d: Draw, *shape: int) -> Any:
    letters = ["", "a", "b c", " d  e ", "xyz", "a,b,,c", "tab\there", "é€", "0", "-12"]
    count = int(np.prod(shape))
    flat = np.array([d.choice(letters).encode() for _ in range(count)] + [b""], object)[
        :-1
    ]
    return flat.reshape(shape)


# --- sparse ---------------------------------------------------------------------


def to_dense(d: Draw) -> Any:
    indices, values, shape = sparse(d)
    return call(indices, K(shape), values, d.array(()))


def with_dense(d: Draw) -> Any:
    indices, values, shape = sparse(d)
    return call(indices, values, shape, d.array(tuple(shape.tolist())))


def two_alike(d: Draw) -> Any:
    shape = d.shape(2, 3)
    return call(*sparse(d, shape), *sparse(d, shape))


def added(d: Draw) -> Any:
    shape = d.shape(2, 3)
    real = {"complex64": "float32", "complex128": "float64"}.get(
        d.dtype.name, d.dtype.name
    )
    return call(
        *sparse(d, shape),
        *sparse(d, shape),
        np.zeros((), np.dtype(real) if real != "bfloat16" else d.dtype.np_dtype),
    )


def reduced(d: Draw) -> Any:
    indices, values, shape = sparse(d)
    return call(
        indices,
        values,
        shape,
        np.array(d.axes(len(shape)), np.int32),
        keep_dims=d.maybe(),
    )


def reshaped(d: Draw) -> Any:
    indices, _, shape = sparse(d, (2, 3, 4), "int32")
    return call(
        indices,
        shape,
        K(d.choice([np.array(s, np.int64) for s in ((6, 4), (-1,), (4, -1, 2))])),
    )


def reordered(d: Draw) -> Any:
    indices, values, shape = sparse(d)
    order = d.rng.permutation(len(values))
    return call(indices[order], values, shape)


def joined(d: Draw) -> Any:
    parts = [sparse(d, (2, n, 3)) for n in (1, 3)]
    return call(
        *[list(x) for x in zip(*parts, strict=False)], concat_dim=d.choice([1, -2])
    )


def split(d: Draw) -> Any:
    indices, values, shape = sparse(d, (2, 5))
    return call(K(1, "int64"), indices, values, shape, num_split=d.integer(1, 3))


def sliced(d: Draw) -> Any:
    indices, values, shape = sparse(d, (3, 4))
    return call(indices, values, shape, K([1, 0], "int64"), K([2, 3], "int64"))


def filled(d: Draw) -> Any:
    return call(*sparse(d, (4, 3)), d.array(()))


def mat_mul(d: Draw) -> Any:
    return call(*sparse(d, (3, 4)), d.array((4, 2)))


spec("SparseToDense", to_dense, attr="T", mutate=SAFE, gradient=False)
spec("SparseDenseCwiseAdd SparseDenseCwiseMul", with_dense, mutate=SAFE)
spec("SparseTensorDenseAdd", with_dense, mutate=SAFE)
spec("SparseAdd", added, types=NUMBERS, mutate=SAFE)
# Their gradients raise TypeError in TensorFlow: a mistake of theirs.
spec("SparseSparseMaximum SparseSparseMinimum", two_alike, mutate=SAFE, gradient=False)
spec(
    "SparseReduceSum SparseReduceMax SparseReduceSumSparse SparseReduceMaxSparse",
    reduced,
    mutate=SAFE,
)
spec("SparseReorder", reordered, types=[*NUMBERS, "string"], mutate=SAFE)
spec("SparseReshape", reshaped, types=(), mutate=SAFE)
spec("SparseConcat", joined, mutate=SAFE)
spec("SparseSplit", split, mutate=SAFE)
spec("SparseSlice", sliced, mutate=SAFE)
spec("SparseFillEmptyRows", filled, mutate=SAFE)
spec("SparseSoftmax", lambda d: call(*sparse(d)), mutate=SAFE)
spec("SparseTensorDenseMatMul", mat_mul, types=["float32", "float64"], mutate=SAFE)
spec(
    "SerializeSparse SerializeManySparse",
    lambda d: call(*sparse(d), out_type="string"),
    mutate=SAFE,
)


# --- ragged ---------------------------------------------------------------------


def splits(d: Draw, rows: int) -> Any:
    return np.concatenate([[0], np.cumsum(d.rng.integers(0, 4, rows))]).astype(np.int64)


def ranges(d: Draw) -> Any:
    kind = d.dtype.np_dtype
    return call(
        np.array([0, 5, 2], kind), np.array([4, 1, 2], kind), np.array([1, -2, 1], kind)
    )


def ragged_gather(d: Draw) -> Any:
    outer = splits(d, 3)
    inner = splits(d, int(outer[-1]))
    values = d.array((int(inner[-1]), 2))
    indices = d.indices(d.shape(0, 2), 3, "int32")
    rank = np.ndim(indices)
    return call([outer, inner], values, indices, OUTPUT_RAGGED_RANK=1 + rank)


def ragged_values(d: Draw) -> Any:
    outer = splits(d, 3)
    inner = splits(d, int(outer[-1]))
    return call([outer, inner], d.array((int(inner[-1]),)))


def ragged_to_tensor(d: Draw) -> Any:
    rows = splits(d, 3)
    shape = d.choice([np.array([-1, -1], np.int64), np.array([3, 2], np.int64)])
    return call(
        K(shape),
        d.array((int(rows[-1]),)),
        d.array(()),
        [rows],
        row_partition_types=["ROW_SPLITS"],
    )


spec("RaggedRange", ranges, gradient=False, mutate=SAFE)
spec(
    "RaggedGather",
    ragged_gather,
    attr="Tvalues",
    types=["float32", "int64", "string"],
    mutate=SAFE,
)
spec(
    "RaggedTensorToSparse",
    ragged_values,
    types=["float32", "int32", "string"],
    mutate=SAFE,
)
spec(
    "RaggedTensorToTensor",
    ragged_to_tensor,
    types=["float32", "int32", "string"],
    mutate=SAFE,
    gradient=False,
)


# --- strings --------------------------------------------------------------------

spec(
    "StringSplit",
    lambda d: call(
        words(d, 4), d.choice([b" ", b",", b"", b" ,"]), skip_empty=d.maybe()
    ),
    types=(),
)
spec(
    "StringSplitV2",
    lambda d: call(
        words(d, 4), d.choice([b" ", b",", b"", b", "]), maxsplit=d.integer(-1, 2)
    ),
    types=(),
)
spec(
    "StringLength",
    lambda d: call(words(d, 2, 2), unit=d.choice(["BYTE", "UTF8_CHAR"])),
    types=(),
)
spec(
    "StringLower StringUpper",
    lambda d: call(words(d, 3), encoding=d.choice(["", "utf-8"])),
    types=(),
)
spec("StringStrip EncodeBase64", lambda d: call(words(d, 3)), types=())
spec(
    "StringJoin",
    lambda d: call([words(d, 2), words(d, 2)], separator="-"),
    types=(),
    mutate=SAFE,
)
spec(
    "Substr",
    lambda d: call(words(d, 3), K(0, "int32"), K(d.integer(0, 4), "int32")),
    types=(),
)
spec(
    "RegexReplace",
    lambda d: call(words(d, 3), K(b"[a-c]+"), K(b"<\\0>"), replace_global=d.maybe()),
    types=(),
)
spec(
    "StaticRegexReplace",
    lambda d: call(words(d, 3), pattern="[a-c]+", rewrite="<\\0>"),
    types=(),
)
spec("StaticRegexFullMatch", lambda d: call(words(d, 3), pattern=".*b.*"), types=())
spec(
    "StringToHashBucketFast StringToHashBucket",
    lambda d: call(words(d, 5), num_buckets=1000),
    types=(),
)
spec(
    "StringToHashBucketStrong",
    lambda d: call(words(d, 5), num_buckets=1000, key=[7, 9]),
    types=(),
)
spec(
    "StringToNumber",
    lambda d: call(np.array([b"1", b"-25", b" 3 "], object)),
    attr="out_type",
    bad=(lambda d: call(np.array([b"x"], object)),),
)
spec("AsString", lambda d: call(d.array((3,))), without=["variant"])
spec(
    "ReduceJoin",
    lambda d: call(
        words(d, 2, 3), K([d.choice([0, 1, -1])], "int32"), keep_dims=d.maybe()
    ),
    types=(),
)
spec(
    "UnsortedSegmentJoin",
    lambda d: call(
        words(d, 4), np.array([0, 2, 0, 1], np.int32), K(3, "int32"), separator="+"
    ),
    types=(),
    mutate=SAFE,
)
spec(
    "UnicodeDecode UnicodeDecodeWithOffsets",
    lambda d: call(
        words(d, 3), input_encoding="UTF-8", replace_control_characters=d.maybe()
    ),
    types=(),
)
spec(
    "UnicodeTranscode",
    lambda d: call(
        words(d, 3),
        input_encoding="UTF-8",
        output_encoding=d.choice(["UTF-8", "UTF-16-BE", "UTF-32-BE"]),
    ),
    types=(),
)
spec(
    "UnicodeEncode",
    lambda d: call(
        np.array([104, 233, 8364, 97], np.int32),
        np.array([0, 2, 2, 4], np.int64),
        output_encoding="UTF-8",
    ),
    types=(),
    mutate=SAFE,
)
spec(
    "UnicodeScript",
    lambda d: call(d.rng.integers(0, 0x11000, (2, 3)).astype(np.int32)),
    types=(),
)
spec(
    "StringNGrams",
    lambda d: call(
        np.array([b"a", b"b", b"c", b"d"], object),
        np.array([0, 3, 4], np.int64),
        separator=" ",
        ngram_widths=[2, 3],
        left_pad="<",
        right_pad=">",
        pad_width=d.integer(-1, 2),
        preserve_short_sequences=d.maybe(),
    ),
    types=(),
    mutate=SAFE,
)
spec(
    "DecodeRaw",
    lambda d: call(np.array([d.array((2,)).tobytes()], object)),
    attr="out_type",
    without=["string", "bool"],
    mutate=SAFE,
)


# --- parsing --------------------------------------------------------------------


def decode_csv(d: Draw) -> Any:
    lines = np.array([b'1,2.5,"a,b"', b"3,,c", b",1,"], object)
    return call(
        lines,
        [
            K(np.array([7], np.int32)),
            K(np.array([0.5], np.float32)),
            K(np.array([b"x"], object)),
        ],
    )


spec("DecodeCSV", decode_csv, types=(), mutate=SAFE)
