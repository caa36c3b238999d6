"""The values of several variables as torch tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_kernel import kernel
from tensorloom.kernels.host.state.variable_list import make_read
from tensorloom.kernels.torch.state.variable_value import to_tensor

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction


@kernel("_ReadVariablesOp", host_inputs=("resources",), aliases=True)
def read_variables(c: OpKernelConstruction) -> Compute:
    """The values on the node's device."""
    device = c.torch_device if c.device_type != "CPU" else None
    return make_read(c, lambda value: to_tensor(value, device))
