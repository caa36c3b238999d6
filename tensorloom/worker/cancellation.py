"""Cancelling a step: its deadline, its first error, and who must be woken."""

from __future__ import annotations

import threading
from collections.abc import Callable

from tensorloom.framework import errors


class CancellationManager:
    """The cancelled state of one step, with callbacks for those that wait.

    The first cause wins: an error in one piece cancels the others, whose own errors
    then only follow from it.
    """

    def __init__(self) -> None:
        self.cancelled = False
        self.cause: BaseException | None = None
        self._lock = threading.Lock()
        self._callbacks: dict[int, Callable[[], None]] = {}
        self._next_token = 0

    def cancel(self, cause: BaseException) -> None:
        """Cancels with an error; later causes are ignored."""
        with self._lock:
            if self.cancelled:
                return
            self.cause = cause
            self.cancelled = True
            callbacks = list(self._callbacks.values())
            self._callbacks.clear()
        for callback in callbacks:
            callback()

    def register(self, callback: Callable[[], None]) -> int | None:
        """Calls `callback` on cancellation; None when it has happened already."""
        with self._lock:
            if self.cancelled:
                return None
            self._next_token += 1
            self._callbacks[self._next_token] = callback
            return self._next_token

    def deregister(self, token: int) -> None:
        """Forgets a callback."""
        with self._lock:
            self._callbacks.pop(token, None)

    def check(self) -> None:
        """Raises when the step is cancelled.

        Raises:
          errors.OpError: the cause, or CancelledError.
        """
        if self.cancelled:
            raise self.error()

    def error(self) -> errors.OpError:
        """What a piece that stops because of the cancellation raises."""
        if isinstance(self.cause, errors.DeadlineExceededError):
            return errors.DeadlineExceededError(None, None, self.cause.message)
        return errors.CancelledError(None, None, "Step was cancelled")


class Deadline:
    """Cancels a step when its time is over."""

    def __init__(self, manager: CancellationManager, timeout_s: float) -> None:
        self._timer = threading.Timer(timeout_s, self._expire, (manager,))
        self._timer.daemon = True

    @staticmethod
    def _expire(manager: CancellationManager) -> None:
        manager.cancel(
            errors.DeadlineExceededError(
                None, None, "Timed out waiting for notification"
            )
        )

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *exc_info: object) -> None:
        self._timer.cancel()
