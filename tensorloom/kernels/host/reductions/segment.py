"""Host kernels of the segment reductions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.math.errors import shape_text

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

_WIDE_UNSIGNED = {"T": {dtypes.uint16, dtypes.uint32, dtypes.uint64}}


# --- sorted segments ---------------------------------------------------------


def check_sorted(data: tuple[int, ...], ids: Any, id_shape: tuple[int, ...]) -> None:
    """Raises InvalidArgumentError unless `ids` are sorted, one for each row."""
    if len(id_shape) != 1:
        raise invalid_argument("segment_ids should be a vector.")
    if not data or data[0] != id_shape[0]:
        raise invalid_argument(
            "segment_ids should be the same size as dimension 0 of input."
        )
    if id_shape[0] == 0:
        return
    if not bool((ids[1:] >= ids[:-1]).all()):
        # The kernel walks the rows; what it meets first names the error.
        first, last = int(ids[0]), int(ids[-1])
        if first >= 0 and last >= 0:
            raise invalid_argument("segment ids are not increasing")
        raise _out_of_range(first, last)
    first, last = int(ids[0]), int(ids[-1])
    # The number of segments, one more than the last id, is an int32 as the ids are.
    if last == 2**31 - 1 and "int32" in str(ids.dtype):
        raise invalid_argument("segment ids must be >= 0")
    if first < 0:
        raise _out_of_range(first, last)


def _out_of_range(first: int, last: int) -> Exception:
    if last < 0:
        return invalid_argument("segment ids must be >= 0")
    return invalid_argument(
        f"Segment id {first} out of range [0, {last + 1}), possibly because "
        "'segment_ids' input is not sorted."
    )


def _sorted_segments(
    op: str, combine: Callable[..., None], start: Callable[[DType], Any], gap: int
) -> None:
    def factory(c: OpKernelConstruction) -> Compute:
        dtype = c["T"]
        to, first = dtype.np_dtype, start(dtype)

        def compute(data: Any, ids: Any) -> Any:
            check_sorted(data.shape, ids, ids.shape)
            rows = int(ids[-1]) + 1 if ids.size else 0
            out = np.full((rows, *data.shape[1:]), to.type(first))
            combine(out, ids, data)
            counts = np.bincount(ids, minlength=rows)
            if op == "SegmentMean":
                divisor = np.maximum(counts, 1).reshape((-1,) + (1,) * (data.ndim - 1))
                return (out / divisor).astype(to)
            out[counts == 0] = gap
            return out

        return compute

    host_kernel(op)(factory)
    host_kernel(op, types=_WIDE_UNSIGNED, large=True)(factory)


_sorted_segments("SegmentSum", np.add.at, lambda dtype: 0, 0)
_sorted_segments("SegmentMean", np.add.at, lambda dtype: 0, 0)
_sorted_segments("SegmentProd", np.multiply.at, lambda dtype: 1, 1)
_sorted_segments(
    "SegmentMax", np.fmax.at, lambda t: -math.inf if t.is_floating else t.min, 0
)
_sorted_segments(
    "SegmentMin", np.fmin.at, lambda t: math.inf if t.is_floating else t.max, 0
)


# --- unsorted segments -------------------------------------------------------


def check_unsorted(
    data: tuple[int, ...], ids: Any, id_shape: tuple[int, ...], num_segments: Any
) -> int:
    """The number of segments of UnsortedSegment*.

    Raises:
      InvalidArgumentError: shapes do not fit, or an id is too large.
    """
    if num_segments.shape != ():
        raise invalid_argument(
            "num_segments should be a scalar, not shape "
            + shape_text(num_segments.shape)
        )
    if tuple(data[: len(id_shape)]) != tuple(id_shape):
        raise invalid_argument(
            f"data.shape = {shape_text(data)} does not start with "
            f"segment_ids.shape = {shape_text(id_shape)}"
        )
    rows = int(num_segments)
    if rows < 0:
        raise invalid_argument(f"Input num_segments == {rows} must not be negative.")
    if math.prod(id_shape) and int(ids.max()) >= rows:
        place = np.argwhere(np.asarray(ids) >= rows)[0]
        value = int(ids[tuple(place)])
        where = ",".join(str(int(p)) for p in place)
        raise invalid_argument(
            f"segment_ids[{where}] = {value} is out of range [0, {rows})"
        )
    return rows


def _unsorted_segments(
    op: str, combine: Callable[..., None], start: Callable[[DType], Any]
) -> None:
    def factory(c: OpKernelConstruction) -> Compute:
        dtype = c["T"]
        to, first = dtype.np_dtype, start(dtype)

        def compute(data: Any, ids: Any, num_segments: Any) -> Any:
            rows = check_unsorted(data.shape, ids, ids.shape, num_segments)
            inner = data.shape[ids.ndim :]
            out = np.full((rows, *inner), to.type(first))
            flat, kept = ids.reshape(-1), ids.reshape(-1) >= 0
            flat, data = flat[kept], data.reshape((flat.size, *inner))[kept]
            combine(out, flat, data)
            if op in _EXTREMA and (out != out).any():
                return extrema_after_nan(_EXTREMA[op], data, flat, rows, first)
            return out

        return compute

    host_kernel(op)(factory)
    host_kernel(op, types=_WIDE_UNSIGNED, large=True)(factory)


def extrema_after_nan(
    combine: np.ufunc, data: Any, ids: Any, rows: int, first: Any
) -> Any:
    """The extrema of what comes behind the last NaN of each segment.

    TensorFlow compares one element after the other with the extremum so far, and what
    follows a NaN takes its place. Where nothing follows, it is NaN.

    Args:
      combine: np.maximum or np.minimum.
      data: [rows of all segments, ...].
      ids: the segment of each row, none negative.
      rows: how many segments there are.
      first: what each begins with.
    """
    shape = (rows, *data.shape[1:])
    order = np.arange(1, len(ids) + 1).reshape((-1,) + (1,) * (data.ndim - 1))
    last, last_nan = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    np.maximum.at(last, ids, order)
    np.maximum.at(last_nan, ids, np.where(np.isnan(data), order, 0))
    first = data.dtype.type(first)
    out = np.full(shape, first)
    combine.at(out, ids, np.where(order <= last_nan[ids], first, data))
    out[(last == last_nan) & (last > 0)] = math.nan
    return out


_EXTREMA: dict[str, np.ufunc] = {
    "UnsortedSegmentMax": np.maximum,
    "UnsortedSegmentMin": np.minimum,
}
_unsorted_segments("UnsortedSegmentSum", np.add.at, lambda dtype: 0)
_unsorted_segments("UnsortedSegmentProd", np.multiply.at, lambda dtype: 1)
_unsorted_segments("UnsortedSegmentMax", np.maximum.at, lambda dtype: dtype.min)
_unsorted_segments("UnsortedSegmentMin", np.minimum.at, lambda dtype: dtype.max)
