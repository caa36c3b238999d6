"""Placeholders of functions in host memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction


@host_kernel("FakeParam")
def fake_param(c: OpKernelConstruction) -> Compute:
    """Zeros of the shape (0 for unknown dimensions); None for a variant or resource."""
    dtype = c["dtype"]
    if dtype in (dtypes.variant, dtypes.resource):
        return lambda: None
    dims = tuple(d or 0 for d in c["shape"].dims_tuple or ())
    value = np.zeros(dims, dtype.as_numpy_dtype)
    value = value[()] if not dims and dtype != dtypes.string else value
    return lambda: value


@host_kernel(["_DeviceArg", "_DeviceRetval"])
def outside_of_a_function(c: OpKernelConstruction) -> Compute:
    """An argument or result that was not fed or fetched: it belongs to no function."""
    verb, index = "GetArg" if c.op == "_DeviceArg" else "SetRetval", c["index"]

    def compute(*_: object) -> None:
        message = f"{verb} {index} is not within [0, 0)"
        raise errors.InvalidArgumentError(None, None, message)

    return compute
