"""Host kernels that make values out of a shape: Fill, ZerosLike, OneHot."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array import checks
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.array.shape import scalar_or_array
from tensorloom.kernels.host.math.errors import shape_text


def base_dtype(dtype: dtypes.DType) -> np.dtype[Any]:
    """The NumPy dtype of run-time values: base integers for quantized dtypes."""
    found = dtype.np_dtype
    return found if found.names is None else found[0]


def empty_of(dtype: dtypes.DType) -> Any:
    """The zero of a dtype: an empty string, False, or 0."""
    return b"" if dtype == dtypes.string else base_dtype(dtype).type(0)


@host_kernel("Fill")
def _fill(c: OpKernelConstruction) -> Compute:
    dtype, device = c["T"], c.device

    def compute(dims: Any, value: Any) -> Any:
        require_fill_scalar(value)
        shape = checks.shape_vector(dims, dtype, device)
        if dtype == dtypes.string:
            return _strings(shape, value[()])
        return scalar_or_array(np.full(shape, value, base_dtype(dtype)))

    return compute


def require_fill_scalar(value: Any) -> None:
    """Raises InvalidArgumentError unless the value to fill with is a scalar."""
    if tuple(value.shape) != ():
        raise invalid_argument(
            f"value must be a scalar, got shape {shape_text(value.shape)}"
        )


def _strings(shape: tuple[int, ...], text: bytes) -> Any:
    result = np.empty(shape, object)
    result[...] = text
    return result


# A variant's zeros are what its kind says: see the ops on lists.
_VALUES = frozenset(map(dtypes.DType, range(1, 24))) - {
    dtypes.resource,
    dtypes.variant,
}


@host_kernel("ZerosLike", types={"T": _VALUES})
def _zeros_like(c: OpKernelConstruction) -> Compute:
    dtype = c["T"]
    if dtype == dtypes.string:
        return lambda value: _strings(value.shape, b"")
    to = base_dtype(dtype)
    zero = to.type(0)
    return lambda value: np.zeros(value.shape, to) if value.ndim else zero


@host_kernel("OnesLike")
def _ones_like(c: OpKernelConstruction) -> Compute:
    to = base_dtype(c["T"])
    one = to.type(1)
    return lambda value: np.ones(value.shape, to) if value.ndim else one


@host_kernel("Empty")
def _empty(c: OpKernelConstruction) -> Compute:
    dtype, device = c["dtype"], c.device

    def compute(shape: Any) -> Any:
        sizes = checks.shape_vector(shape, dtype, device, "shape")
        if dtype == dtypes.string:
            return _strings(sizes, b"")
        # Zeros with or without `init`: what memory held before is nobody's business.
        return scalar_or_array(np.zeros(sizes, base_dtype(dtype)))

    return compute


@host_kernel("OneHot")
def _one_hot(c: OpKernelConstruction) -> Compute:
    axis, dtype, device = c["axis"], c["T"], c.device

    def compute(indices: Any, depth: Any, on: Any, off: Any) -> Any:
        size, at = one_hot_place(np.shape(indices), depth, on, off, axis)
        shape = (*np.shape(indices)[:at], size, *np.shape(indices)[at:])
        check_shape(shape, dtype, device)
        positions = np.arange(size).reshape((size,) + (1,) * (len(shape) - at - 1))
        chosen = np.expand_dims(indices, at) == positions
        if dtype == dtypes.string:
            result = _strings(shape, off[()])
            result[chosen] = on[()]
            return result
        return np.where(chosen, on, off)

    return compute


def one_hot_place(
    shape: tuple[int, ...], depth: Any, on: Any, off: Any, axis: int
) -> tuple[int, int]:
    """(size of the new axis, its place).

    Raises:
      InvalidArgumentError: depth, a value or the axis is not what it must be.
    """
    for name, value in (("depth", depth), ("on_value", on), ("off_value", off)):
        if tuple(value.shape) != ():
            raise invalid_argument(
                f"{name} must be a scalar, but got: {shape_text(value.shape)}"
            )
    if not -1 <= axis <= len(shape):
        raise invalid_argument(
            f"Expected axis to be -1 or between [0, {len(shape) + 1}).  But received: "
            f"{axis}"
        )
    if depth < 0:
        raise invalid_argument(f"depth must be non-negative, got: {int(depth)}")
    return int(depth), len(shape) if axis == -1 else axis
