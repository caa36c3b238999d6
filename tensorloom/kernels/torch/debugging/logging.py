"""Print for tensors on a device: the value stays there, what is printed comes over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.debugging.logging import printer

if TYPE_CHECKING:
    import torch


@kernel("Print", host_inputs=("data",), aliases=True)
def print_v1(c: OpKernelConstruction) -> Compute:
    """The first input; writes the others to the standard error stream."""
    write = printer(c)

    def compute(value: torch.Tensor, *data: Any) -> torch.Tensor:
        write(data)
        return value

    return compute
