"""PeriodicResample in host memory.

One dimension gives what the others gain. Where another grows by a factor (rounded up),
the remainders of its indices by that factor say from which part of the first one an
element comes:

    output[i, j] = input[i + (j % f) * n, j // f]    [n * f, k] -> [n, k * f]
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.math.errors import shape_text

if TYPE_CHECKING:
    from tensorloom.framework.types.tensor_shape import TensorShape

_Sizes = tuple[int, ...]
_TYPES = {dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64}


def _plan(original: _Sizes, wanted: TensorShape) -> tuple[_Sizes, int]:
    """(the output's shape, which of its dimensions adjusts)."""
    asked = [size or 0 for size in wanted.dims_tuple or ()]
    if len(asked) != len(original) or wanted.dims_tuple is None or not original:
        length = -1 if wanted.dims_tuple is None else len(asked)
        raise invalid_argument(
            "periodic_resample expects the rank of the input tensor, "
            f"{len(original)}, to be the same as the length of the desired shape, "
            f"{length}."
        )
    adjustable = [i for i, size in enumerate(asked) if size < 1]
    if len(adjustable) > 1:
        raise invalid_argument(
            "periodic_resample expects only one index to be marked as adjustable."
        )
    for i, (size, old) in enumerate(zip(asked, original, strict=True)):
        if 1 <= size < old:
            raise invalid_argument(
                "periodic_resample expects the size of non-adjustable dimensions be at "
                f"least as large as size of input tensor. Dimension {i} input tensor "
                f"has size {old}, desired shape has size {size}."
            )
    if not adjustable:
        raise invalid_argument(
            "periodic_resample expects at least one index to be marked as adjustable."
        )
    (axis,) = adjustable
    others = math.prod(size for size in asked if size > 0)
    asked[axis] = math.prod(original) // others
    if asked[axis] < 1:
        raise invalid_argument(
            f"periodic_resample found that the adjustable dimension, {axis}, isn't "
            f"greater than zero, {asked[axis]}."
        )
    return tuple(asked), axis


def _sources(original: _Sizes, shape: _Sizes, axis: int) -> Any:
    """The flat place in the original of each element of the output."""
    strides = [math.prod(original[i + 1 :]) for i in range(len(original))]
    rank = len(shape)
    places = part = np.zeros((1,) * rank, np.int64)
    period = 1
    for i, (size, old) in enumerate(zip(shape, original, strict=True)):
        if i == axis:
            continue
        factor = -(-size // old)
        along = np.arange(size).reshape([-1 if k == i else 1 for k in range(rank)])
        places = places + along // factor * strides[i]
        part = part + along % factor * period
        period *= factor
    along = np.arange(shape[axis])
    along = along.reshape([-1 if k == axis else 1 for k in range(rank)])
    rows = along + part * shape[axis]
    if rows.max() >= original[axis]:  # TensorFlow reads what lies behind the input
        raise invalid_argument(
            f"A tensor of shape {shape_text(original)} has too few elements in "
            f"dimension {axis} for shape {shape_text(shape)}"
        )
    return places + rows * strides[axis]


@host_kernel("PeriodicResample", large=True, types={"T": _TYPES})
def periodic_resample(c: OpKernelConstruction) -> Compute:
    """Each element read where it comes from."""
    wanted = c["shape"]

    def compute(values: Any) -> Any:
        values = np.asarray(values)
        shape, axis = _plan(values.shape, wanted)
        return values.reshape(-1)[_sources(values.shape, shape, axis)]

    return compute


@host_kernel("PeriodicResampleOpGrad", large=True, types={"T": _TYPES})
def periodic_resample_grad(c: OpKernelConstruction) -> Compute:
    """Each element written where it came from, zeros elsewhere."""
    wanted, dims = c["desired_shape"], c["original_shape"].dims_tuple
    dtype, device = c["T"], c.device

    def compute(grad: Any) -> Any:
        grad = np.asarray(grad)
        if dims is None or None in dims:
            raise invalid_argument(f"Shape {c['original_shape']} is not fully defined")
        check_shape(dims, dtype, device)
        shape, axis = _plan(dims, wanted)
        if grad.shape != shape:
            raise invalid_argument(
                f"The gradient should have shape {shape_text(shape)}, but has "
                f"{shape_text(grad.shape)}"
            )
        result = np.zeros(math.prod(dims), grad.dtype)
        result[_sources(dims, shape, axis).reshape(-1)] = grad.reshape(-1)
        return result.reshape(dims)

    return compute
