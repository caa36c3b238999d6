"""Which memory a value lives in: decided when a piece is compiled, never per step.

A torch call costs about a microsecond, a NumPy operation on a few elements a third of
that, a Python expression on a NumPy scalar a thirtieth. So shapes, axes, counters,
predicates and other small values stay in host memory as long as every input of their
op is there; what has become a tensor stays one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tensorloom.framework import op_registry
from tensorloom.framework.resource import holds_host_value, is_torch_type
from tensorloom.framework.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph_ir import Node
    from tensorloom.framework.op_kernel import KernelDef
    from tensorloom.worker.values import Value

# Where NumPy and torch cost the same for one elementwise op on a CPU.
CPU_ELEMENTS: Final = 4096
# On other devices only what steers the step: leaving the device costs far more.
DEVICE_ELEMENTS: Final = 64


def runs_on_host(
    node: Node, inputs: Sequence[Value], kernel: KernelDef, device_type: str
) -> bool:
    """Whether a node that could run on tensors too runs its host kernel."""
    for value in inputs:
        if value.handle is not None:
            return holds_host_value(*value.handle, device_type)
    if any(v.dtype.base_dtype.name == "string" for v in inputs):
        return True
    if _takes_any_memory(node, kernel):
        return True
    if not all(is_torch_type(t) for t in node.output_types):
        return True
    for value in inputs:
        if value.read_of is not None:
            if not holds_host_value(*value.read_of, device_type):
                return False
        elif value.is_ref or not value.is_host:
            return False
    return all(
        is_small(v.shape, v.dtype.is_integer, device_type) for v in inputs
    ) and all(
        is_small(shape, dtype.is_integer, device_type)
        for shape, dtype in zip(
            node.output_shapes or (TensorShape.of(None),) * len(node.output_types),
            node.output_types,
            strict=True,
        )
    )


def _takes_any_memory(node: Node, kernel: KernelDef) -> bool:
    """True for Shape and its like, which ask for no input's elements."""
    op_def = op_registry.find(node.op)
    return (
        op_def is not None
        and bool(op_def.inputs)
        and all(arg.name in kernel.any_inputs for arg in op_def.inputs)
    )


def is_small(shape: TensorShape, is_integer: bool, device_type: str) -> bool:
    """True for what is cheaper in host memory, judged by its static shape."""
    dims = shape.dims_tuple
    if dims is None:
        return False
    limit = CPU_ELEMENTS if device_type == "CPU" else DEVICE_ELEMENTS
    size = 1
    for dim in dims:
        if dim is None:
            # A vector of integers whose length is not known is a shape.
            return is_integer and len(dims) == 1
        size *= dim
    return size <= limit
