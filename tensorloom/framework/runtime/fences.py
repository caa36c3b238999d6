"""Fencing tokens of sessions: a chief that slept changes no variables when it wakes up.

A session of the process that holds a lock says the lock's token. A task refuses the
steps of sessions with an older token than the newest that it has seen. Sessions without
one, as workers' and TensorFlow's, are not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

from tensorloom.framework import errors
from tensorloom.framework.runtime import concurrency


@dataclass(frozen=True, slots=True)
class Fence:
    """What a session says of the lock that its process holds."""

    scope: str  # the lock and its service: tokens of others do not compare
    token: int
    owner: str  # the same as long as nobody else had the lock in between
    holder: str  # for people

    def supersedes(self, other: Fence | None) -> bool:
        """Whether another holder's token of the same lock is older."""
        return (
            other is not None
            and other.scope == self.scope
            and other.owner != self.owner
            and other.token < self.token
        )

    def refused(self, newest: Fence) -> errors.AbortedError:
        """The error of a session with this fence."""
        return errors.AbortedError(
            None,
            None,
            f"This session is of {self.holder} (token {self.token}), but "
            f"{newest.holder} (token {newest.token}) has taken over since: its steps "
            "change nothing any more",
        )


class Fences:
    """The newest fence of each lock that a task has seen."""

    def __init__(self) -> None:
        self._newest: dict[str, Fence] = {}
        self._lock = concurrency.Lock()

    def admit(self, fence: Fence) -> None:
        """Takes note of a session's fence.

        Raises:
          errors.AbortedError: another holder's is newer.
        """
        with self._lock:
            self.check(fence)
            newest = self._newest.get(fence.scope)
            if newest is None or newest.token <= fence.token:
                self._newest[fence.scope] = fence

    def check(self, fence: Fence) -> None:
        """Raises errors.AbortedError if another holder's fence is newer."""
        newest = self._newest.get(fence.scope)
        if newest is not None and newest.supersedes(fence):
            raise fence.refused(newest)
