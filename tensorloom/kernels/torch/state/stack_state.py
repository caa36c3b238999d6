"""Stacks of one step, for values that are torch tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.op_kernel import kernel
from tensorloom.kernels.torch.state.variable_value import to_tensor

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.kernels.host.state.stack_state import Stack


@kernel(["StackPush", "StackPushV2"], retains=("elem",), aliases=True)
def push(c: OpKernelConstruction) -> Compute:
    """Pushes a tensor and passes it on."""

    def compute(handle: Stack, elem: Any) -> Any:
        handle.push(elem)
        return elem

    return compute


@kernel(["StackPop", "StackPopV2"], aliases=True)
def pop(c: OpKernelConstruction) -> Compute:
    """Takes the value that was pushed last."""
    device = c.torch_device if c.device_type != "CPU" else None
    return lambda handle: to_tensor(handle.pop(), device)
