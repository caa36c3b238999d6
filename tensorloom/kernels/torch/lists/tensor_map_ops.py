"""Maps of tensors: taking values out of one as torch tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_kernel import kernel
from tensorloom.kernels.host.lists import tensor_map as host_ops
from tensorloom.kernels.torch.state.variable_value import tensors_for

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction


@kernel("TensorMapLookup", host_inputs=("input_handle", "key"), aliases=True)
def tensor_map_lookup(c: OpKernelConstruction) -> Compute:
    """The value of a key."""
    return host_ops.make_lookup(c, tensors_for(c))
