"""One step of a call, timed."""

from __future__ import annotations

import time
from collections.abc import Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from tensorloom.framework.runtime import threads
from tensorloom.serving.calls.outcome import Outcome, tell

if TYPE_CHECKING:
    from tensorloom.framework.interfaces import StepContext
    from tensorloom.serving.calls.limits import CallLimits
    from tensorloom.serving.manager.servable import Servable

_Result = TypeVar("_Result")


def run_step(
    servable: Servable,
    feeds: Mapping[str, Any],
    fetches: Sequence[str],
    limits: CallLimits,
) -> list[Any]:
    """The fetched values of a servable, in a batch with others' where it has one."""
    return finish(wait_step(servable, feeds, fetches, limits))


async def wait_step(
    servable: Servable,
    feeds: Mapping[str, Any],
    fetches: Sequence[str],
    limits: CallLimits,
) -> list[Any]:
    """As `run_step`; a call of an event loop waits without its thread."""
    started = time.perf_counter()
    try:
        step, start = limits.step(), servable.starter
        if limits.loop is None and not limits.shares_thread:
            return servable.runner(feeds, fetches, step)
        if start is None and servable.is_quick(feeds, fetches):
            # It is over before anybody could end it: watching it costs half as much.
            return servable.run(feeds, fetches)
        if limits.loop is None:
            await limits.leave_thread()
            return servable.runner(feeds, fetches, step)
        outcome = Outcome(limits.loop)
        if start is None or not start(feeds, fetches, step, outcome):
            _start_in_thread(servable, feeds, fetches, step, outcome)
        return await outcome.wait(limits.cancellation)
    finally:
        limits.step_s += time.perf_counter() - started


def _start_in_thread(
    servable: Servable,
    feeds: Mapping[str, Any],
    fetches: Sequence[str],
    step: StepContext,
    outcome: Outcome,
) -> None:
    def run() -> None:
        try:
            outcome.values = servable.runner(feeds, fetches, step)
        except BaseException as error:
            outcome.error = error
        tell([outcome])

    threads.start(run)


def finish(call: Coroutine[Any, Any, _Result]) -> _Result:
    """The result of a call of no event loop: it waits in this thread alone.

    Raises:
      BaseException: what the call raises.
    """
    try:
        call.send(None)
    except StopIteration as end:
        result: _Result = end.value
        return result
    call.close()
    raise RuntimeError("a call without an event loop waits for one")
