"""The device of an op that runs alone."""

from __future__ import annotations

import enum
import logging
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.cluster.local import LOCAL_TASK, has_kernel
from tensorloom.eager.remote_device import RemoteDevice
from tensorloom.framework import errors
from tensorloom.framework.devices import device_name
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from tensorloom.devices.device import Device
    from tensorloom.eager.tensor_handle import TensorHandle
    from tensorloom.framework.graph.graph_ir import Node

# Where values are that were made before the context joined a cluster, or without one.
_HOST = f"{LOCAL_TASK}/device:CPU:0"
_logger = logging.getLogger("tensorloom")


class PlacementPolicy(enum.IntEnum):
    """What is done about inputs on other devices; the numbers are the C API's."""

    EXPLICIT = 0  # an error
    WARN = 1  # copied, with a warning
    SILENT = 2  # copied
    SILENT_FOR_INT32 = 3  # int32 is copied, others are an error


class Placement:
    """Finds devices and brings inputs to them."""

    def __init__(
        self, devices: Sequence[Device], soft: bool, policy: PlacementPolicy
    ) -> None:
        """Makes it.

        Args:
          devices: CPUs first, then others, which are preferred; then those of other
            tasks.
          soft: whether an op goes elsewhere if the wanted device cannot run it.
          policy: about inputs on other devices.
        """
        self.devices = list(devices)
        self.soft = soft
        self.default_policy = policy
        self._of_thread = threading.local()
        is_cpu = [d.device_type == "CPU" for d in devices]
        self._preferred = sorted(
            devices, key=lambda d: (isinstance(d, RemoteDevice), d.device_type == "CPU")
        )
        self.cpu = next(d for d, cpu in zip(devices, is_cpu, strict=True) if cpu)
        self._names = [(d, device_name.parse_full(d.name)) for d in self._preferred]

    @property
    def is_single(self) -> bool:
        """Whether there is one device, so that nothing is ever elsewhere."""
        return len(self.devices) == 1

    @property
    def policy(self) -> PlacementPolicy:
        """What holds for the calling thread."""
        policy: PlacementPolicy = getattr(
            self._of_thread, "policy", self.default_policy
        )
        return policy

    def set_thread_policy(self, policy: PlacementPolicy) -> None:
        """Sets what holds for the calling thread alone."""
        self._of_thread.policy = policy

    def named(self, name: str) -> Device:
        """The one device of a full, partial or local name (`CPU:0`); the CPU's for "".

        Raises:
          errors.InvalidArgumentError: there is none.
        """
        is_local = name and not name.startswith("/")
        found = self._matching(f"/device:{name}" if is_local else name)
        if not name:
            found = [self.cpu]
        if not found:
            known = ", ".join(d.name for d in self.devices)
            raise invalid_argument(f"{name} unknown device. Known devices: {known}")
        return found[0]

    def place(self, node: Node, wanted: str, inputs: Sequence[TensorHandle]) -> Device:
        """The device of an op: the one of its resources, or a wanted one.

        Raises:
          errors.NotFoundError: no kind of device has a kernel for it.
          errors.InvalidArgumentError: none of those that are wanted has.
        """
        able = {d.kernel_type for d in self.devices if has_kernel(node, d.kernel_type)}
        if not able:
            raise no_device(node.op, node.attrs)
        for handle in inputs:
            if handle.dtype is dtypes.resource and handle.device.kernel_type in able:
                return self.named(handle.device.name)
        matching = self._matching(wanted)
        found = [d for d in matching if d.kernel_type in able]
        if not found and self.soft:
            task = device_name.parse(wanted).task_name
            found = [d for d in self._matching(task) if d.kernel_type in able]
        if not found:
            known = ", ".join(d.name for d in self.devices)
            raise invalid_argument(
                f"Could not satisfy device specification '{wanted}'. "
                f"allow_soft_placement={self.soft}. Supported device types "
                f"[{', '.join(sorted(able))}]. All available devices [{known}]. "
                f"Eager operation: {node.op}"
            )
        return found[0]

    def _matching(self, name: str) -> list[Device]:
        try:
            parsed = device_name.parse(name)
        except ValueError:
            return []
        return [device for device, full in self._names if parsed.covers(full)]

    def moved(
        self, inputs: Sequence[TensorHandle], device: Device, op_type: str
    ) -> list[TensorHandle]:
        """The inputs on the device of their op; as they are for another task's.

        Raises:
          errors.InvalidArgumentError: one is elsewhere, and the policy forbids copies.
        """
        return [
            handle
            if handle.device.name == device.name or handle.dtype is dtypes.resource
            else self._copied(handle, index, device, op_type)
            for index, handle in enumerate(inputs)
        ]

    def _copied(
        self, handle: TensorHandle, index: int, device: Device, op_type: str
    ) -> TensorHandle:
        if handle.device.name == _HOST and device.name == self.cpu.name:
            return handle.copy_to_device(device)
        policy = self.policy
        is_small = policy == PlacementPolicy.SILENT_FOR_INT32 and (
            handle.dtype is dtypes.int32
        )
        text = (
            f"cannot compute {op_type} as input #{index} was expected to be on "
            f"{device.name} but is actually on {handle.device.name} (operation running "
            f"on {device.name})"
        )
        if policy == PlacementPolicy.WARN:
            _logger.warning("before it runs, an input is copied: %s", text)
        elif policy != PlacementPolicy.SILENT and not is_small:
            raise invalid_argument(f"Tensors on conflicting devices: {text}")
        # The step that runs the op brings them to another task.
        is_remote = isinstance(device, RemoteDevice)
        return handle if is_remote else handle.copy_to_device(device)


def no_device(op_type: str, attrs: Mapping[str, Any]) -> errors.NotFoundError:
    """The error of an op that no device has a kernel for, with its dtypes."""
    types = ", ".join(
        f"{name}={value.name}"
        for name, value in attrs.items()
        if isinstance(value, dtypes.DType)
    )
    return errors.NotFoundError(
        None,
        None,
        "Could not find valid device for node. No kernel of any device fits: "
        f"{{{{node {op_type}}}}} = {op_type}[{types}]",
    )
