"""Specs of All, Any, ArgMax, ArgMin, ...."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peer.ops.draw import Draw, K
from tests.peer.ops.spec import Tolerance, call, spec

SUMS = Tolerance(
    absolute=2e-6, relative=2e-5, reason="sums are added up in another order", widened=4
)


def reduction(low: float | None = None, high: float | None = None) -> Any:
    """One tensor and axes, constant in two variants."""

    def make(d: Draw) -> Any:
        x = d.array(low=low, high=high)
        axes = d.axes(np.ndim(getattr(x, "value", x)))
        index = d.index_type()
        if len(axes) == 1 and d.maybe():
            return call(x, K(axes[0], index), keep_dims=d.maybe())
        return call(x, K(np.array(axes, index)), keep_dims=d.maybe())

    return make


def bad_axis(d: Draw) -> Any:
    return call(d.array((2, 3)), K(d.choice([2, -3, 7]), "int32"))


def repeated_axis(d: Draw) -> Any:
    return call(d.array((2, 3)), K([1, -1], "int32"))


BAD = (bad_axis, repeated_axis)


NO_QUANTIZED = ["qint8", "quint8", "qint32"]


spec("Sum Mean", reduction(), bad=BAD, tolerance=SUMS, without=NO_QUANTIZED)


spec("Prod", reduction(-2, 2), bad=BAD, tolerance=SUMS, without=NO_QUANTIZED)


spec("Max Min", reduction(), bad=BAD, without=NO_QUANTIZED)


spec("EuclideanNorm", reduction(-2, 2), bad=BAD, tolerance=SUMS, without=NO_QUANTIZED)


def boolean_reduction(d: Draw) -> Any:
    x = d.array(dtype="bool")
    return call(x, K(np.array(d.axes(x.ndim), d.index_type())), keep_dims=d.maybe())


spec("All Any", boolean_reduction, types=())


def arg(d: Draw) -> Any:
    x = d.array(d.shape(1, 4, empty=0))
    axis = d.axis(np.ndim(getattr(x, "value", x)))
    return call(x, K(axis, d.index_type()), output_type=d.choice(["int32", "int64"]))


def arg_bad_axis(d: Draw) -> Any:
    return call(d.array((2, 3)), K(2, "int32"), output_type="int64")


def arg_empty(d: Draw) -> Any:
    return call(d.array((2, 0)), K(1, "int32"), output_type="int64")


spec("ArgMax ArgMin", arg, bad=(arg_bad_axis, arg_empty), without=NO_QUANTIZED)


def scan(d: Draw) -> Any:
    x = d.array(d.shape(1, 4), low=-2, high=2)
    axis = K(d.axis(x.ndim), d.index_type())
    return call(x, axis, exclusive=d.maybe(), reverse=d.maybe())


def scan_bad_axis(d: Draw) -> Any:
    return call(d.array((2, 3)), K(2, "int32"))


spec("Cumsum Cumprod", scan, bad=(scan_bad_axis,), tolerance=SUMS, without=NO_QUANTIZED)


spec("CumulativeLogsumexp", scan, bad=(scan_bad_axis,), tolerance=SUMS)


# --- segments -------------------------------------------------------------------


def segments(d: Draw) -> Any:
    count = d.integer(1, 6)
    ids = np.sort(d.rng.integers(0, 4, count)).astype(d.index_type())
    return d.array((count, *d.shape(0, 2)), low=-2, high=2), ids


def unsorted_ids(d: Draw) -> Any:
    return d.array((3, 2)), np.array([1, 0, 2], np.int32)


spec(
    "SegmentSum SegmentMean SegmentProd SegmentMax SegmentMin",
    segments,
    bad=(unsorted_ids,),
    tolerance=SUMS,
    without=NO_QUANTIZED,
)


def unsorted_segments(d: Draw) -> Any:
    shape = d.shape(1, 3)
    rank = d.integer(1, len(shape))
    ids = d.rng.integers(-1, 4, shape[:rank]).astype(d.index_type())
    return d.array(shape, low=-2, high=2), ids, K(4, d.choice(["int32", "int64"]))


def segment_too_large(d: Draw) -> Any:
    return d.array((3, 2)), np.array([1, 0, 5], np.int32), K(3, "int32")


spec(
    "UnsortedSegmentSum UnsortedSegmentProd UnsortedSegmentMax UnsortedSegmentMin",
    unsorted_segments,
    bad=(segment_too_large,),
    tolerance=SUMS,
    without=NO_QUANTIZED,
)


def sparse_segments(d: Draw) -> Any:
    data = d.array((5, *d.shape(0, 2)), low=-2, high=2)
    count = d.integer(1, 6)
    ids = np.sort(d.rng.integers(0, 4, count)).astype(np.int32)
    # Kernels for int64 indices came later.
    return data, d.indices((count,), 5, np.int32), ids


def sparse_segments_count(d: Draw) -> Any:
    return call(*sparse_segments(d), K(d.integer(4, 6), "int32"))


def sparse_index_out(d: Draw) -> Any:
    return d.array((3, 2)), np.array([0, 3], np.int32), np.array([0, 1], np.int32)


spec(
    "SparseSegmentSum SparseSegmentMean SparseSegmentSqrtN",
    sparse_segments,
    bad=(sparse_index_out,),
    tolerance=SUMS,
)


spec(
    "SparseSegmentSumWithNumSegments SparseSegmentMeanWithNumSegments "
    "SparseSegmentSqrtNWithNumSegments",
    sparse_segments_count,
    tolerance=SUMS,
)


def sparse_segments_grad(d: Draw) -> Any:
    grad = d.array((4, *d.shape(0, 2)))
    count = d.integer(1, 6)
    ids = np.sort(d.rng.integers(0, 4, count)).astype(np.int32)
    return grad, d.indices((count,), 5, np.int32), ids, K(5, "int32")


spec(
    "SparseSegmentMeanGrad SparseSegmentSqrtNGrad", sparse_segments_grad, tolerance=SUMS
)


# --- bins -----------------------------------------------------------------------


def bincount(d: Draw) -> Any:
    values = d.rng.integers(0, 6, d.shape(0, 2)).astype(np.int32)
    weighted = d.maybe()
    return (
        values,
        K(d.integer(2, 8), "int32"),
        d.array(values.shape if weighted else (0,)),
    )


spec("Bincount", bincount)


def dense_bincount(d: Draw) -> Any:
    values = d.array(d.shape(1, 2), low=0, high=6)
    weights = d.array(values.shape if d.maybe() else (0,), dtype="float32")
    size = np.asarray(d.integer(2, 8), d.dtype.np_dtype)
    return call(values, K(size), weights, binary_output=d.maybe())


spec(
    "DenseBincount",
    dense_bincount,
    attr="Tidx",
    bad=(
        lambda d: (d.array((3,), low=0), d.array((), low=4), np.float32(2)),
        lambda d: (d.array((2, 2), low=0), d.array((), low=4), np.zeros(4, "f")),
    ),
)


def histogram(d: Draw) -> Any:
    return call(
        d.array(),
        d.array((2,), low=0, high=0.4) + np.array([-2, 2], d.dtype.np_dtype),
        K(d.integer(1, 6), "int32"),
        dtype=d.choice(["int32", "int64"]),
    )


spec("HistogramFixedWidth", histogram)
