"""Which devices read input, and which devices each of them feeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tensorloom.distribute.values.device_names import canonicalize

if TYPE_CHECKING:
    from tensorloom.distribute.values.device_maps import DeviceMap


class InputWorkers:
    """The devices that read input, and those that they feed.

    Args:
      device_map: the devices that are fed.
      worker_device_pairs: each device that reads, with those that it feeds; the CPU,
        with all of them, when None.
      logical_device: which of a replica's devices are fed.
    """

    def __init__(
        self,
        device_map: DeviceMap,
        worker_device_pairs: Sequence[tuple[str, Sequence[str]]] | None = None,
        logical_device: int = 0,
    ) -> None:
        self._device_map = device_map
        self._logical_device = logical_device
        fed = device_map.logical_to_actual_devices(logical_device)
        if worker_device_pairs is None:
            worker_device_pairs = [(canonicalize("/device:CPU:0"), fed)]
        self._input_worker_devices = tuple(worker for worker, _ in worker_device_pairs)
        self._fed_devices = tuple(
            tuple(canonicalize(d) for d in devices)
            for _, devices in worker_device_pairs
        )
        flattened = tuple(d for devices in self._fed_devices for d in devices)
        assert flattened == fed, (
            f"flattened: {flattened} logical device {logical_device}: {fed}"
        )

    @property
    def device_map(self) -> DeviceMap:
        """The devices that are fed."""
        return self._device_map

    @property
    def logical_device(self) -> int:
        """Which of a replica's devices are fed."""
        return self._logical_device

    @property
    def num_workers(self) -> int:
        """How many devices read."""
        return len(self._input_worker_devices)

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices that read."""
        return self._input_worker_devices

    def compute_devices_for_worker(self, worker_index: int) -> tuple[str, ...]:
        """The devices that one of them feeds."""
        return self._fed_devices[worker_index]

    def __repr__(self) -> str:
        pairs = zip(self._input_worker_devices, self._fed_devices, strict=True)
        lines = ",\n".join(f"  {i} {w}: {fed}" for i, (w, fed) in enumerate(pairs))
        return f"{type(self).__name__}:{{\n{lines}\n  device_map: {self._device_map}}}"
