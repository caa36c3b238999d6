"""Taking torch tensors out of optionals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_kernel import kernel
from tensorloom.kernels.host.data.optional import make_get_value
from tensorloom.kernels.torch.state.variable_value import to_tensor

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction


@kernel("OptionalGetValue", host_inputs=("optional",), aliases=True)
def get_value(c: OpKernelConstruction) -> Compute:
    """The values."""
    device = c.torch_device if c.device_type != "CPU" else None
    return make_get_value(c, lambda value: to_tensor(value, device))
