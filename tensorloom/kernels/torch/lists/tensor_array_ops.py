"""The kernels of tensor arrays that give torch tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_kernel import kernel
from tensorloom.kernels.host.lists import tensor_array_ops as host_ops
from tensorloom.kernels.torch.state.variable_value import tensors_for

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction

# Writing takes values of either kind.
kernel(
    host_ops.versions("Write"),
    host_inputs=("index", "flow_in"),
    host_outputs=("flow_out",),
    any_inputs=("value",),
    retains=("value",),
)(host_ops.write)
kernel(
    host_ops.versions("Scatter"),
    host_inputs=("indices", "flow_in"),
    host_outputs=("flow_out",),
    any_inputs=("value",),
    retains=("value",),
)(host_ops.scatter)
kernel(
    "TensorArrayUnpack",
    host_inputs=("flow_in",),
    host_outputs=("flow_out",),
    any_inputs=("value",),
    retains=("value",),
)(host_ops.unpack)
kernel(
    host_ops.versions("Split"),
    host_inputs=("lengths", "flow_in"),
    host_outputs=("flow_out",),
    any_inputs=("value",),
    retains=("value",),
)(host_ops.split)


@kernel(host_ops.versions("Read"), host_inputs=("index", "flow_in"), aliases=True)
def read(c: OpKernelConstruction) -> Compute:
    """One element."""
    return host_ops.make_read(c, tensors_for(c))


@kernel(
    [*host_ops.versions("Gather"), "TensorArrayPack"],
    host_inputs=("indices", "flow_in"),
)
def gather(c: OpKernelConstruction) -> Compute:
    """Several elements as one tensor."""
    return host_ops.make_gather(c, tensors_for(c))


@kernel(
    host_ops.versions("Concat"), host_inputs=("flow_in",), host_outputs=("lengths",)
)
def concat(c: OpKernelConstruction) -> Compute:
    """All elements along their dimension 0, and their lengths."""
    return host_ops.make_concat(c, tensors_for(c))
