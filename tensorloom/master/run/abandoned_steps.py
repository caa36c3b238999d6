"""Steps that were given up: nothing of them may go on elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tensorloom.framework.interfaces import WorkerInterface

# How long a task may take to say that it has given a step up; it may be gone.
_PATIENCE_S: Final = 1.0


def settle_step(workers: Sequence[WorkerInterface], step_id: int) -> None:
    """Ends a cancelled step on its tasks, and waits for them, but not for long.

    A task hears of a cancellation while the client goes on. What waits there, say at a
    queue, must not take an element that the client's next step adds.
    """
    told = threading.Semaphore(0)
    for worker in workers:
        worker.settle_step(step_id, told.release)
    until = time.monotonic() + _PATIENCE_S
    for _ in workers:
        if not told.acquire(timeout=max(0.0, until - time.monotonic())):
            return
