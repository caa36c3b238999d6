"""The kernels of conditional accumulators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.control_flow.waiting import node_resource
from tensorloom.kernels.host.queues.accumulator_resource import (
    Accumulator,
    DenseAccumulator,
    SparseAccumulator,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import (
        Compute,
        OpKernelConstruction,
        OpKernelContext,
    )

# TensorFlow's kernels are for these alone.
_TYPES = {
    "dtype": {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64},
}
_FORMS = ("", "Resource")


def _accumulator(c: OpKernelConstruction, kind: type[Accumulator]) -> Compute:
    dtype, shape = c["dtype"], c["shape"]
    takes_mean = c["reduction_type"] == b"MEAN"
    find = node_resource(
        c, kind, lambda place, name: kind(place, name, dtype, shape, takes_mean)
    )

    def compute() -> Accumulator:
        found = find()
        if found.dtype is not dtype and c.op == "SparseConditionalAccumulator":
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Shared conditional accumulator '{found.name}' has dtype "
                f"{found.dtype.name} but requested dtype was {dtype.name}",
            )
        return found

    return compute


@host_kernel(
    [f"{form}ConditionalAccumulator" for form in _FORMS], types=_TYPES, large=True
)
def conditional_accumulator(c: OpKernelConstruction) -> Compute:
    """The accumulator of this node, or of its shared name."""
    return _accumulator(c, DenseAccumulator)


@host_kernel("SparseConditionalAccumulator", types=_TYPES, large=True)
def sparse_conditional_accumulator(c: OpKernelConstruction) -> Compute:
    """The accumulator of this node, or of its shared name."""
    return _accumulator(c, SparseAccumulator)


@host_kernel(
    [f"{form}AccumulatorApplyGradient" for form in _FORMS], types=_TYPES, large=True
)
def apply_gradient(c: OpKernelConstruction) -> Compute:
    """Adds a gradient."""
    dtype = c["dtype"]

    def compute(accumulator: DenseAccumulator, local_step: Any, gradient: Any) -> None:
        _check_type(accumulator, dtype)
        accumulator.apply(int(local_step), gradient)

    return compute


@host_kernel("SparseAccumulatorApplyGradient", types=_TYPES, large=True)
def sparse_apply_gradient(c: OpKernelConstruction) -> Compute:
    """Adds rows of a gradient."""
    has_shape = c["has_known_shape"]

    def compute(
        accumulator: SparseAccumulator,
        local_step: Any,
        indices: Any,
        values: Any,
        shape: Any,
    ) -> None:
        _check_type(accumulator, c["dtype"])
        known = np.reshape(shape, -1).tolist() if has_shape else None
        rows = np.asarray(indices), np.asarray(values), known
        accumulator.apply(int(local_step), rows)

    return compute


def _check_type(accumulator: Accumulator, dtype: Any) -> None:
    if accumulator.dtype is not dtype:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Expected conditional accumulator of dtype {dtype.name}, got "
            f"{accumulator.dtype.name}",
        )


@host_kernel(
    [
        *(f"{form}AccumulatorTakeGradient" for form in _FORMS),
        "SparseAccumulatorTakeGradient",
    ],
    types=_TYPES,
    context=True,
    blocking=True,
    only_waits=True,
    large=True,
)
def take_gradient(c: OpKernelConstruction) -> Compute:
    """Waits for enough gradients and takes what they make."""

    def compute(context: OpKernelContext, accumulator: Accumulator, n: Any) -> Any:
        _check_type(accumulator, c["dtype"])
        return accumulator.take(int(n), context)

    return compute


@host_kernel([f"{form}AccumulatorNumAccumulated" for form in _FORMS], large=True)
def num_accumulated(c: OpKernelConstruction) -> Compute:
    """How many gradients are in the sum."""
    return lambda accumulator: np.int32(accumulator.num_accumulated())


@host_kernel([f"{form}AccumulatorSetGlobalStep" for form in _FORMS], large=True)
def set_global_step(c: OpKernelConstruction) -> Compute:
    """Sets the accumulator's step."""

    def compute(accumulator: Accumulator, step: Any) -> None:
        accumulator.set_global_step(int(step))

    return compute
