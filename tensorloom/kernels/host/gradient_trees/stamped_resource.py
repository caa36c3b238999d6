"""What the resources of gradient boosted trees share: a stamp that tells their age."""

from __future__ import annotations

import threading

from tensorloom.framework import errors
from tensorloom.framework.runtime.resource import Resource


class StampedResource(Resource):
    """A resource with a stamp and a lock. What comes late has an older stamp."""

    kind = "StampedResource"

    def __init__(self, container: str, name: str) -> None:
        super().__init__(container, name)
        self.lock = threading.RLock()
        self.stamp = -1
        self.is_created = False

    def check_created(self) -> None:
        """Raises errors.NotFoundError if it was not created yet."""
        if not self.is_created:
            raise errors.NotFoundError(
                None,
                None,
                f"Resource {self.container}/{self.name}/{self.kind} does not exist.",
            )

    def check_stamp(self, stamp: int) -> None:
        """Raises errors.FailedPreconditionError if the stamp is not the newest."""
        self.check_created()
        if stamp != self.stamp:
            raise errors.FailedPreconditionError(
                None,
                None,
                f"{self.kind} {self.name} has the stamp {self.stamp}, got {stamp}: "
                "another step has changed it.",
            )

    def move_on(self, stamp: int, next_stamp: int) -> None:
        """Takes the next stamp.

        Raises:
          errors.FailedPreconditionError: the stamp is not the newest, or the next one
            is not another.
        """
        self.check_stamp(stamp)
        if stamp == next_stamp:
            raise errors.FailedPreconditionError(
                None, None, f"The stamp after {stamp} must be another."
            )
        self.stamp = next_stamp
