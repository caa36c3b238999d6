"""What a device is, and the kinds of device that a worker may have.

A new kind of device is a subclass of `Device` and one `register_device_kind` call; the
placer, the partitioner and the executor know devices by this interface alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.runtime import concurrency

if TYPE_CHECKING:
    import torch

# From the worker's task name and the wanted count (None: as many as there are) to the
# devices of the kind.
DeviceKind = Callable[[str, "int | None", Mapping[str, Any]], "list[Device]"]


class LeavingTensor:
    """A tensor of a device on its way to host memory."""

    def array(self) -> Any:
        """The NumPy value, once it is there."""
        raise NotImplementedError


class Device:
    """One device of a worker. Listing devices allocates nothing on them."""

    # The kind as device names spell it, e.g. "CPU".
    device_type = ""
    # The device type whose kernels it runs; a kind of its own may borrow another's.
    kernel_type = ""

    def __init__(self, task: str, index: int, memory_limit: int = 0) -> None:
        self.index = index
        self.name = f"{task}/device:{self.device_type}:{index}"
        self.memory_limit = memory_limit  # bytes
        # Told apart from a device of the same name after a restart.
        self.incarnation = concurrency.randbits(63) | 1
        self.physical_description = ""
        #: Names of all devices of the task; the worker that has them says which.
        self.task_devices: frozenset[str] = frozenset([self.name])

    @property
    def torch_device(self) -> torch.device | None:
        """The device as torch knows it; None when tensors lie in plain memory."""
        return None

    def from_host(self, value: Any) -> torch.Tensor:
        """A NumPy value as a tensor on this device; may share its memory."""
        raise NotImplementedError

    def to_host(self, tensor: torch.Tensor) -> Any:
        """A tensor of this device as a NumPy value; may share its memory."""
        raise NotImplementedError

    def leave(self, tensor: torch.Tensor) -> LeavingTensor | torch.Tensor:
        """A tensor of this device for another of the worker, without waiting for it."""
        return tensor

    def receive(self, tensor: torch.Tensor) -> torch.Tensor:
        """A tensor that another device of the worker sent, as one of this device."""
        place = self.torch_device
        return tensor if place is None else tensor.to(place)

    def synchronize(self) -> None:
        """Waits until the device has done what it was given."""


_KINDS: dict[str, DeviceKind] = {}


def register_device_kind(device_type: str, make: DeviceKind) -> None:
    """Adds a kind of device.

    Args:
      device_type: as in device names, e.g. "CPU".
      make: `make(task, count, options)` returns the devices of the kind.
    """
    _KINDS[device_type] = make


def unregister_device_kind(device_type: str) -> None:
    """Removes a kind of device; workers that run already keep theirs."""
    _KINDS.pop(device_type, None)


def make_devices(
    task: str,
    device_count: Mapping[str, int] | None = None,
    options: Mapping[str, Any] | None = None,
) -> list[Device]:
    """The devices of a worker: CPUs first, then the other kinds.

    Args:
      task: e.g. `/job:localhost/replica:0/task:0`.
      device_count: the most devices of a kind, as in `ConfigProto.device_count`.

    Raises:
      errors.NotFoundError: there is to be no CPU.
    """
    wanted = device_count or {}
    if wanted.get("CPU", 1) < 1:
        raise errors.NotFoundError(
            None, None, "No CPU devices are available: the session's device_count has 0"
        )
    return [
        device
        for device_type, make in sorted(_KINDS.items(), key=lambda one: one[0] != "CPU")
        for device in make(task, wanted.get(device_type), options or {})
    ]
