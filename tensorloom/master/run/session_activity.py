"""What a server's sessions do: how many steps, which run now, what went wrong."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.framework.runtime import concurrency

if TYPE_CHECKING:
    from tensorloom.framework.interfaces import PreparedStep, StepContext

_KEPT_ERRORS: Final = 20
_LONGEST_MESSAGE: Final = 2000


class SessionActivity:
    """Counts the steps of a session. Thread-safe."""

    def __init__(self, handle: str, failures: deque[dict[str, Any]]) -> None:
        self._handle = handle
        self._failures = failures
        self._lock = concurrency.Lock()
        self._ended = self._failed = 0
        self._running: dict[object, tuple[str, float]] = {}

    def begin(self, name: str) -> object:
        """A step begins; returns what `end` takes."""
        key = object()
        self._running[key] = name, concurrency.monotonic()
        return key

    def end(self, key: object) -> None:
        """A step has ended."""
        with self._lock:
            del self._running[key]
            self._ended += 1

    def failed(self, name: str, error: errors.OpError) -> None:
        """Notes an error."""
        with self._lock:
            self._failed += 1
        self._failures.append(
            {
                "time": concurrency.time(),
                "session": self._handle,
                "step": name,
                "error": type(error).__name__,
                "message": error.message[:_LONGEST_MESSAGE],
            }
        )

    def facts(self) -> dict[str, Any]:
        """What it has counted, and the steps that run, with their ages in seconds."""
        now = concurrency.monotonic()
        with self._lock:
            return {
                "steps": self._ended,
                "failed": self._failed,
                "running": [
                    {"step": name, "for_s": now - since}
                    for name, since in list(self._running.values())
                ],
            }


class SessionActivities:
    """The activities of all sessions of a master."""

    def __init__(self) -> None:
        self._by_session: dict[str, SessionActivity] = {}
        self._failures: deque[dict[str, Any]] = deque(maxlen=_KEPT_ERRORS)

    def of(self, session: str) -> SessionActivity:
        """Of a session, which may be new."""
        found = self._by_session.get(session)
        if found is None:
            made = SessionActivity(session, self._failures)
            found = self._by_session.setdefault(session, made)
        return found

    def close(self, session: str) -> None:
        """Forgets a session, but for its errors."""
        self._by_session.pop(session, None)

    @property
    def failures(self) -> list[dict[str, Any]]:
        """The last errors, the newest first."""
        return list(reversed(self._failures))


class CountedStep:
    """A step that tells the activity of its session. Implements `PreparedStep`."""

    def __init__(
        self, step: PreparedStep, name: str, activity: SessionActivity
    ) -> None:
        self._run: Callable[..., list[Any]] = step.run
        self._name = name
        self._activity = activity

    def run(self, feeds: Sequence[Any], step: StepContext | None = None) -> list[Any]:
        """Runs the step; see `PreparedStep.run`."""
        key = self._activity.begin(self._name)
        try:
            return self._run(feeds, step)
        except errors.OpError as error:
            self._activity.failed(self._name, error)
            raise
        finally:
            self._activity.end(key)
