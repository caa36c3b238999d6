"""Which parameter server a variable is placed on, by chance of its name."""

from __future__ import annotations

import hashlib
from typing import Any

from tensorloom.framework.export import export


@export("contrib.training.RandomStrategy")
class RandomStrategy:
    """A strategy of `replica_device_setter`: a task for each name, always the same.

    Args:
      num_ps_tasks: how many servers there are.
      seed: another one gives other tasks.
    """

    def __init__(self, num_ps_tasks: int, seed: int = 0) -> None:
        self._num_tasks = num_ps_tasks
        self._seed = seed

    def __call__(self, op: Any) -> int:
        """The number of the task for an operation."""
        # As TensorFlow does: the same name goes to the same task there.
        key = f"{op.name}_{self._seed}".encode()
        digest = hashlib.md5(key, usedforsecurity=False).hexdigest()
        return int(digest, 16) % self._num_tasks
