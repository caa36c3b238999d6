"""Cancelling a step: its deadline, its first error, and who must be woken."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Final

from tensorloom.framework import errors
from tensorloom.framework.runtime import concurrency

#: Why the steps of a session at a server were cancelled that is over.
SESSION_CLOSED: Final = "Step was cancelled by an explicit call to `Session::Close()`."
SESSION_COLLECTED: Final = (
    "Step was cancelled because the session was garbage collected due to inactivity."
)


class CancellationManager:
    """The cancelled state of one step, with callbacks for those that wait.

    The first cause wins: an error in one piece cancels the others, whose own errors
    then only follow from it.
    """

    def __init__(self) -> None:
        self.cancelled = False
        self.cause: BaseException | None = None
        self._lock = concurrency.Lock()
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


class Following:
    """Cancels `inner` when `outer` is cancelled, within the block."""

    __slots__ = ("_inner", "_outer", "_token")

    def __init__(
        self, outer: CancellationManager | None, inner: CancellationManager
    ) -> None:
        self._outer = outer
        self._inner = inner
        self._token: int | None = None

    def __enter__(self) -> None:
        if self._outer is not None:
            self._token = self._outer.register(self._follow)
            if self._token is None:
                self._follow()

    def __exit__(self, *exc_info: object) -> None:
        if self._token is not None and self._outer is not None:
            self._outer.deregister(self._token)

    def _follow(self) -> None:
        assert self._outer is not None
        self._inner.cancel(self._outer.cause or self._outer.error())


class Deadline:
    """Cancels a step when its time is over."""

    def __init__(self, manager: CancellationManager, timeout_s: float) -> None:
        self._manager = manager
        self._timeout_s = timeout_s

    def expire(self) -> None:
        """Cancels the step."""
        self._manager.cancel(
            errors.DeadlineExceededError(
                None, None, "Timed out waiting for notification"
            )
        )

    def __enter__(self) -> None:
        _clock.add(self, concurrency.monotonic() + self._timeout_s)

    def __exit__(self, *exc_info: object) -> None:
        _clock.discard(self)


class _Clock:
    """One thread for all deadlines: starting one for each would cost a step's time."""

    IDLE_S = 10.0  # then the thread ends

    def __init__(self) -> None:
        self._changed = concurrency.Condition()
        self._due: dict[Deadline, float] = {}
        self._next = math.inf  # when the thread wakes; inf without a thread

    def add(self, deadline: Deadline, due: float) -> None:
        """Expires `deadline` at `due` of the monotonic clock."""
        with self._changed:
            self._due[deadline] = due
            if self._next == math.inf:
                self._next = due
                concurrency.Thread(target=self._serve, daemon=True).start()
            elif due < self._next:
                self._changed.notify()

    def discard(self, deadline: Deadline) -> None:
        """Forgets a deadline."""
        with self._changed:
            self._due.pop(deadline, None)

    def _serve(self) -> None:
        while True:
            with self._changed:
                now = concurrency.monotonic()
                expired = [d for d, due in self._due.items() if due <= now]
                for deadline in expired:
                    del self._due[deadline]
                if not expired:
                    idle = not self._due
                    self._next = min(self._due.values(), default=now + self.IDLE_S)
                    self._changed.wait(min(self._next - now, threading.TIMEOUT_MAX))
                    if idle and not self._due and concurrency.monotonic() >= self._next:
                        self._next = math.inf
                        return
            for deadline in expired:
                deadline.expire()


_clock = _Clock()
