"""The memory of models: what one will need, and giving back what one had."""

from __future__ import annotations

import ctypes
import gc
import threading
from pathlib import Path
from typing import Any, Final

from tensorloom.framework import errors
from tensorloom.kernels.torch.state import restored_memory
from tensorloom.storage.files import filesystem

# The graph of a model is held as objects, which take more than its message.
_GRAPH_FACTOR: Final = 4


def estimate_bytes(path: str) -> int:
    """About how much memory a version takes: variables and assets, and its graph.

    Raises:
      OSError, errors.OpError: the directory cannot be read.
    """
    total = 0
    for folder, _, names in filesystem.walk(path):
        for name in names:
            size = filesystem.stat(filesystem.join(folder, name)).length
            is_graph = name.endswith((".pb", ".pbtxt"))
            total += size * _GRAPH_FACTOR if is_graph else size
    return total


class MemoryBudget:
    """Refuses to load what does not fit.

    With a limit, the estimates of all that is loaded count against it. Without one,
    the estimates of what is being loaded count against the memory that is free.
    """

    def __init__(self, limit_bytes: int | None = None) -> None:
        self._limit = limit_bytes
        self._lock = threading.Lock()
        self._loading: dict[tuple[str, int], int] = {}
        self._loaded: dict[tuple[str, int], int] = {}

    def reserve(self, name: str, version: int, size: int) -> None:
        """Claims the memory of a version that is to be loaded.

        Raises:
          errors.ResourceExhaustedError: there is not enough.
        """
        with self._lock:
            taken = sum(self._loading.values())
            if self._limit is None:
                available = available_bytes()
                room = None if available is None else available - taken
            else:
                room = self._limit - taken - sum(self._loaded.values())
            if room is not None and size > room:
                raise errors.ResourceExhaustedError(
                    None,
                    None,
                    f"Insufficient resources to load servable {{name: {name} version: "
                    f"{version}}}: it needs about {size >> 20} MB, and "
                    f"{max(room, 0) >> 20} MB are left",
                )
            self._loading[name, version] = size

    def loaded(self, name: str, version: int) -> None:
        """The version is in memory now."""
        with self._lock:
            size = self._loading.pop((name, version), None)
            if size is not None:
                self._loaded[name, version] = size

    def release(self, name: str, version: int) -> None:
        """The version is out of memory, or never came into it."""
        with self._lock:
            self._loading.pop((name, version), None)
            self._loaded.pop((name, version), None)

    def size_of(self, name: str, version: int) -> int:
        """The estimate of a loaded version; 0 for another."""
        return self._loaded.get((name, version), 0)


def available_bytes() -> int | None:
    """Free memory of this machine, or of the container; None where that is unknown."""
    found = [
        size for size in (_machine_bytes(), _container_bytes()) if size is not None
    ]
    return min(found, default=None)


def _machine_bytes() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _container_bytes() -> int | None:
    folder = Path("/sys/fs/cgroup")
    try:
        limit = (folder / "memory.max").read_text().strip()
        used = int((folder / "memory.current").read_text())
        statistics = dict(
            line.split() for line in (folder / "memory.stat").read_text().splitlines()
        )
    except (OSError, ValueError):
        return None
    if limit == "max":
        return None
    # Pages of files are given up when they are needed.
    return int(limit) - used + int(statistics.get("inactive_file", 0))


def resident_bytes() -> int:
    """The memory of this process that is in use; 0 where that is unknown."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def give_back() -> None:
    """Returns the memory of what was freed to the operating system."""
    gc.collect()
    restored_memory.give_back()
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


def _malloc_trim() -> Any:
    """glibc's function for it; None with another library."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return None
