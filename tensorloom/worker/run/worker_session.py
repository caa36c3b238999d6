"""What a session keeps on a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.runtime import concurrency

if TYPE_CHECKING:
    from tensorloom.framework.runtime.fences import Fence, Fences
    from tensorloom.framework.runtime.resource import SessionResources
    from tensorloom.worker.run.step import Step


class WorkerSession:
    """Its resources, its kernels with state, and its running steps."""

    def __init__(
        self,
        resources: SessionResources,
        is_isolated: bool,
        fence: Fence | None = None,
        fences: Fences | None = None,
    ) -> None:
        self.resources = resources
        self.is_isolated = is_isolated
        self.fence = fence
        self._fences = fences
        # Kernels with state by (node, device): the same node in several graphs of the
        # session is the same kernel.
        self.kernels: dict[tuple[str, str, str], Any] = {}
        self._lock = concurrency.Lock()
        self._ended = concurrency.Condition(self._lock)
        self._running: set[Step] = set()
        self._closed = False

    def begin(self, step: Step) -> None:
        """Notes a running step, so that closing the session can cancel it.

        Raises:
          errors.CancelledError: the session is closed.
          errors.AbortedError: another process has taken over, see `Fence`.
        """
        with self._lock:
            try:
                self.check_open()
            except errors.OpError:
                step.is_over = True
                raise
            self._running.add(step)

    def check_open(self) -> None:
        """Checks that the session was not closed, and not fenced off.

        Raises:
          errors.CancelledError: it was closed.
          errors.AbortedError: another process has taken over.
        """
        if self._closed:
            raise errors.CancelledError(None, None, "Session has been closed.")
        if self.fence is not None and self._fences is not None:
            self._fences.check(self.fence)

    @property
    def running(self) -> list[Step]:
        """The steps that run."""
        with self._lock:
            return list(self._running)

    def end(self, step: Step) -> None:
        """Forgets a step."""
        with self._lock:
            self._running.discard(step)
            self._ended.notify_all()

    def fence_off(self) -> None:
        """Cancels the running steps, and waits until they have ended.

        It is called when no more of them may begin, so that nothing of the session
        changes what the next process does.
        """
        try:
            self.check_open()
        except errors.OpError as error:
            for step in self.running:
                step.cancellation.cancel(error)
        with self._lock:
            while self._running:
                self._ended.wait()

    def close(self) -> None:
        """Cancels the running steps."""
        with self._lock:
            self._closed = True
            running = list(self._running)
        for step in running:
            step.cancellation.cancel(
                errors.CancelledError(None, None, "Session has been closed.")
            )
