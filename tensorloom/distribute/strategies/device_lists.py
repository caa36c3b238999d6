"""Lists of the devices of one process, or of the workers of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorloom.distribute.strategies.cluster_tasks import normalize_cluster_spec
from tensorloom.framework.devices.device_spec import DeviceSpec


def is_local(devices: Sequence[str]) -> bool:
    """Whether devices are of this process.

    Raises:
      ValueError: some are and some are not, or a task is not said.
    """
    specs = [DeviceSpec.from_string(name) for name in devices]
    local = [spec.job in (None, "localhost") for spec in specs]
    if local[0]:
        if not all(local):
            raise ValueError(
                "Local device string cannot have job specified other than 'localhost'"
            )
        return True
    for spec, here in zip(specs, local, strict=True):
        if here:
            raise ValueError("Remote device string must have job specified.")
        if spec.task is None:
            raise ValueError("Remote device string must have task specified.")
    return False


def cluster_devices(cluster_spec: Any, num_gpus_per_worker: int) -> list[str]:
    """The devices of a cluster's chief and workers."""
    jobs = normalize_cluster_spec(cluster_spec).as_dict()
    devices = []
    for job in ("chief", "worker"):
        for task in range(len(jobs.get(job, []))):
            worker = f"/job:{job}/task:{task}"
            if not num_gpus_per_worker:
                devices.append(worker)
            devices += [
                f"{worker}/device:GPU:{gpu}" for gpu in range(num_gpus_per_worker)
            ]
    return devices


def by_worker(devices: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The workers in their order, each with its devices."""
    assert not is_local(devices)
    found: dict[tuple[int, int], tuple[str, list[str]]] = {}
    for name in devices:
        spec = DeviceSpec.from_string(name)
        if spec.job not in ("chief", "worker") or spec.task is None:
            continue
        place = (int(spec.job == "worker"), spec.task)
        worker = f"/job:{spec.job}/task:{spec.task}"
        found.setdefault(place, (worker, []))[1].append(name)
    return [found[place] for place in sorted(found)]


def gpus_per_worker(devices: Sequence[str]) -> int:
    """How many GPUs each worker has.

    Raises:
      ValueError: not all have as many, or they are not counted from 0.
    """
    if is_local(devices):
        return _gpus(devices)
    counts = set()
    for _, own in by_worker(devices):
        count = _gpus(own)
        counts.add(count)
        if len(counts) > 1:
            raise ValueError("All workers should have the same number of GPUs.")
        for name in own:
            spec = DeviceSpec.from_string(name)
            if spec.device_type == "GPU" and (spec.device_index or 0) >= count:
                raise ValueError(
                    "GPU `device_index` on a worker should be consecutive and start "
                    "from 0."
                )
    return counts.pop()


def _gpus(devices: Sequence[str]) -> int:
    return sum(DeviceSpec.from_string(name).device_type == "GPU" for name in devices)
