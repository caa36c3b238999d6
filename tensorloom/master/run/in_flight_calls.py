"""The in-flight calls of a master to one task, and the finished steps to report to it.

The next call to a task reports which steps are over. If that call may not have arrived,
its report goes with the next one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.runtime import concurrency

if TYPE_CHECKING:
    from tensorloom.transport.interface import PendingCall


class _NotYet:
    """The placeholder for a call that is about to be made."""

    def cancel(self) -> None:
        """There is nothing to cancel."""


_NOT_YET = _NotYet()


class InFlightCall:
    """A call that runs a part of a step on the task."""

    __slots__ = ("call", "over", "session")

    def __init__(self, session: str, over: list[int]) -> None:
        self.session = session
        self.call: PendingCall = _NOT_YET
        self.over = over  # the steps that the call says are over


class InFlightCalls:
    """The in-flight calls of all sessions on one task. Thread-safe."""

    def __init__(self) -> None:
        self._lock = concurrency.Lock()
        self._running: dict[int, InFlightCall] = {}  # by step id
        # Steps that are over; the next call to the task says so.
        self._over: list[int] = []

    def begin(self, session: str, step_id: int) -> InFlightCall:
        """A call that is to be made, and is to say which steps are over."""
        with self._lock:
            running = self._running[step_id] = InFlightCall(session, self._over)
            self._over = []
        return running

    def end(self, step_id: int, *, is_answered: bool) -> None:
        """Forgets a call; the next one says what this one may not have said."""
        with self._lock:
            running = self._running.pop(step_id, None)
            if running is not None and not is_answered:
                self._over += running.over

    def cancel(self, step_id: int) -> None:
        """Gives up the call of a step, if there is one."""
        with self._lock:
            running = self._running.get(step_id)
        if running is not None:
            running.call.cancel()

    def cancel_session(self, session: str) -> None:
        """Gives up the calls of a session."""
        with self._lock:
            calls = [r.call for r in self._running.values() if r.session == session]
        for call in calls:
            call.cancel()

    def report_with_next_call(self, step_id: int) -> None:
        """Reports with the next call that a step is over."""
        with self._lock:
            self._over.append(step_id)

    def take_unreported(self) -> list[int]:
        """The finished steps that no call has reported; the caller reports them."""
        with self._lock:
            over, self._over = self._over, []
        return over
