"""Computing single nodes in host memory: what the master's constant folding uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import dtypes, errors
from tensorloom.framework.op_kernel import (
    OpKernelConstruction,
    find_host_kernel,
    find_kernels,
)
from tensorloom.framework.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph_ir import Node


def evaluate(node: Node, inputs: Sequence[Any]) -> Sequence[Any] | None:
    """The outputs of a node on the given input values.

    None when it has no host kernel or the kernel fails: the step will then say why.
    """
    kernel = find_host_kernel(node.op, node.attrs)
    if kernel is None or kernel.context or kernel.blocking:
        return None
    construction = OpKernelConstruction(
        node,
        node.device,
        "CPU",
        tuple(_dtype_of(value) for value in inputs),
        tuple(TensorShape.of(np.shape(value)) for value in inputs),
    )
    values = [
        v[()] if v.ndim == 0 and v.dtype != object else v
        for v in map(np.asarray, inputs)
    ]
    try:
        with np.errstate(all="ignore"):
            result = kernel.factory(construction)(*values)
    except (errors.OpError, ArithmeticError, LookupError, TypeError, ValueError):
        return None
    return result if isinstance(result, tuple) else (result,)


def _dtype_of(value: Any) -> dtypes.DType:
    return dtypes.as_dtype(np.asarray(value).dtype)


def has_kernel(node: Node, device_type: str) -> bool:
    """Whether a kernel for the node exists on a device type."""
    return find_kernels(node.op, node.attrs, device_type) != (None, None)
