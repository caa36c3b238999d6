"""Ids of steps and requests; a request that is tried again must not run twice."""

from __future__ import annotations

import os
import random
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tensorloom.framework import errors
from tensorloom.framework.runtime import concurrency

_REMEMBERED: Final = 100_000

# Ids must differ, also from another process's. It does no harm to guess one.
_numbers: Final = random.Random(os.urandom(32))
os.register_at_fork(after_in_child=lambda: _numbers.seed(os.urandom(32)))


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Makes the ids of the block those of a seed: for what is to be run again."""
    _numbers.seed(seed)
    try:
        yield
    finally:
        _numbers.seed(os.urandom(32))


def new_step_id() -> int:
    """Random, with the top bits zero, as TensorFlow's masters choose it."""
    return _numbers.getrandbits(56) or 1


def new_request_id() -> int:
    """Random and not 0, which asks for no check."""
    return _numbers.getrandbits(62) or 1


class RecentRequests:
    """The ids of the last requests. Thread-safe."""

    def __init__(self) -> None:
        self._lock = concurrency.Lock()
        self._ids: OrderedDict[int, None] = OrderedDict()

    def check(self, request_id: int, method: str) -> None:
        """Notes a request; 0 is never checked.

        Raises:
          errors.AbortedError: its id was seen before.
        """
        if not request_id:
            return
        with self._lock:
            if request_id not in self._ids:
                self._ids[request_id] = None
                if len(self._ids) > _REMEMBERED:
                    self._ids.popitem(last=False)
                return
        raise errors.AbortedError(
            None,
            None,
            f"The same {method} request was received twice. The first may still be "
            "running, or its response was lost.",
        )
