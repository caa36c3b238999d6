"""How long a call may take, and what ends it before."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tensorloom.framework import errors
from tensorloom.framework.interfaces import StepContext, StepOptions
from tensorloom.framework.runtime.cancellation import CancellationManager

if TYPE_CHECKING:
    import asyncio


@dataclass(slots=True)
class CallLimits:
    """Of one call."""

    #: `time.monotonic()` at its end; None: there is none.
    deadline: float | None = None
    cancellation: CancellationManager = field(default_factory=CancellationManager)
    #: In whose thread the call runs, which must not wait; None: it has its own thread.
    loop: asyncio.AbstractEventLoop | None = None
    #: The seconds that steps took so far, with their waiting for a batch.
    step_s: float = 0.0

    def step(self) -> StepContext:
        """The context of a step within these limits.

        Raises:
          errors.DeadlineExceededError: the time is over.
          errors.CancelledError: the caller is gone.
        """
        self.cancellation.check()
        return StepContext(
            StepOptions(timeout_s=self.rest_s()), cancellation=self.cancellation
        )

    def rest_s(self) -> float | None:
        """The seconds that are left; None: any number.

        Raises:
          errors.DeadlineExceededError: none are.
        """
        if self.deadline is None:
            return None
        rest = self.deadline - time.monotonic()
        if rest <= 0:
            raise errors.DeadlineExceededError(
                None, None, "The deadline of the request is over"
            )
        return rest

    def cancel(self) -> None:
        """The caller is gone: what runs for it ends."""
        error = errors.CancelledError(None, None, "The caller is gone")
        self.cancellation.cancel(error)
