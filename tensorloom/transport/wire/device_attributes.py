"""Devices as `DeviceAttributes` messages."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.interfaces import DeviceInfo


def fill_device(proto: Any, device: DeviceInfo) -> None:
    """Fills an empty message."""
    proto.name = device.name
    proto.device_type = device.device_type
    proto.memory_limit = device.memory_limit
    proto.incarnation = device.incarnation & 0xFFFFFFFFFFFFFFFF
    proto.physical_device_desc = device.physical_description
    proto.locality.SetInParent()


def read_device(proto: Any) -> DeviceInfo:
    """The device that a message describes."""
    incarnation = proto.incarnation
    return DeviceInfo(
        proto.name,
        proto.device_type,
        proto.memory_limit,
        incarnation - 2**64 if incarnation >= 2**63 else incarnation,
        proto.physical_device_desc,
    )
