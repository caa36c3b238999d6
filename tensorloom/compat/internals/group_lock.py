"""`GroupLock`: threads of one group at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class GroupLock:
    """A lock that any number of threads of one group hold together.

    Args:
      num_groups: how many groups there are.

    Raises:
      ValueError: there are fewer than one.
    """

    def __init__(self, num_groups: int = 2) -> None:
        if num_groups < 1:
            raise ValueError(
                f"num_groups must be a positive integer, got num_groups: {num_groups!r}"
            )
        self._changed = threading.Condition()
        self._group_member_counts = [0] * num_groups

    @contextmanager
    def group(self, group_id: int) -> Iterator[None]:
        """Holds the lock for a group."""
        self.acquire(group_id)
        try:
            yield
        finally:
            self.release(group_id)

    def acquire(self, group_id: int) -> None:
        """Waits until no other group holds the lock, and takes it."""
        self._check(group_id)
        with self._changed:
            self._changed.wait_for(lambda: not self._others_hold(group_id))
            self._group_member_counts[group_id] += 1

    def release(self, group_id: int) -> None:
        """Gives it back."""
        self._check(group_id)
        with self._changed:
            self._group_member_counts[group_id] -= 1
            if self._group_member_counts[group_id] == 0:
                self._changed.notify_all()

    def _others_hold(self, group_id: int) -> bool:
        return any(
            count
            for group, count in enumerate(self._group_member_counts)
            if group != group_id
        )

    def _check(self, group_id: int) -> None:
        count = len(self._group_member_counts)
        if not 0 <= group_id < count:
            raise ValueError(f"group_id must be in [0, {count}), got {group_id!r}")
