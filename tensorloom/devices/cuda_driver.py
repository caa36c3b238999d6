"""What CUDA devices there are, asked of the driver without using one.

Importing torch takes a second, and a CUDA context hundreds of megabytes; the driver's
own library tells what there is for next to nothing.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, Final

# From cuda.h.
_CAPABILITY_MAJOR: Final = 75
_CAPABILITY_MINOR: Final = 76


@dataclass(frozen=True)
class CudaDeviceFacts:
    """One device."""

    memory: int  # bytes
    name: str
    pci_bus_id: str
    capability: tuple[int, int]

    @property
    def description(self) -> str:
        """As TensorFlow puts it behind the device's number."""
        major, minor = self.capability
        return (
            f"name: {self.name}, pci bus id: {self.pci_bus_id}, "
            f"compute capability: {major}.{minor}"
        )


def devices() -> list[CudaDeviceFacts]:
    """The devices that CUDA shows this process; none without its driver."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return []
    count = ctypes.c_int()
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return []
    return [_facts(driver, ordinal) for ordinal in range(count.value)]


def _facts(driver: Any, ordinal: int) -> CudaDeviceFacts:
    handle, size = ctypes.c_int(), ctypes.c_size_t()
    driver.cuDeviceGet(ctypes.byref(handle), ordinal)
    driver.cuDeviceTotalMem_v2(ctypes.byref(size), handle)
    name, bus = ctypes.create_string_buffer(256), ctypes.create_string_buffer(64)
    driver.cuDeviceGetName(name, len(name), handle)
    driver.cuDeviceGetPCIBusId(bus, len(bus), handle)
    return CudaDeviceFacts(
        size.value,
        name.value.decode(errors="replace"),
        bus.value.decode(errors="replace").lower(),
        (
            _attribute(driver, _CAPABILITY_MAJOR, handle),
            _attribute(driver, _CAPABILITY_MINOR, handle),
        ),
    )


def _attribute(driver: Any, which: int, handle: ctypes.c_int) -> int:
    value = ctypes.c_int()
    driver.cuDeviceGetAttribute(ctypes.byref(value), which, handle)
    return value.value
