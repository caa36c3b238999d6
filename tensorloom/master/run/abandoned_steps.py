"""Ends abandoned (cancelled) steps on all tasks before the client goes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tensorloom.framework.runtime import concurrency

if TYPE_CHECKING:
    from tensorloom.framework.interfaces import WorkerInterface

# How long to wait for a task to confirm that it ended the step; the task may be gone.
_CONFIRMATION_TIMEOUT_S: Final = 1.0


def end_abandoned_step(workers: Sequence[WorkerInterface], step_id: int) -> None:
    """Ends a cancelled step on its tasks, and waits a short time until they confirm it.

    Without the wait, an op of the cancelled step that waits at a queue of another task
    could take an element that the client's next step adds.
    """
    confirmed = concurrency.Semaphore(0)
    for worker in workers:
        worker.end_abandoned_step(step_id, confirmed.release)
    until = concurrency.monotonic() + _CONFIRMATION_TIMEOUT_S
    for _ in workers:
        if not confirmed.acquire(timeout=max(0.0, until - concurrency.monotonic())):
            return
