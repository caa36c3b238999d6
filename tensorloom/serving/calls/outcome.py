"""`Outcome`: what other threads compute for a call that waits in an event loop."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

    from tensorloom.framework.runtime.cancellation import CancellationManager


class Outcome:
    """The values of one step, or its error. Whoever sets one of them tells it."""

    __slots__ = ("_future", "_loop", "error", "values")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Makes it in the thread of its loop."""
        self._loop = loop
        self._future: asyncio.Future[None] = loop.create_future()
        self.values: list[Any] | None = None
        self.error: BaseException | None = None

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """Where it is waited for."""
        return self._loop

    async def wait(self, cancellation: CancellationManager) -> list[Any]:
        """The values, once they are there.

        Raises:
          errors.CancelledError, errors.DeadlineExceededError: nobody waits any more.
          BaseException: the error.
        """
        token = cancellation.register(lambda: tell([self]))
        if token is None:
            raise cancellation.error()
        try:
            await self._future
        finally:
            cancellation.deregister(token)
        if self.error is not None:
            raise self.error
        if self.values is None:
            raise cancellation.error()
        return self.values

    def _settle(self) -> None:
        if not self._future.done():
            self._future.set_result(None)


def tell(outcomes: Iterable[Outcome]) -> None:
    """Ends the waiting for outcomes; from any thread.

    A loop is woken once for all of them: each waking stops the thread that does it.
    """
    by_loop: dict[asyncio.AbstractEventLoop, list[Outcome]] = {}
    for outcome in outcomes:
        by_loop.setdefault(outcome.loop, []).append(outcome)
    for loop, those in by_loop.items():
        # A loop that has ended has nobody who waits.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(_settle_all, those)


def _settle_all(outcomes: Sequence[Outcome]) -> None:
    for outcome in outcomes:
        outcome._settle()
