"""A device of another task of the cluster that a context has joined."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tensorloom.devices.device import Device
from tensorloom.framework.devices import device_name

if TYPE_CHECKING:
    from tensorloom.eager.tensor_handle import TensorHandle
    from tensorloom.framework.interfaces import DeviceInfo


class RemoteDevice(Device):
    """Known by its name and kind; its tensors are in the other task's memory."""

    def __init__(
        self,
        info: DeviceInfo,
        keep: Callable[[TensorHandle, RemoteDevice], TensorHandle],
    ) -> None:
        """Makes it.

        Args:
          info: what its task says of it.
          keep: sends a value to it; the handle of that.
        """
        self.device_type = info.device_type
        self.kernel_type = info.kernel_type or info.device_type
        parsed = device_name.parse_full(info.name)
        super().__init__(parsed.task_name, parsed.id or 0, info.memory_limit)
        self.incarnation = info.incarnation
        self.physical_description = info.physical_description
        self._keep = keep

    def keep(self, handle: TensorHandle) -> TensorHandle:
        """The value as a handle of this device.

        Raises:
          errors.InvalidArgumentError: it is a resource or a variant.
          errors.OpError: the task cannot be reached.
        """
        return self._keep(handle, self)
