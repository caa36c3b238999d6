"""Device maps: which device each part of a distributed value is on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tensorloom.client.distribution.thread_modes import replica_number
from tensorloom.distribute.values import device_names


class DeviceMap:
    """The devices of the parts of a distributed value, in the order of the parts."""

    _devices: tuple[str, ...]

    @property
    def all_devices(self) -> tuple[str, ...]:
        """The names of all devices."""
        return self._devices

    @property
    def num_logical_devices(self) -> int:
        """Over how many devices one replica is spread: one."""
        return 1

    @property
    def num_replicas_in_graph(self) -> int:
        """How many parts there are."""
        return len(self._devices)

    @property
    def devices_by_replica(self) -> Iterable[tuple[str, ...]]:
        """The devices of each replica. Raises ValueError if there are no replicas."""
        raise ValueError(f"{type(self).__name__} not indexed by replicas")

    def logical_device_from_values(self, values: Any) -> int:
        """Which of a replica's devices the values are on: the only one."""
        del values
        return 0

    def logical_to_actual_devices(self, logical_device_id: int) -> tuple[str, ...]:
        """The devices of the parts."""
        assert logical_device_id == 0
        return self._devices

    def select_for_current_replica(self, values: Any, replica_context: Any) -> Any:
        """The part of a replica."""
        raise NotImplementedError

    def replica_for_device(self, device: str) -> int | None:
        """Which replica is on a device. Raises ValueError if there are no replicas."""
        raise ValueError(f"{type(self).__name__} not indexed by replicas")

    def select_for_device(self, values: Any, device: str) -> Any:
        """The part that is on a device. Raises ValueError if there is none."""
        if device not in self._devices:
            raise ValueError(
                f"Device {device} not found in {self._devices} (current device "
                f"{device_names.current()})"
            )
        return values[self._devices.index(device)]

    def is_device_in_replica(self, device: str, replica_id: int) -> bool:
        """Whether a device is that of a replica."""
        raise ValueError(f"{type(self).__name__} not indexed by replicas")


class SingleDeviceMap(DeviceMap):
    """One device, which need not be that of a replica."""

    def __init__(self, device: str) -> None:
        assert isinstance(device, str)
        self._devices = (device_names.canonicalize(device),)

    def select_for_current_replica(self, values: Any, replica_context: Any) -> Any:
        """The only part."""
        assert len(values) == 1
        return values[0]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._devices[0]!r})"


class ReplicaDeviceMap(DeviceMap):
    """A device for each replica."""

    def __init__(self, devices: Sequence[str]) -> None:
        self._devices = _distinct(devices)
        self._replicas = {d: number for number, d in enumerate(self._devices)}

    @property
    def devices_by_replica(self) -> Iterable[tuple[str, ...]]:
        """A tuple of one device for each replica."""
        return tuple((d,) for d in self._devices)

    def select_for_current_replica(self, values: Any, replica_context: Any) -> Any:
        """The part of a replica."""
        assert len(values) == len(self._devices)
        return values[replica_number(replica_context)]

    def replica_for_device(self, device: str) -> int | None:
        """Which replica is on a device, or None."""
        return self._replicas.get(device)

    def is_device_in_replica(self, device: str, replica_id: int) -> bool:
        """Whether a device is that of a replica."""
        return device_names.canonicalize(device) == self._devices[replica_id]

    def __str__(self) -> str:
        return f"[{', '.join(self._devices)}]"

    def __repr__(self) -> str:
        devices = ", ".join(repr(d) for d in self._devices)
        return f"{type(self).__name__}([{devices}])"


class WorkerDeviceMap(DeviceMap):
    """A device for each worker, which may have several replicas."""

    def __init__(self, devices: Sequence[str], num_replicas_per_worker: int) -> None:
        self._devices = _distinct(devices)
        self.num_replicas_per_worker = num_replicas_per_worker

    @property
    def devices_by_replica(self) -> Iterable[tuple[str, ...]]:
        """Not known: ValueError."""
        raise ValueError("`WorkerDeviceMap` is not indexed by replicas")

    def replica_for_device(self, device: str) -> int | None:
        """Not known: ValueError."""
        raise ValueError("`WorkerDeviceMap` not indexed by replicas")

    def select_for_current_replica(self, values: Any, replica_context: Any) -> Any:
        """The part of a replica's worker."""
        replica = replica_number(replica_context)
        return values[replica // self.num_replicas_per_worker]

    def select_for_device(self, values: Any, device: str) -> Any:
        """The part that is on a device. Raises ValueError if there is none."""
        return values[self._devices.index(device_names.canonicalize(device))]

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self._devices!r}, "
            f"num_replicas_per_worker={self.num_replicas_per_worker})"
        )


def _distinct(devices: Sequence[str]) -> tuple[str, ...]:
    names = tuple(device_names.canonicalize(d) for d in devices)
    if len(set(names)) != len(names):
        raise ValueError(
            f"Duplicate devices in {devices}, after canonicalization: {names}"
        )
    return names


class LogicalDeviceSpec(NamedTuple):
    """A destination of reductions: the devices of a map."""

    device_map: DeviceMap
    logical_device: int
