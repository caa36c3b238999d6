"""`tf.config.experimental`: which devices there are, and how they are used."""

from __future__ import annotations

from typing import Any

from tensorloom.client.session.session import Session
from tensorloom.client.settings.process_settings import (
    SETTINGS,
    LogicalDevice,
    PhysicalDevice,
    VirtualDeviceConfiguration,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.dataflow_graph import Graph

# The devices of this machine, once they were asked for.
_physical: list[PhysicalDevice] = []


@export("config.experimental.list_physical_devices")
def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of this machine, of one type ("CPU", "GPU") or all."""
    if not _physical:
        from tensorloom.protos.config_pb2 import ConfigProto

        # A config of its own: the settings of `tf.config` do not matter here.
        with Session(graph=Graph(), config=ConfigProto()) as session:
            _physical.extend(
                PhysicalDevice(
                    "/physical_device:" + device.name.partition("/device:")[2],
                    device.device_type,
                )
                for device in session.list_devices()
            )
    return _of_type(_physical, device_type)


@export("config.experimental.list_logical_devices")
def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that nodes can be placed on; from now on they stay as they are."""
    with Session(graph=Graph()) as session:
        devices = [
            LogicalDevice(device.name, device.device_type)
            for device in session.list_devices()
        ]
    SETTINGS.settled = True
    return _of_type(devices, device_type)


@export("config.experimental_list_devices")
def list_devices() -> list[str]:
    """The full names of the devices that nodes can be placed on."""
    return [device.name for device in list_logical_devices()]


@export("config.experimental.get_visible_devices")
def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that sessions use, of one type or all."""
    visible = SETTINGS.visible
    devices = list_physical_devices() if visible is None else visible
    return _of_type(devices, device_type)


@export("config.experimental.set_visible_devices")
def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Sets which devices sessions use.

    Args:
      devices: one or a list of what `list_physical_devices` gives.
      device_type: devices of other types stay as they are.

    Raises:
      ValueError: a device is not there, or of another type.
      RuntimeError: that changes, and the devices exist already.
    """
    wanted = devices if isinstance(devices, list) else [devices]
    for device in wanted:
        _require_known(device)
        if device_type is not None and device.device_type != device_type:
            raise ValueError(f"Unrecognized device: {device!r}")
    others = [
        device
        for device in get_visible_devices()
        if device_type is not None and device.device_type != device_type
    ]
    if get_visible_devices() != [*others, *wanted]:
        SETTINGS.require_unsettled(
            "Visible devices cannot be modified after being initialized"
        )
        SETTINGS.visible = [*others, *wanted]


@export("config.experimental.get_memory_growth")
def get_memory_growth(device: PhysicalDevice) -> bool | None:
    """Whether memory is taken as it is needed; None where nobody said.

    Raises:
      ValueError: the device is not there.
      KeyError: it is no GPU.
    """
    _require_known(device)
    if device.device_type != "GPU":
        raise KeyError(device)
    return SETTINGS.memory_growth.get(device)


@export("config.experimental.set_memory_growth")
def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Says whether memory of a GPU is taken as it is needed.

    Raises:
      ValueError: the device is not there, is no GPU, or has virtual devices.
      RuntimeError: that changes, and the devices exist already.
    """
    _require_known(device)
    if device in SETTINGS.virtual:
        raise ValueError(
            "Cannot set memory growth on device when virtual devices configured"
        )
    if device.device_type != "GPU":
        raise ValueError("Cannot set memory growth on non-GPU devices")
    if SETTINGS.memory_growth.get(device) != enable:
        SETTINGS.require_unsettled(
            "Physical devices cannot be modified after being initialized"
        )
        SETTINGS.memory_growth[device] = enable


@export("config.experimental.get_virtual_device_configuration")
def get_virtual_device_configuration(
    device: PhysicalDevice,
) -> list[VirtualDeviceConfiguration] | None:
    """The parts of a device; None where it is whole.

    Raises:
      ValueError: the device is not there.
    """
    _require_known(device)
    return SETTINGS.virtual.get(device)


@export("config.experimental.set_virtual_device_configuration")
def set_virtual_device_configuration(
    device: PhysicalDevice, virtual_devices: list[VirtualDeviceConfiguration]
) -> None:
    """Divides a device: sessions see one device for each part.

    Raises:
      ValueError: the device is not there, or a part says what it cannot have: a CPU no
        limit of memory, a GPU must have one.
      RuntimeError: that changes, and the devices exist already.
    """
    _require_known(device)
    limits = [part.memory_limit for part in virtual_devices]
    if device.device_type == "CPU":
        if any(limit is not None for limit in limits):
            raise ValueError(
                "Setting memory limit on CPU virtual devices is currently not supported"
            )
    elif device.device_type == "GPU":
        if any(limit is None for limit in limits):
            raise ValueError(
                "Setting memory limit is required for GPU virtual devices is"
            )
    else:
        raise ValueError(f"Virtual devices are not supported for {device.device_type}")
    if SETTINGS.virtual.get(device) != virtual_devices:
        SETTINGS.require_unsettled(
            "Virtual devices cannot be modified after being initialized"
        )
        SETTINGS.virtual[device] = virtual_devices


def _of_type(devices: list[Any], device_type: str | None) -> list[Any]:
    return [d for d in devices if device_type is None or d.device_type == device_type]


def _require_known(device: Any) -> None:
    if device not in list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")
