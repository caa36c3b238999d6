"""What a session keeps on a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.runtime import concurrency

if TYPE_CHECKING:
    from tensorloom.framework.runtime.resource import SessionResources
    from tensorloom.worker.run.step import Step


class WorkerSession:
    """Its resources, its kernels with state, and its running steps."""

    def __init__(self, resources: SessionResources, is_isolated: bool) -> None:
        self.resources = resources
        self.is_isolated = is_isolated
        # Kernels with state by (node, device): the same node in several graphs of the
        # session is the same kernel.
        self.kernels: dict[tuple[str, str, str], Any] = {}
        self._lock = concurrency.Lock()
        self._running: set[Step] = set()
        self._closed = False

    def begin(self, step: Step) -> None:
        """Notes a running step, so that closing the session can cancel it.

        Raises:
          errors.CancelledError: the session is closed.
        """
        with self._lock:
            if self._closed:
                step.is_over = True
                raise errors.CancelledError(None, None, "Session has been closed.")
            self._running.add(step)

    def check_open(self) -> None:
        """Checks that the session was not closed.

        Raises:
          errors.CancelledError: it was.
        """
        if self._closed:
            raise errors.CancelledError(None, None, "Session has been closed.")

    @property
    def running(self) -> list[Step]:
        """The steps that run."""
        with self._lock:
            return list(self._running)

    def end(self, step: Step) -> None:
        """Forgets a step."""
        with self._lock:
            self._running.discard(step)

    def close(self) -> None:
        """Cancels the running steps."""
        with self._lock:
            self._closed = True
            running = list(self._running)
        for step in running:
            step.cancellation.cancel(
                errors.CancelledError(None, None, "Session has been closed.")
            )
