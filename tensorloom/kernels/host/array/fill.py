"""Host kernels that make values out of a shape: Fill, ZerosLike, Empty."""

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
            return string_array(shape, value[()])
        return scalar_or_array(np.full(shape, value, base_dtype(dtype)))

    return compute


def require_fill_scalar(value: Any) -> None:
    """Raises InvalidArgumentError unless the value to fill with is a scalar."""
    if tuple(value.shape) != ():
        raise invalid_argument(
            f"value must be a scalar, got shape {shape_text(value.shape)}"
        )


def string_array(shape: tuple[int, ...], text: bytes) -> Any:
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
        return lambda value: string_array(value.shape, b"")
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
            return string_array(sizes, b"")
        # Zeros with or without `init`: what memory held before is nobody's business.
        return scalar_or_array(np.zeros(sizes, base_dtype(dtype)))

    return compute
