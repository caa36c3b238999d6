"""Several variables at once: their handles, and their values in host memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.runtime.resource import Variable
from tensorloom.kernels.torch.state.variable_value import to_host, unreadable_resource

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction


@host_kernel("_VarHandlesOp", large=True)
def variable_handles(c: OpKernelConstruction) -> Compute:
    """The variables themselves, found or made once."""
    held = tuple(_found(c, index) for index in range(c["N"]))
    return lambda: held


def _found(c: OpKernelConstruction, index: int) -> Variable:
    assert c.resources is not None
    name = c["shared_names"][index].decode() or f"{c.node_name}:{index}"
    container = c["containers"][index].decode() or "localhost"
    dtype, shape = c["dtypes"][index], c["shapes"][index]
    return c.resources.lookup_or_create(
        container,
        name,
        Variable,
        lambda: Variable(container, name, dtype, shape, c.device),
    )


def make_read(c: OpKernelConstruction, convert: Callable[[Any], Any]) -> Compute:
    """The function that gives the values, through `convert`."""
    wanted = [dtype.base_dtype for dtype in c["dtypes"]]

    def read(handle: Variable, dtype: Any) -> Any:
        value = handle.value_between_updates()
        if value is None:
            raise unreadable_resource(handle)
        if handle.dtype.base_dtype != dtype:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Trying to read variable {handle.name} with wrong dtype. "
                f"Expected {dtype.name} got {handle.dtype.name}",
            )
        return convert(value)

    return lambda *handles: tuple(map(read, handles, wanted))


@host_kernel("_ReadVariablesOp", aliases=True)
def read_variables(c: OpKernelConstruction) -> Compute:
    """The values in host memory."""
    return make_read(c, to_host)
