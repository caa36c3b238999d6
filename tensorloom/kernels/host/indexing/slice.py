"""Host kernels of Slice, StridedSlice and its inverses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.strided_slice import (
    ResolvedSlice,
    SliceError,
    SliceMasks,
    resolve,
)
from tensorloom.kernels.host.array import checks
from tensorloom.kernels.host.array.fill import base_dtype, empty_of
from tensorloom.kernels.host.array.shape import scalar_or_array
from tensorloom.kernels.host.math.errors import shape_text

Resolver = Callable[[Sequence[int], Any, Any, Any], ResolvedSlice]


@host_kernel("Slice", aliases=True)
def _slice(c: OpKernelConstruction) -> Compute:
    index_of = checks.keep_last_slice()
    fixed = checks.in_advance(index_of, c.input_shapes[0], c.constant(1), c.constant(2))
    if fixed:
        return lambda value, begin, size: value[fixed]

    def compute(value: Any, begin: Any, size: Any) -> Any:
        index = index_of(value.shape, begin, size)
        return value[index] if index else value

    return compute


def make_resolver(c: OpKernelConstruction) -> Resolver:
    """What resolves a node's slice; the last answer is kept.

    In nearly every step shape, begin, end and strides are those of the step before.
    """
    masks = SliceMasks.of(c.attrs)
    # One tuple, so that steps that run at once never see half an answer.
    last: tuple[Any, ResolvedSlice] | None = None

    def resolve_slice(
        shape: Sequence[int], begin: Any, end: Any, strides: Any
    ) -> ResolvedSlice:
        nonlocal last
        key = (tuple(shape), begin.tobytes(), end.tobytes(), strides.tobytes())
        known = last
        if known is not None and known[0] == key:
            return known[1]
        answer = _resolve(key[0], begin, end, strides, masks)
        last = (key, answer)
        return answer

    return resolve_slice


def _resolve(
    shape: Sequence[int], begin: Any, end: Any, strides: Any, masks: SliceMasks
) -> ResolvedSlice:
    if not (begin.shape == end.shape == strides.shape and begin.ndim == 1):
        raise invalid_argument(
            "Expected begin, end, and strides to be 1D equal size tensors, but got "
            f"shapes {shape_text(begin.shape)}, {shape_text(end.shape)}, and "
            f"{shape_text(strides.shape)} instead."
        )
    try:
        return resolve(shape, begin.tolist(), end.tolist(), strides.tolist(), masks)
    except SliceError as error:
        raise invalid_argument(str(error)) from None


@host_kernel("StridedSlice", aliases=True)
def _strided_slice(c: OpKernelConstruction) -> Compute:
    resolve_slice = make_resolver(c)
    index = _scalar_index(c)
    handles = c["T"] in (dtypes.resource, dtypes.variant)

    def compute(value: Any, begin: Any, end: Any, strides: Any) -> Any:
        resolved = resolve_slice(value.shape, begin, end, strides)
        taken: Any = value[resolved.index] if value.ndim else np.asarray(value)
        result = taken.reshape(resolved.final_dims)
        # A scalar handle is the object, not an array of it.
        return result.item() if handles and not result.ndim else scalar_or_array(result)

    def compute_element(value: Any, begin: Any, end: Any, strides: Any) -> Any:
        at = begin[0]
        if value.ndim == 1 and 0 <= at < len(value):
            return value[at]
        return compute(value, begin, end, strides)

    return compute_element if index else compute


def _scalar_index(c: OpKernelConstruction) -> bool:
    """True for `vector[i]` of numbers, by far the most frequent slice of a shape."""
    return (
        c["shrink_axis_mask"] == 1
        and not c["new_axis_mask"]
        and not c["ellipsis_mask"]
        and c.input_shapes[0].rank == 1
        and c.input_shapes[1].dims_tuple == (1,)
        and c["T"] not in (dtypes.resource, dtypes.variant)
        and c["T"].np_dtype != np.dtype(object)
    )


@host_kernel("StridedSliceGrad")
def _strided_slice_grad(c: OpKernelConstruction) -> Compute:
    resolve_slice = make_resolver(c)
    dtype, device = c["T"], c.device
    zero = empty_of(dtype)

    def compute(shape: Any, begin: Any, end: Any, strides: Any, dy: Any) -> Any:
        sizes = checks.shape_vector(shape, dtype, device, "shape")
        resolved = resolve_slice(sizes, begin, end, strides)
        check_gradient_shape(dy.shape, resolved)
        result = np.full(sizes, zero, base_dtype(dtype))
        result[resolved.index] = np.reshape(dy, known_sizes(resolved.processing_dims))
        return scalar_or_array(result)

    return compute


def check_gradient_shape(shape: Sequence[int], resolved: ResolvedSlice) -> None:
    """Raises InvalidArgumentError unless a gradient has the slice's shape."""
    if tuple(shape) != resolved.final_dims:
        wanted = known_sizes(resolved.final_dims)
        raise invalid_argument(
            f"shape of dy was {shape_text(shape)} instead of {shape_text(wanted)}"
        )


@host_kernel("TensorStridedSliceUpdate")
def _tensor_strided_slice_update(c: OpKernelConstruction) -> Compute:
    resolve_slice = make_resolver(c)

    def compute(value: Any, begin: Any, end: Any, strides: Any, new: Any) -> Any:
        resolved = resolve_slice(value.shape, begin, end, strides)
        result = np.array(value)
        result[resolved.index] = update_value(np, new, resolved)
        return scalar_or_array(result)

    return compute


def known_sizes(dims: tuple[int | None, ...]) -> tuple[int, ...]:
    """Sizes that are known, because the whole input shape was."""
    return tuple([size for size in dims if size is not None])


def update_value(library: Any, value: Any, resolved: ResolvedSlice) -> Any:
    """What is written to a slice, broadcast to the slice's shape and then to its axes.

    Raises:
      UnimplementedError: the value does not broadcast.
    """
    final = known_sizes(resolved.final_dims)
    if not checks.broadcastable(tuple(value.shape), final):
        raise errors.UnimplementedError(
            None,
            None,
            f"sliced l-value shape {shape_text(final)} does not match r-value shape "
            f"{shape_text(value.shape)}. Automatic broadcasting not yet implemented.",
        )
    return library.broadcast_to(value, final).reshape(resolved.processing_dims)
