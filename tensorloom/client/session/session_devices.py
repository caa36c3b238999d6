"""Devices as `Session.list_devices` describes them."""

from __future__ import annotations

from tensorloom.framework.devices.device_spec import canonical_name


class DeviceAttributes:
    """A device as `Session.list_devices` describes it."""

    def __init__(
        self, name: str, device_type: str, memory_limit_bytes: int, incarnation: int
    ) -> None:
        self._name = canonical_name(name)
        self._device_type = device_type
        self._memory_limit_bytes = memory_limit_bytes
        self._incarnation = incarnation

    @property
    def name(self) -> str:
        """The full name."""
        return self._name

    @property
    def device_type(self) -> str:
        """`CPU`, `GPU`, ..."""
        return self._device_type

    @property
    def memory_limit_bytes(self) -> int:
        """How much memory may be used on it."""
        return self._memory_limit_bytes

    @property
    def incarnation(self) -> int:
        """A number that is new after each start of the device."""
        return self._incarnation

    def __repr__(self) -> str:
        return (
            f"_DeviceAttributes({self.name}, {self.device_type}, "
            f"{self.memory_limit_bytes}, {self.incarnation})"
        )
