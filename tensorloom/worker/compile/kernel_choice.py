"""Chooses the kernel of a node, and the memory of its inputs and outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tensorloom.framework import errors
from tensorloom.framework.registry import op_kernel, op_registry
from tensorloom.framework.runtime.resource import is_torch_type
from tensorloom.worker.compile import memory

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Node
    from tensorloom.framework.registry.op_kernel import KernelDef
    from tensorloom.framework.registry.op_registry import OpDef
    from tensorloom.worker.compile.values import Value

# How a kernel wants an input: in host memory, as a tensor, as it is, or as a holder.
HOST: Final = "host"
TENSOR: Final = "tensor"
ANY: Final = "any"
REF: Final = "ref"
# Ops that have the same function over tensors, or none.
_SAME_KERNEL: Final = frozenset(
    {
        *("Assign", "AssignVariableOp", "VarHandleOp", "Variable", "VariableV2"),
        *("IsVariableInitialized", "VarIsInitializedOp"),
    }
)


def choose_kernel(node: Node, inputs: Sequence[Value], kernel_type: str) -> KernelDef:
    """The kernel of a node: host memory or tensors, see memory.py.

    Raises:
      errors.InvalidArgumentError: there is none for the device and dtypes.
    """
    device, host = op_kernel.find_kernels(node.op, node.attrs, kernel_type)
    if host is not None and memory.runs_on_host(node, inputs, host, kernel_type):
        return host
    if device is None:
        if host is not None and kernel_type == "CPU" and _needs_none(node, inputs):
            return host
        op_kernel.load_torch_kernels(node.op)
        device, host = op_kernel.find_kernels(node.op, node.attrs, kernel_type)
    chosen = device or host
    if chosen is None:
        raise _no_kernel(node, kernel_type)
    return chosen


def _needs_none(node: Node, inputs: Sequence[Value]) -> bool:
    """Whether the host kernel does as well while there are no tensors.

    So variables of any size are restored without torch.
    """
    if node.op == "Identity":
        return inputs[0].is_host
    return node.op in _SAME_KERNEL


def _no_kernel(node: Node, device_type: str) -> errors.OpError:
    types = ", ".join(
        f"{key}={value.name}"
        for key, value in node.attrs.items()
        if hasattr(value, "as_numpy_dtype")
    )
    known = sorted(
        {d for k in op_kernel.registered_kernels(node.op) for d in k.devices}
    )
    return errors.InvalidArgumentError(
        None,
        None,
        f"No OpKernel was registered to support Op '{node.op}' used by node "
        f"'{node.name}' with these attrs: [{types}] on {device_type}. "
        f"Registered devices: [{', '.join(known)}]",
    )


def input_memory(op_def: OpDef, kernel: KernelDef, node: Node, count: int) -> list[str]:
    """Where the kernel wants each flattened input."""
    wants: list[str] = []
    for arg in op_def.inputs:
        if arg.is_ref:
            want = REF
        elif arg.name in kernel.any_inputs:
            want = ANY
        elif kernel.host or arg.name in kernel.host_inputs:
            want = HOST
        else:
            want = TENSOR
        if arg.is_list:
            wants += [want] * len(op_registry.arg_types(arg, node.attrs))
        else:
            wants.append(want)
    assert len(wants) == count, node
    return wants


def output_memory(op_def: OpDef, kernel: KernelDef, node: Node) -> list[bool]:
    """For each flattened output: does the kernel give it in host memory?"""
    in_host: list[bool] = []
    for arg in op_def.outputs:
        host = kernel.host or arg.name in kernel.host_outputs
        types = op_registry.arg_types(arg, node.attrs)
        in_host += [host or t._is_ref_dtype or not is_torch_type(t) for t in types]
    return in_host


def may_be_shared(kernel: KernelDef, inputs: Sequence[Value]) -> bool:
    """Whether outputs may share memory with what outlives the step."""
    for value in inputs:
        if value.dtype.name in ("resource", "variant"):
            return True
        if value.is_ref and value.read_of is None:
            return True
    return kernel.context or (kernel.aliases and any(v.root.shared for v in inputs))
