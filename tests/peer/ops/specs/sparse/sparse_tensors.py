"""Specs of SparseAdd, SparseConcat, SparseDenseCwiseAdd, SparseDenseCwiseMul, ...."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peer.ops.draw import Draw, K
from tests.peer.ops.spec import call, spec
from tests.peer.ops.specs.shared.safe_mutations import SAFE

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
