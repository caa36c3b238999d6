"""What this machine's devices can do, as `DeviceProperties`."""

from __future__ import annotations

import os
import platform
import re
from functools import cache
from pathlib import Path
from typing import Any

from tensorloom.protos.device_properties_pb2 import DeviceProperties, NamedDevice

_CPU_INFO = Path("/proc/cpuinfo")
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}


@cache
def cpu_properties() -> Any:
    """Of the processor; what the system does not tell is 0."""
    facts = _cpu_facts()
    sizes = _cache_sizes()
    return DeviceProperties(
        type="CPU",
        vendor=facts.get("vendor_id", ""),
        model=facts.get("model", platform.machine()),
        frequency=int(float(facts.get("cpu MHz", 0))),
        num_cores=os.cpu_count() or 1,
        environment={"cpu_instruction_set": facts.get("flags", "")},
        l1_cache_size=sizes.get(1, 0),
        l2_cache_size=sizes.get(2, 0),
        l3_cache_size=sizes.get(3, 0),
        memory_size=_memory(),
    )


def _cpu_facts() -> dict[str, str]:
    if not _CPU_INFO.exists():
        return {}
    first, _, _ = _CPU_INFO.read_text().partition("\n\n")
    lines = (line.partition(":") for line in first.splitlines())
    return {name.strip(): value.strip() for name, _, value in lines}


def _cache_sizes() -> dict[int, int]:
    """Bytes by level; of the first level that of data."""
    sizes: dict[int, int] = {}
    for folder in sorted(_CACHES.glob("index*")):
        found = re.fullmatch(r"(\d+)([KMG]?)", (folder / "size").read_text().strip())
        if found and (folder / "type").read_text().strip() != "Instruction":
            level = int((folder / "level").read_text())
            sizes[level] = int(found[1]) * _UNITS.get(found[2], 1)
    return sizes


def _memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return 0


def device_properties(device_type: str, memory_limit: int) -> Any:
    """Of a device that a session lists."""
    if device_type != "CPU":
        return DeviceProperties(type=device_type, memory_size=memory_limit)
    proto = DeviceProperties()
    proto.CopyFrom(cpu_properties())
    proto.memory_size = memory_limit
    return proto


def named_device(name: str, properties: Any) -> Any:
    """The message of a device and its properties."""
    return NamedDevice(name=name, properties=properties)
