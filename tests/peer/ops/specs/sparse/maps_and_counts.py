"""Specs of AddManySparseToTensorsMap, AddSparseToTensorsMap, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import call, spec
from tests.peer.ops.specs.shared.references_and_counts import (
    AT,
    COUNTED,
    SIZES,
    bincount,
    bytes_of,
)

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


# --- sparse ------------------------------------------------------------------------


def _kept_rows(d: Draw) -> Program:
    p = Program(differentiate=False)
    name = f"{d.op}{d.cell}{d.example}"
    handles = p.op(
        "AddManySparseToTensorsMap", AT, d.array((3,)), SIZES, shared_name=name
    )
    p.run(
        p.op("TakeManySparseFromTensorsMap", handles, dtype=d.dtype, shared_name=name)
    )
    return p


def _kept(d: Draw) -> Program:
    p = Program(differentiate=False)
    name = f"{d.op}{d.cell}{d.example}"
    handle = p.op("AddSparseToTensorsMap", AT, d.array((3,)), SIZES, shared_name=name)
    rows = p.op("ExpandDims", handle, p.const(0, "int32"))
    p.run(p.op("TakeManySparseFromTensorsMap", rows, dtype=d.dtype, shared_name=name))
    return p


_KEPT = ["float32", "int64", "string", "bool"]


spec(
    "AddManySparseToTensorsMap TakeManySparseFromTensorsMap",
    _kept_rows,
    types=_KEPT,
    mutate=(),
)


spec("AddSparseToTensorsMap", _kept, types=_KEPT, mutate=())


spec(
    "SparseAddGrad",
    lambda d: (
        d.array((4,)),
        AT,
        np.array([[0, 1], [2, 2]], np.int64),
        np.array([[0, 1], [1, 0], [1, 2], [2, 2]], np.int64),
    ),
    gradient=False,
    mutate=("dtype",),
)


spec(
    "SparseDenseCwiseDiv",
    lambda d: (AT, d.array((3,)), SIZES, d.array((1, 4), low=1, high=5)),
    mutate=("dtype",),
)


spec(
    "SparseSliceGrad",
    lambda d: (
        d.array((2,)),
        AT,
        np.array([1, 0], np.int64),
        np.array([[0, 0], [0, 2]], np.int64),
    ),
    gradient=False,
    mutate=("dtype",),
)


def _cross_parts(d: Draw) -> list[Any]:
    words = np.array([b"a", b"b", b"c"], object)
    numbers = np.array([4, 5, 6], np.int64)
    dense = np.array([[7], [8], [9]], np.int64)
    return [[AT, AT], [words, numbers], [SIZES, SIZES], [dense]]


def _cross(d: Draw) -> Any:
    # Not hashed, TensorFlow's kernel crashes on numbers beside strings.
    return call(
        *_cross_parts(d),
        hashed_output=True,
        num_buckets=d.choice((0, 100)),
        hash_key=956888297470,
        out_type="int64",
        internal_type="string",
    )


spec("SparseCross", _cross, types=(), mutate=("dtype",))


spec(
    "SparseCrossV2",
    lambda d: call(*_cross_parts(d), bytes_of("_X_")),
    types=(),
    mutate=(),
)


def _segments(d: Draw) -> Any:
    ids = [np.array([0, 2, 1], np.int32), np.array([0, 0, 1], np.int32), np.int32(3)]
    return d.array((2, 3)), *ids


spec("SparseSegmentSumGrad", _segments, gradient=False, mutate=("dtype",))


spec(
    "SparseSegmentSumGradV2 SparseSegmentMeanGradV2 SparseSegmentSqrtNGradV2",
    _segments,
    gradient=False,
    mutate=("dtype",),
)


# --- counts ------------------------------------------------------------------------


def _dense_counts(d: Draw) -> Any:
    values = d.array((2, 4), low=0, high=5)
    weights = (
        d.array((2, 4), dtype="float32") if d.maybe() else np.array([], np.float32)
    )
    return call(
        values,
        weights,
        binary_output=not weights.size and d.maybe(),
        maxlength=d.choice((-1, 4)),
    )


def _sparse_counts(d: Draw) -> Any:
    return call(
        AT,
        d.array((3,), low=0, high=5),
        SIZES,
        np.array([], np.int64),
        binary_output=d.maybe(),
    )


def _ragged_counts(d: Draw) -> Any:
    return call(
        np.array([0, 1, 1, 3], np.int64),
        d.array((3,), low=0, high=5),
        np.array([], np.int64),
        binary_output=False,
    )


spec(
    "DenseCountSparseOutput",
    _dense_counts,
    types=COUNTED,
    gradient=False,
    mutate=("dtype",),
)


spec(
    "SparseCountSparseOutput",
    _sparse_counts,
    types=COUNTED,
    gradient=False,
    mutate=("dtype",),
)


spec(
    "RaggedCountSparseOutput",
    _ragged_counts,
    types=COUNTED,
    gradient=False,
    mutate=("dtype",),
)


spec(
    "SparseBincount",
    bincount,
    attr="Tidx",
    types=COUNTED,
    gradient=False,
    mutate=("dtype",),
)


# --- references --------------------------------------------------------------------
