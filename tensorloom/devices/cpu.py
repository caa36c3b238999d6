"""The CPU device: tensors in plain memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tensorloom.devices.device import Device, register_device_kind

if TYPE_CHECKING:
    import torch

# The module `tensor_memory` once it is needed: it imports torch. An import statement in
# the conversions would cost as much as they do.
_tensor_memory: Any = None


def _load() -> Any:
    global _tensor_memory
    from tensorloom.devices import tensor_memory

    _tensor_memory = tensor_memory
    return tensor_memory


# What TensorFlow's CPU devices report.
MEMORY_LIMIT = 256 * 2**20


class CpuDevice(Device):
    """Plain memory; several logical CPUs share it."""

    device_type = "CPU"
    kernel_type = "CPU"

    def __init__(self, task: str, index: int) -> None:
        super().__init__(task, index, MEMORY_LIMIT)

    def from_host(self, value: Any) -> torch.Tensor:
        """Shares memory with a writeable contiguous array, else copies."""
        tensor: torch.Tensor = (_tensor_memory or _load()).tensor_from_array(value)
        return tensor

    def to_host(self, tensor: torch.Tensor) -> Any:
        """Shares memory with the tensor."""
        return (_tensor_memory or _load()).array_from_tensor(tensor)


def make_cpus(task: str, count: int | None, options: Mapping[str, Any]) -> list[Device]:
    """`count` logical CPU devices, one when None; always at least one."""
    return [CpuDevice(task, i) for i in range(max(1, 1 if count is None else count))]


register_device_kind("CPU", make_cpus)
