"""Writing to a slice of a variable, which may hold a NumPy value or a torch tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.kernels.host.array.shape import scalar_or_array
from tensorloom.kernels.host.indexing.slice import make_resolver, update_value
from tensorloom.kernels.torch.state.variable_value import (
    exclusive,
    is_host,
    shape_of,
    to_host,
    uninitialized,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.runtime.resource import Variable
    from tensorloom.framework.types.strided_slice import ResolvedSlice


@host_kernel(
    ["StridedSliceAssign", "ResourceStridedSliceAssign"],
    any_inputs=("value",),
    large=True,
)
def strided_slice_assign(c: OpKernelConstruction) -> Compute:
    """Writes a value to the part of a variable that a strided slice takes."""
    resource = c.op.startswith("Resource")
    resolve_slice = make_resolver(c)

    def compute(
        variable: Variable, begin: Any, end: Any, strides: Any, value: Any
    ) -> Variable | None:
        with variable.lock:
            if variable.value is None:
                raise uninitialized(variable, resource)
            shape = shape_of(variable.value)
            resolved = resolve_slice(shape, begin, end, strides)
            _write(variable, value, resolved)
        return None if resource else variable

    return compute


def _write(variable: Variable, value: Any, resolved: ResolvedSlice) -> None:
    if is_host(variable.value):
        new = np.array(variable.value)
        new[resolved.index] = update_value(np, to_host(value), resolved)
        variable.value = scalar_or_array(new)
        return
    # Only here: a program whose variables are small runs without torch.
    from tensorloom.kernels.torch.indexing.slice_writes import assign_slice

    held = exclusive(variable)
    try:
        assign_slice(held, value, resolved)
    finally:
        variable.value = held
