"""Host kernels of Range, LinSpace, Bincount and Cross, and of sums over a list."""

from __future__ import annotations

import math
import operator
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
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.array.in_place import makes_array
from tensorloom.kernels.host.math.binary import FLOATS, INTEGERS
from tensorloom.kernels.host.math.errors import shape_text


def _require_scalar(name: str, value: Any) -> None:
    if value.shape != ():
        raise invalid_argument(
            f"{name} must be a scalar, not shape {shape_text(value.shape)}"
        )


def range_size(start: Any, limit: Any, delta: Any, is_integer: bool) -> int:
    """How many values lie in [start, limit) in steps of delta.

    Raises:
      InvalidArgumentError: delta is 0 or leads away from the limit.
    """
    if delta == 0:
        raise invalid_argument(f"Requires delta != 0: {delta}")
    if delta > 0 and start > limit:
        raise invalid_argument(
            f"Requires start <= limit when delta > 0: {start}/{limit}"
        )
    if delta < 0 and start < limit:
        raise invalid_argument(
            f"Requires start >= limit when delta < 0: {start}/{limit}"
        )
    if is_integer:
        return -(-abs(int(limit) - int(start)) // abs(int(delta)))
    size = abs((float(limit) - float(start)) / float(delta))
    if not size < 2.0**63:  # NaN too
        raise invalid_argument(
            f"Requires a finite number of values: {start}, {limit}, {delta}"
        )
    return math.ceil(size)


@host_kernel("Range", large=True)
def _range(c: OpKernelConstruction) -> Compute:
    dtype = c["Tidx"]
    to = dtype.np_dtype

    def compute(start: Any, limit: Any, delta: Any) -> Any:
        for name, value in (("start", start), ("limit", limit), ("delta", delta)):
            _require_scalar(name, value)
        size = range_size(start, limit, delta, dtype.is_integer)
        check_shape((size,), dtype, c.device)
        if dtype.is_integer:
            return np.arange(size, dtype=to) * delta + start
        # TensorFlow adds delta again and again; the rounding is part of the result.
        steps = np.full(size, delta, to)
        steps[:1] = start
        return np.add.accumulate(steps)

    return compute


@host_kernel("LinSpace", large=True)
def _lin_space(c: OpKernelConstruction) -> Compute:
    def compute(start: Any, stop: Any, num: Any) -> Any:
        for name, value in (("start", start), ("stop", stop), ("num", num)):
            _require_scalar(name, value)
        if num <= 0:
            raise invalid_argument(f"Requires num > 0: {num}")
        if num == 1:
            return np.array([start])
        check_shape((int(num),), c["T"], c.device)
        step = (stop - start) / start.dtype.type(num - 1)
        out = start + step * np.arange(num).astype(start.dtype)
        out[0], out[-1] = start, stop
        return out

    return compute


@host_kernel("Bincount", large=True)
def _bincount(c: OpKernelConstruction) -> Compute:
    to = c["T"].np_dtype

    def compute(arr: Any, size: Any, weights: Any) -> Any:
        if size.size != 1:
            raise invalid_argument(f"Shape must be rank 0 but is rank {size.ndim}")
        size = size.item()
        if size < 0:
            raise invalid_argument(f"size ({size}) must be non-negative")
        check_shape((size,), c["T"], c.device)
        flat = arr.ravel()
        if flat.size and flat.min() < 0:
            raise invalid_argument("Input arr must be non-negative!")
        if 0 < weights.size < flat.size:  # 1.15 would read beyond them
            raise invalid_argument(_weights_message(weights, arr))
        kept = flat < size
        out = np.zeros(size, to)
        counted = weights.ravel()[: flat.size][kept] if weights.size else to.type(1)
        np.add.at(out, flat[kept], counted)
        return out

    return compute


def _weights_message(weights: Any, values: Any) -> str:
    return (
        "`weights` must be the same shape as the values or a length-0 tensor, in which "
        f"case it acts as all weights equal to 1. Received {shape_text(weights.shape)} "
        f"for values of {shape_text(values.shape)}"
    )


@host_kernel("DenseBincount", large=True)
def _dense_bincount(c: OpKernelConstruction) -> Compute:
    to, binary = c["T"].np_dtype, c["binary_output"]

    def count(row: Any, size: int, weights: Any) -> Any:
        if row.size and row.min() < 0:
            raise invalid_argument("Input must be non-negative")
        kept = row < size
        out = np.zeros(size, to)
        if binary:
            out[row[kept]] = 1
        else:
            np.add.at(out, row[kept], weights[kept] if weights.size else to.type(1))
        return out

    def compute(values: Any, size: Any, weights: Any) -> Any:
        if values.ndim > 2:
            raise invalid_argument("Shape must be at most rank 2")
        if weights.size and weights.shape != values.shape:
            raise invalid_argument(_weights_message(weights, values))
        if values.ndim < 2:
            return count(values.reshape(-1), int(size), weights.reshape(-1))
        rows = weights if weights.size else [weights.reshape(-1)] * len(values)
        counts = [count(v, int(size), w) for v, w in zip(values, rows, strict=True)]
        return np.array(counts, to).reshape(len(values), int(size))

    return compute


@host_kernel("Cross")
def _cross(c: OpKernelConstruction) -> Compute:
    def compute(a: Any, b: Any) -> Any:
        check_cross(a.shape, b.shape)
        return np.cross(a, b)

    return compute


def check_cross(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    """Raises what Cross raises unless both are equal stacks of 3-vectors."""
    if a != b:
        raise invalid_argument(
            f"Both inputs must be of same shape: {shape_text(a)} vs. {shape_text(b)}"
        )
    if not a:
        raise invalid_argument(f"Input must be at least 1D{shape_text(a)}")
    if a[-1] != 3:
        raise errors.FailedPreconditionError(
            None, None, "Cross-products are only defined for 3-element vectors."
        )


# Not variants: sums of tensor lists have a kernel of their own.
_NUMBERS = {"T": FLOATS["T"] | INTEGERS["T"]}
_WIDE_UNSIGNED = {"T": {dtypes.uint16, dtypes.uint32, dtypes.uint64}}


@host_kernel("AddN", types=_NUMBERS, aliases=True)
def _add_n(c: OpKernelConstruction) -> Compute:
    name, op = c.node_name, c.op
    known = len(set(c.input_shapes)) == 1 and c.input_shapes[0].is_fully_defined()
    if known and len(c.input_shapes) == 2:
        return operator.add

    def compute(*inputs: Any) -> Any:
        if not known:
            check_same_shapes(name, op, inputs)
        if len(inputs) == 1:
            return inputs[0]
        total = inputs[0] + inputs[1]
        for value in inputs[2:]:
            total += value
        return total

    return makes_array(compute) if len(c.input_shapes) > 1 else compute


host_kernel("AddN", types=_WIDE_UNSIGNED, large=True, aliases=True)(_add_n)
host_kernel("AccumulateNV2", types=_NUMBERS, aliases=True)(_add_n)


def check_same_shapes(name: str, op: str, inputs: tuple[Any, ...]) -> None:
    """Raises InvalidArgumentError unless all inputs have the first one's shape."""
    first = inputs[0].shape
    for i, value in enumerate(inputs):
        if value.shape != first:
            raise invalid_argument(
                f"Inputs to operation {name} of type {op} must have the same size "
                f"and shape.  Input 0: {shape_text(first)} != "
                f"input {i}: {shape_text(value.shape)}"
            )
