"""`merge_device`: a spec as a device function, which fills in what inner ones leave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.framework.devices.device_spec import DeviceSpec, DeviceSpecV2


def merge_device(spec: DeviceSpecV2 | str | None) -> Callable[[Any], str]:
    """A function for `tf.device` that gives nodes the components which they lack.

    Raises:
      ValueError: the spec string is not valid.
    """
    if not isinstance(spec, DeviceSpecV2):
        spec = DeviceSpec.from_string(spec)
    outer = spec

    def with_components(node: Any) -> str:
        inner = DeviceSpec.from_string(node.device or "")
        return outer.make_merged_spec(inner).to_string()

    return with_components
