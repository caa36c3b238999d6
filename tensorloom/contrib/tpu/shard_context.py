"""`tensorflow.python.tpu.tpu_function`: how many shards a model is built for.

Models ask for it to average over shards (batch normalization over all of a batch).
Without TPUs there are none, unless a program says so.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class TpuContext(threading.local):
    """What is known of the computation that this thread builds."""

    def __init__(self) -> None:
        self._number_of_shards: int | None = None

    @property
    def number_of_shards(self) -> int | None:
        """How many shards there are; None outside `tpu_shard_context`."""
        return self._number_of_shards

    def set_number_of_shards(self, number_of_shards: int | None) -> None:
        """Says how many there are."""
        self._number_of_shards = number_of_shards


_current = TpuContext()


@contextmanager
def tpu_shard_context(number_of_shards: int) -> Iterator[None]:
    """A block that builds a model for that many shards.

    Raises:
      NotImplementedError: inside of another.
    """
    if _current.number_of_shards is not None:
        raise NotImplementedError("tpu_shard_context cannot be nested.")
    try:
        _current.set_number_of_shards(number_of_shards)
        yield
    finally:
        _current.set_number_of_shards(None)


def get_tpu_context() -> TpuContext:
    """The context of this thread."""
    return _current


def on_device_training_loop(func: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a function as the loop of a training, which only TPUs look at."""
    vars(func)["step_marker_location"] = "STEP_MARK_AT_TOP_LEVEL_WHILE_LOOP"
    return func
