"""A traced step as a file of TensorBoard's profiler, for its trace viewer."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from tensorloom.storage.files import filesystem

if TYPE_CHECKING:
    from tensorloom.framework.interfaces import NodeStats

# The viewer shows planes of other names only for the machine's own threads and GPUs.
_PLANE: Final = "/device:CUSTOM:"


def write_profile(logdir: str, run: str, stats: Iterable[NodeStats]) -> str:
    """Writes a step as a run of the profile plugin.

    Args:
      logdir: the directory that TensorBoard is given.
      run: what the plugin calls it.
      stats: what the step recorded.

    Returns:
      The path of the file.

    Raises:
      errors.OpError: it cannot be written.
    """
    folder = os.path.join(logdir, "plugins", "profile", run)
    filesystem.make_directories(folder)
    host = socket.gethostname()
    path = os.path.join(folder, f"{host}.xplane.pb")
    filesystem.write_file(path, _space(stats, host).SerializeToString())
    return path


def _space(stats: Iterable[NodeStats], host: str) -> Any:
    """An `XSpace`: a plane for each device, on it a line for each thread."""
    from tensorloom.protos.xplane_pb2 import XSpace

    space = XSpace(hostnames=[host])
    planes: dict[str, Any] = {}
    lines: dict[tuple[str, int], Any] = {}
    kinds: dict[tuple[str, str], int] = {}  # an event's text, by device
    ordered = sorted(stats, key=lambda one: one.start_ns)
    # From its begin on: the viewer has no room for picoseconds since 1970.
    begin = ordered[0].start_ns if ordered else 0
    for node in ordered:
        device = node.device.rpartition("/replica:0")[2] or node.device
        plane = planes.get(node.device)
        if plane is None:
            name = _PLANE + node.device.removeprefix("/")
            plane = planes[node.device] = space.planes.add(id=len(planes), name=name)
        line = lines.get((node.device, node.thread_id))
        if line is None:
            line = lines[node.device, node.thread_id] = plane.lines.add(
                id=len(lines) + 1,
                name=f"thread {node.thread_id} of {device}",
                timestamp_ns=node.start_ns - begin,
            )
        kind = kinds.setdefault((node.device, node.node_name), len(kinds) + 1)
        told = plane.event_metadata[kind]
        told.id, told.name = kind, f"{node.node_name} ({node.op})"
        line.events.add(
            metadata_id=kind,
            offset_ps=(node.start_ns - begin - line.timestamp_ns) * 1000,
            duration_ps=(node.end_ns - node.start_ns) * 1000,
        )
    return space
