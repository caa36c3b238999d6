"""`file://` debug URLs: the directories of event files that DebugDumpDir reads.

ROOT/_tfdbg_core_metadata_sessionrun00000000000000_1700000000000000
ROOT/_tfdbg_device_,job_localhost,replica_0,task_0,device_CPU_0/
    _tfdbg_graph_hash1234_1700000000000000
    scope/node_0_DebugIdentity_1700000000000000
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.framework.debug import events
from tensorloom.framework.debug.publishers import (
    DebugNodeKey,
    register_publisher,
    wall_time_us,
)
from tensorloom.storage.files import gfile
from tensorloom.storage.files.file_io import FileIO

if TYPE_CHECKING:
    from tensorloom.framework.debug.publishers import Watched

_LIMIT_VARIABLE: Final = "TFDBG_DISK_BYTES_LIMIT"
_DEFAULT_LIMIT: Final = 100 * 2**30
PREFIX: Final = "_tfdbg_"


def device_path(device_name: str) -> str:
    """The directory of a device in a dump."""
    return f"{PREFIX}device_" + device_name.replace("/", ",").replace(":", "_")


class DumpFiles:
    """Writes event files. Implements `Publisher`."""

    def __init__(self) -> None:
        self._used = 0  # bytes of tensors
        self._lock = threading.Lock()

    def tensor(self, url: str, watched: Watched) -> None:
        """Writes the file of a value.

        Raises:
          errors.ResourceExhaustedError: with it the dumps of this process would have
            more bytes than `TFDBG_DISK_BYTES_LIMIT` says (100 GiB).
        """
        key = watched.key
        self._take(int(getattr(watched.value, "nbytes", 0)), key)
        folder = gfile_join(_root(url), device_path(key.device_name))
        name = f"{key.node_name}_{key.output_slot}_{key.debug_op}"
        (event,) = events.tensor_events(watched)
        _write(folder, name, watched.wall_time_us, event)

    def _take(self, size: int, key: DebugNodeKey) -> None:
        limit = int(os.environ.get(_LIMIT_VARIABLE) or _DEFAULT_LIMIT)
        with self._lock:
            if self._used + size > limit:
                raise errors.ResourceExhaustedError(
                    None,
                    None,
                    "TensorFlow Debugger has exhausted file-system byte-size allowance "
                    f"({limit}), therefore it cannot dump an additional {size} byte(s) "
                    f"of tensor data for the debug tensor {key.tensor_name}. You may "
                    f"use the environment variable {_LIMIT_VARIABLE} to set a higher "
                    "limit.",
                )
            self._used += size

    def reset_usage(self) -> None:
        """Counts the bytes of dumps from 0 again."""
        with self._lock:
            self._used = 0

    def graph(self, url: str, device_name: str, graph_def: bytes) -> None:
        """Writes the file of a device's graph."""
        number = int.from_bytes(hashlib.blake2b(graph_def, digest_size=8).digest())
        now = wall_time_us()
        event = events.graph_event(graph_def, now)
        folder = gfile_join(_root(url), device_path(device_name))
        _write(folder, f"{PREFIX}graph_hash{number}", now, event)

    def metadata(self, url: str, message: str) -> None:
        """Writes the file of what a step was asked for."""
        run, now = json.loads(message)["session_run_index"], wall_time_us()
        name = f"{PREFIX}core_metadata_sessionrun{run:014d}"
        _write(_root(url), name, now, events.metadata_event(message, now))

    def close(self, url: str) -> None:
        """There is nothing to end."""

    def is_open(self, url: str, key: DebugNodeKey) -> bool:
        """True: files take everything."""
        return True


def _root(url: str) -> str:
    return url.partition("://")[2]


def gfile_join(*parts: str) -> str:
    """The path of a file in a directory of any file system."""
    return "/".join(part.rstrip("/") if part != "/" else "" for part in parts)


def _write(folder: str, name: str, now: int, event: Any) -> None:
    path = gfile_join(folder, f"{name}_{now}")
    gfile.makedirs(path.rpartition("/")[0])
    with FileIO(path, "wb") as file:
        file.write(event.SerializeToString())


DUMP_FILES: Final = DumpFiles()
register_publisher("file", DUMP_FILES)
