"""`list_local_devices`: the devices of this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.client.session.session import Session
from tensorloom.framework.graph.dataflow_graph import Graph

if TYPE_CHECKING:
    from tensorloom.protos.device_attributes_pb2 import DeviceAttributes


def list_local_devices(session_config: Any = None) -> list[DeviceAttributes]:
    """The devices that a session with this configuration has.

    Args:
      session_config: ConfigProto; `device_count` says how many of a kind there are.

    Returns:
      DeviceAttributes with `name` ("/device:CPU:0"), `device_type` and `memory_limit`.
    """
    from tensorloom.protos.device_attributes_pb2 import DeviceAttributes

    with Session(graph=Graph(), config=session_config) as session:
        found = session.list_devices()
    return [
        DeviceAttributes(
            name="/device:" + device.name.partition("/device:")[2],
            device_type=device.device_type,
            memory_limit=max(device.memory_limit_bytes, 0),
            incarnation=device.incarnation & (2**64 - 1),
            physical_device_desc=(
                f"device: {device.name.rpartition(':')[2]}, type: {device.device_type}"
                if device.device_type == "GPU"
                else ""
            ),
        )
        for device in found
    ]
