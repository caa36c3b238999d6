"""Variables that hold torch tensors: their updates are registered, their reads made.

The kernels of `kernels/host/state/reference_variable.py` take values of either kind and
serve torch nodes as well; here are the reads. What updates call for tensors is in
`in_place_updates.py`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import torch

from tensorloom.framework.registry.op_kernel import kernel
from tensorloom.kernels.host.state import reference_variable as host_state_ops
from tensorloom.kernels.torch.state.variable_value import (
    to_tensor,
    uninitialized_reference,
    unreadable_resource,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.runtime.resource import Variable

kernel("Assign", any_inputs=("value",), retains=("value",))(host_state_ops.assign)
kernel("AssignVariableOp", any_inputs=("value",), retains=("value",))(
    host_state_ops.assign_variable
)
kernel(["AssignAdd", "AssignSub"], any_inputs=("value",))(
    partial(host_state_ops.assign_update, on_tensors=True)
)
kernel(["AssignAddVariableOp", "AssignSubVariableOp"], any_inputs=("value",))(
    partial(host_state_ops.assign_update_variable, on_tensors=True)
)


@kernel("ReadVariableOp", aliases=True)
def read_variable(c: OpKernelConstruction) -> Compute:
    """The value as a tensor; later updates do not change it."""
    device = c.torch_device if c.device_type != "CPU" else None

    def compute(handle: Variable) -> torch.Tensor:
        value = handle.value
        if value is None and (value := handle.value_between_updates()) is None:
            raise unreadable_resource(handle)
        if isinstance(value, torch.Tensor):
            return value
        return to_tensor(value, device)

    return compute


@kernel("DestroyTemporaryVariable", aliases=True)
def destroy_temporary_variable(c: OpKernelConstruction) -> Compute:
    """The final value of a temporary variable."""

    def compute(ref: Variable) -> torch.Tensor:
        if ref.value is None:
            raise uninitialized_reference(ref)
        return to_tensor(ref.value)

    return compute
