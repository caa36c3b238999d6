"""Which nodes run where float16 is faster: on GPUs with units for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from tensorloom.framework.devices import device_name

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Node
    from tensorloom.framework.interfaces import DeviceInfo

_GPU: Final = "GPU"
_CAPABILITY: Final = re.compile(r"compute capability: (\d+)\.(\d+)")
_NEEDED: Final = (7, 0)


def fast_in_half(
    devices: Iterable[DeviceInfo], has_kernel: Callable[[Node, str], bool]
) -> Callable[[Node], bool] | None:
    """Tells nodes that will run on a GPU of the devices which is fast in float16.

    Nodes that name no device type are placed on a GPU where they have a kernel.

    Returns:
      None where there is no such GPU.
    """
    kinds = {
        device.kernel_type or device.device_type
        for device in devices
        if _is_fast(device)
    }
    if _GPU not in kinds:
        return None

    def is_fast(node: Node) -> bool:
        kind = device_name.parse(node.device).type
        return kind in (None, _GPU) and has_kernel(node, _GPU)

    return is_fast


def _is_fast(device: DeviceInfo) -> bool:
    found = _CAPABILITY.search(device.physical_description)
    return found is not None and (int(found[1]), int(found[2])) >= _NEEDED
