"""Reductions of slices in host memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.array.allocation import check_memory
from tensorloom.kernels.host.math.errors import shape_text

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType


def _begin_of_extremes(dtype: DType, largest: bool) -> Any:
    """What the largest (or smallest) of nothing is."""
    if dtype.is_floating:
        return dtype.as_numpy_dtype(-np.inf if largest else np.inf)
    return dtype.as_numpy_dtype(dtype.min if largest else dtype.max)


def _slices(indices: Any, size: int) -> Any:
    """[n, 2] of begins and ends within an axis."""
    if indices.ndim == 1:
        pairs = np.stack([indices[:-1], indices[1:]], axis=1)
    elif indices.ndim == 2 and indices.shape[1] == 2:
        pairs = indices
    else:
        raise invalid_argument(
            "indices must be a vector, or a matrix with two columns, got shape "
            f"{shape_text(indices.shape)}"
        )
    return np.clip(pairs, 0, size)


def _after_last_nan(part: Any, result: Any, ufunc: Any, begin: Any) -> Any:
    """What comparing one element after the other makes of an axis with NaN in it.

    A comparison with NaN is false and lets the next element in: only what follows the
    last NaN counts, or that NaN itself where it ends the axis.
    """
    wrong = np.isnan(result)
    if not wrong.any():
        return result
    is_nan = np.isnan(part)
    follows = np.flip(np.cumsum(np.flip(is_nan, 0), 0) == 0, 0)
    rest = ufunc.reduce(np.where(follows, part, begin), axis=0)
    return np.where(wrong, np.where(is_nan[-1], part[-1], rest), result)


@host_kernel(
    ["ReduceSliceSum", "ReduceSliceProd", "ReduceSliceMax", "ReduceSliceMin"],
    large=True,
)
def reduce_slice(c: OpKernelConstruction) -> Compute:
    """One slice after the other; what is outside of the axis does not count."""
    dtype, device = c["T"], c.device
    kind = c.op.removeprefix("ReduceSlice")
    ufunc = {
        "Sum": np.add,
        "Prod": np.multiply,
        "Max": np.maximum,
        "Min": np.minimum,
    }[kind]
    is_extreme = kind in ("Max", "Min")
    if is_extreme and dtype.is_complex:
        raise invalid_argument(f"{c.op} has no order of {dtype.name}")
    begin = (
        _begin_of_extremes(dtype, kind == "Max")
        if is_extreme
        else dtype.as_numpy_dtype(kind == "Prod")
    )

    def reduced(part: Any) -> Any:
        if not len(part):
            return begin
        found = ufunc.reduce(part, axis=0, dtype=part.dtype)
        if is_extreme and dtype.is_floating:
            return _after_last_nan(part, found, ufunc, begin)
        return found

    def compute(data: Any, indices: Any, axis: Any) -> Any:
        if np.size(axis) != 1:
            raise invalid_argument(
                f"axis must be a scalar, got shape {shape_text(np.shape(axis))}"
            )
        data, at = np.asarray(data), int(np.reshape(axis, ()))
        if not 0 <= at < data.ndim:
            raise invalid_argument(
                f"axis {at} is out of range of data with {data.ndim} dimensions"
            )
        pairs = _slices(np.asarray(indices), data.shape[at])
        rows = np.moveaxis(data, at, 0)
        shape = (len(pairs), *rows.shape[1:])
        check_memory(shape, dtype, device)
        result = np.empty(shape, data.dtype)
        for place, (first, last) in enumerate(pairs.tolist()):
            result[place] = reduced(rows[first:last])
        return np.ascontiguousarray(np.moveaxis(result, 0, at))

    return compute
