"""Which device a strategy updates a variable on, while it does."""

from __future__ import annotations

import threading
from typing import Any

from tensorloom.framework.export import export


class _Current(threading.local):
    device: Any = None


_current = _Current()


def get_update_device() -> Any:
    """The device inside `strategy.extended.update`, else None."""
    return _current.device


@export("contrib.distribute.UpdateContext")
class UpdateContext:
    """Context manager: what is built inside updates a variable on a device."""

    def __init__(self, device: Any) -> None:
        self._device = device
        self._outer: Any = None

    def __enter__(self) -> None:
        self._outer, _current.device = _current.device, self._device

    def __exit__(
        self, exception_type: Any, exception_value: Any, traceback: Any
    ) -> None:
        _current.device = self._outer
