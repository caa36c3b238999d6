"""The GPU device: CUDA memory through torch."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tensorloom.devices.device import Device, register_device_kind
from tensorloom.framework import errors

if TYPE_CHECKING:
    import torch


class CudaDevice(Device):
    """One CUDA device. Memory is taken as it is needed."""

    device_type = "GPU"
    kernel_type = "GPU"

    def __init__(self, task: str, index: int, cuda_index: int, memory: int) -> None:
        super().__init__(task, index, memory)
        self.cuda_index = cuda_index
        self.physical_description = f"device: {cuda_index}"

    @property
    def torch_device(self) -> torch.device | None:
        """`cuda:N`."""
        import torch

        return torch.device("cuda", self.cuda_index)

    def from_host(self, value: Any) -> torch.Tensor:
        """Copies through pinned memory, asynchronously to the host."""
        from tensorloom.devices import tensor_memory

        tensor = tensor_memory.tensor_from_array(value)
        return tensor.to(self.torch_device)

    def to_host(self, tensor: torch.Tensor) -> Any:
        """Copies; waits for the kernels that produce the tensor."""
        from tensorloom.devices import tensor_memory

        return tensor_memory.array_from_tensor(tensor.cpu())

    def synchronize(self) -> None:
        """Waits for the device's streams."""
        import torch

        torch.cuda.synchronize(self.torch_device)


def cuda_memory_sizes() -> list[int]:
    """Total bytes of each CUDA device, asked of the driver without using the device.

    Importing torch takes a second, and a CUDA context hundreds of megabytes; the
    driver's own library tells what there is for next to nothing.
    """
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return []
    count = ctypes.c_int()
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return []
    sizes = []
    for ordinal in range(count.value):
        handle, size = ctypes.c_int(), ctypes.c_size_t()
        driver.cuDeviceGet(ctypes.byref(handle), ordinal)
        driver.cuDeviceTotalMem_v2(ctypes.byref(size), handle)
        sizes.append(size.value)
    return sizes


def make_gpus(task: str, count: int | None, options: Mapping[str, Any]) -> list[Device]:
    """The visible CUDA devices, at most `count` of them.

    Options: `visible_device_list`, as in `GPUOptions` ("1,0": these, in this order).
    """
    sizes = [] if count == 0 else cuda_memory_sizes()
    visible = options.get("visible_device_list") or ""
    if not all(i.isascii() and i.isdigit() for i in visible.split(",") if i) and sizes:
        raise errors.InvalidArgumentError(
            None, None, f"visible_device_list '{visible}' is not a list of numbers"
        )
    order = [int(i) for i in visible.split(",") if i.isdigit()] or list(
        range(len(sizes))
    )
    order = [i for i in order if i < len(sizes)][:count]
    return [
        CudaDevice(task, index, cuda_index, sizes[cuda_index])
        for index, cuda_index in enumerate(order)
    ]


register_device_kind("GPU", make_gpus)
