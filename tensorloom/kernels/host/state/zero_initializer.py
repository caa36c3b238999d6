"""Variables set to zeros where they have no value, in either memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.state.reference_variable import store

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.runtime.resource import Variable
    from tensorloom.framework.types.tensor_shape import TensorShape

_TYPES = {
    getattr(dtypes, name)
    for name in (
        *("float16", "bfloat16", "float32", "float64", "int8", "int16", "int32"),
        *("int64", "uint8", "uint16", "uint32", "uint64"),
    )
}


def _set_to_zeros(c: OpKernelConstruction, attr: str, shape: TensorShape | None) -> Any:
    """The function that initializes a variable with a shape, or with its own."""
    dtype, device = c[attr], c.device
    device_type, torch_device = c.device_type, c.torch_device

    def run(variable: Variable) -> Variable:
        if variable.dtype.base_dtype != dtype:
            raise invalid_argument(
                "Trying to initialize variable with wrong dtype. Expected "
                f"{variable.dtype.name} got {dtype.name}"
            )
        with variable.lock:
            if variable.value_between_updates() is not None:
                raise invalid_argument("input is already initialized")
            held = variable.shape if shape is None else shape
            sizes = held.dims_tuple or ()  # of unknown rank: a scalar
            dims = tuple(size for size in sizes if size is not None)
            if len(dims) < len(sizes):
                raise invalid_argument(f"Shape {held} is not fully defined")
            check_shape(dims, dtype, device)
            zeros = np.zeros(dims, dtype.as_numpy_dtype)
            store(variable, zeros, held, device_type, torch_device)
        return variable

    return run


@host_kernel("ZeroInitializer", large=True, types={"T": _TYPES})
def zero_initializer(c: OpKernelConstruction) -> Compute:
    """Of the shape that the variable was made with."""
    run: Compute = _set_to_zeros(c, "T", None)
    return run


@host_kernel("ZeroVarInitializer", large=True, types={"dtype": _TYPES})
def zero_var_initializer(c: OpKernelConstruction) -> Compute:
    """Of the shape that the node names."""
    run: Compute = _set_to_zeros(c, "dtype", c["shape"])
    return run
