"""Host kernels of shape arithmetic: Shape, Reshape, ExpandDims, BroadcastArgs, ..."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
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
from tensorloom.kernels.host.math.errors import shape_text

# --- asking for the shape -----------------------------------------------------------
# These look at a value's shape only, wherever the value is.


@host_kernel("Shape", any_inputs=("input",), large=True)
def _shape(c: OpKernelConstruction) -> Compute:
    to = c["out_type"].np_dtype
    if _may_be_objects(c):
        return lambda value: np.array(_shape_of_objects(value), to)
    return lambda value: np.array(value.shape, to)


def _may_be_objects(c: OpKernelConstruction) -> bool:
    return c.input_types[0] in (dtypes.resource, dtypes.variant)


def _shape_of_objects(value: Any) -> tuple[int, ...]:
    """A handle or variant by itself is any Python object, and stands for a scalar."""
    return value.shape if isinstance(value, np.ndarray) else ()


@host_kernel("ShapeN", any_inputs=("input",), large=True)
def _shape_n(c: OpKernelConstruction) -> Compute:
    to = c["out_type"].np_dtype
    if _may_be_objects(c):
        return lambda *values: tuple(
            [np.array(_shape_of_objects(value), to) for value in values]
        )

    def compute(*values: Any) -> tuple[Any, ...]:
        return tuple([np.array(value.shape, to) for value in values])

    return compute


@host_kernel("Size", any_inputs=("input",), large=True)
def _size(c: OpKernelConstruction) -> Compute:
    number = c["out_type"].np_dtype.type
    if _may_be_objects(c):
        return lambda value: number(math.prod(_shape_of_objects(value)))
    return lambda value: number(math.prod(value.shape))


@host_kernel("Rank", any_inputs=("input",), large=True)
def _rank(c: OpKernelConstruction) -> Compute:
    if _may_be_objects(c):
        return lambda value: np.int32(len(_shape_of_objects(value)))
    return lambda value: np.int32(len(value.shape))


# --- changing it --------------------------------------------------------------------


@host_kernel("Reshape", aliases=True)
def _reshape(c: OpKernelConstruction) -> Compute:
    reshaped = checks.keep_last(checks.reshaped)
    sizes = checks.in_advance(checks.reshaped, c.input_shapes[0], c.constant(1))
    if sizes:
        return lambda value, shape: value.reshape(sizes)

    def compute(value: Any, shape: Any) -> Any:
        return scalar_or_array(value.reshape(reshaped(value.shape, shape)))

    return compute


def scalar_or_array(array: Any) -> Any:
    """A NumPy scalar for a numeric result of rank 0, else the array itself."""
    if array.ndim or array.dtype == object:
        return array
    return array[()]


@host_kernel("ExpandDims", aliases=True)
def _expand_dims(c: OpKernelConstruction) -> Compute:
    @checks.keep_last
    def expanded(shape: tuple[int, ...], axis: Any) -> tuple[int, ...]:
        at = checks.inserted_axis(axis, len(shape))
        return (*shape[:at], 1, *shape[at:])

    sizes = checks.in_advance(expanded, c.input_shapes[0], c.constant(1))
    if sizes:
        return lambda value, axis: value.reshape(sizes)

    def compute(value: Any, axis: Any) -> Any:
        return value.reshape(expanded(value.shape, axis))

    return compute


@host_kernel("Squeeze", aliases=True)
def _squeeze(c: OpKernelConstruction) -> Compute:
    dims = c["squeeze_dims"]

    def compute(value: Any) -> Any:
        return scalar_or_array(value.reshape(checks.squeezed(value.shape, dims)))

    return compute


@host_kernel("BroadcastTo", aliases=True)
def _broadcast_to(c: OpKernelConstruction) -> Compute:
    dtype, device = c["T"], c.device

    def compute(value: Any, shape: Any) -> Any:
        wanted = broadcast_shape(value.shape, shape, dtype, device)
        if 0 in wanted:
            return np.empty(wanted, value.dtype)
        # A copy: strides of 0 would surprise a kernel that writes.
        return scalar_or_array(np.array(np.broadcast_to(value, wanted)))

    return compute


def broadcast_shape(
    shape: Sequence[int], wanted: Any, dtype: dtypes.DType, device: str
) -> tuple[int, ...]:
    """The shape that BroadcastTo gives: without elements, from any of no higher rank.

    Raises:
      InvalidArgumentError: the input does not broadcast to it.
    """
    sizes = checks.shape_vector(wanted, dtype, device, "shape")
    if not checks.broadcastable(shape, sizes):
        if len(shape) > len(sizes):
            raise invalid_argument(
                f"Rank of input ({len(shape)}) must be no greater than rank of output "
                f"shape ({len(sizes)})."
            )
        if 0 in sizes:
            return sizes
        raise invalid_argument(
            f"Incompatible shapes: {shape_text(shape)} vs. {shape_text(sizes)}"
        )
    return sizes


@host_kernel("Bitcast", aliases=True)
def _bitcast(c: OpKernelConstruction) -> Compute:
    to = c["type"].np_dtype
    if to.names is not None:
        to = to[0]

    def compute(value: Any) -> Any:
        array = np.asarray(value)
        source, target = array.dtype.itemsize, to.itemsize
        if source == target:
            return scalar_or_array(array.view(to))
        if source > target:
            return array.reshape((*array.shape, 1)).view(to)
        if not array.ndim or array.shape[-1] != target // source:
            raise invalid_argument(
                f"Cannot bitcast from {c['T'].name} to {c['type'].name}: shape "
                f"{shape_text(array.shape)}"
            )
        view = np.ascontiguousarray(array).view(to)
        return scalar_or_array(view.reshape(array.shape[:-1]))

    return compute


# --- broadcasting of shapes ---------------------------------------------------------


@host_kernel("BroadcastArgs")
def _broadcast_args(c: OpKernelConstruction) -> Compute:
    to = c["T"].np_dtype

    def compute(x: Any, y: Any) -> Any:
        sizes = []
        for a, b in itertools.zip_longest(
            reversed(_vector(x)), reversed(_vector(y)), fillvalue=1
        ):
            if a != b and 1 not in (a, b):
                raise _incompatible(x, y)
            sizes.append(b if a == 1 else a)  # any number, negative ones too
        return np.array(sizes[::-1], to)

    return compute


def _vector(value: Any) -> tuple[int, ...]:
    if value.ndim != 1:
        raise invalid_argument(f"In[0] must be a vector.{shape_text(value.shape)}")
    return tuple(value.tolist())


def _incompatible(x: Any, y: Any) -> Exception:
    return invalid_argument(
        f"Incompatible shapes: {shape_text(x.tolist())} vs. {shape_text(y.tolist())}"
    )


@host_kernel("BroadcastGradientArgs")
def _broadcast_gradient_args(c: OpKernelConstruction) -> Compute:
    to = c["T"].np_dtype
    nothing = np.zeros(0, to)
    last: tuple[tuple[int, ...], tuple[int, ...], Any, Any] | None = None

    def compute(x: Any, y: Any) -> tuple[Any, Any]:
        nonlocal last
        sizes_x, sizes_y = _vector(x), _vector(y)
        if sizes_x == sizes_y:
            return nothing.copy(), nothing.copy()
        known = last
        if known is None or known[0] != sizes_x or known[1] != sizes_y:
            axes = reduction_axes(sizes_x, sizes_y)
            if axes is None:
                raise _incompatible(x, y)
            arrays = np.array(axes[0], to), np.array(axes[1], to)
            known = last = (sizes_x, sizes_y, *arrays)
        # Copies: a fetched result is the caller's own.
        return known[2].copy(), known[3].copy()

    return compute


def reduction_axes(
    x: tuple[int, ...], y: tuple[int, ...]
) -> tuple[list[int], list[int]] | None:
    """The axes over which each shape was broadcast; None if they do not broadcast.

    Axes in which both are 1 are summed for both, as TensorFlow does.
    """
    rank = max(len(x), len(y))
    padded_x = (1,) * (rank - len(x)) + x
    padded_y = (1,) * (rank - len(y)) + y
    axes_x: list[int] = []
    axes_y: list[int] = []
    for i, (a, b) in enumerate(zip(padded_x, padded_y, strict=True)):
        if a == b:
            if a == 1:
                axes_x.append(i)
                axes_y.append(i)
        elif a == 1:
            axes_x.append(i)
        elif b == 1:
            axes_y.append(i)
        else:
            return None
    return axes_x, axes_y
