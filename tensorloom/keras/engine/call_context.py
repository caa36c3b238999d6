"""Which layer is being called, on what, and whether for training."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any


class _Current(threading.local):
    """The innermost call of this thread, None outside of all."""

    call: LayerCall | None = None


_current = _Current()


class LayerCall:
    """One call of a layer, as a context manager.

    Attributes:
      layer: what is called.
      inputs: its inputs.
      training: as it was asked for; None when nobody said.
      outer: the call around it.
    """

    __slots__ = ("inputs", "layer", "outer", "training")

    def __init__(self, layer: Any, inputs: Any, training: Any) -> None:
        self.layer = layer
        self.inputs = inputs
        self.training = training

    def __enter__(self) -> LayerCall:
        self.outer = _current.call
        _current.call = self
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _current.call = self.outer


def current_call() -> LayerCall | None:
    """The innermost call of this thread."""
    return _current.call
