"""How long a call may take, and what ends it before."""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tensorloom.framework import errors
from tensorloom.framework.interfaces import StepContext, StepOptions
from tensorloom.framework.runtime.cancellation import CancellationManager

if TYPE_CHECKING:
    import asyncio


#: Requests up to this size are decoded by a thread that other calls wait for.
LITTLE_BYTES: Final = 1 << 16


@dataclass(slots=True)
class CallLimits:
    """Of one call."""

    #: `time.monotonic()` at its end; None: there is none.
    deadline: float | None = None
    cancellation: CancellationManager = field(default_factory=CancellationManager)
    #: In whose thread the call runs, which must not wait; None: it has its own thread.
    loop: asyncio.AbstractEventLoop | None = None
    #: Whether other calls wait for its thread, and whoever runs it can take it to
    #: another one: see `leave_thread`.
    shares_thread: bool = False
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

    async def leave_thread(self) -> None:
        """Goes on in a thread of its own, where other calls share this one.

        To be awaited before what can take long.
        """
        if self.shares_thread:
            self.shares_thread = False
            await _Leave()

    def cancel(self) -> None:
        """The caller is gone: what runs for it ends."""
        error = errors.CancelledError(None, None, "The caller is gone")
        self.cancellation.cancel(error)


class _Leave:
    """Gives the call back to who runs it."""

    def __await__(self) -> Generator[None, None, None]:
        yield
