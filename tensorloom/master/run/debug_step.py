"""A step that a debugger watches.

Its nodes stay those of the program: nothing is optimized, and loops, branches and calls
become classic control flow, so that each node of a body can be watched in each
iteration. Most runs have URLs of their own, so a session keeps one such step.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.debug import publishers
from tensorloom.framework.runtime import concurrency

if TYPE_CHECKING:
    from tensorloom.framework.debug.watches import DebugWatches
    from tensorloom.framework.interfaces import (
        PreparedStep,
        StepContext,
        StepSignature,
    )

# Registers the step; gives it, and what drops it again.
Register = Callable[[], tuple["PreparedStep", Callable[[], None]]]


class DebugSteps:
    """The debugged steps of a session. The one that ran last stays registered."""

    def __init__(self) -> None:
        self._runs = itertools.count()
        self._by_signature: dict[tuple[Any, ...], int] = {}
        self._last: DebugStep | None = None
        self._lock = concurrency.Lock()

    def number(self, signature: StepSignature) -> tuple[int, int]:
        """The number of a run in the session, and of those with this signature."""
        key = signature.feeds, signature.fetches, signature.targets
        with self._lock:
            earlier = self._by_signature.get(key, 0)
            self._by_signature[key] = earlier + 1
            return next(self._runs), earlier

    def step(
        self, signature: StepSignature, watches: DebugWatches, register: Register
    ) -> DebugStep:
        """The step of a signature."""
        with self._lock:
            last = self._last
        if last is not None and last.signature == signature:
            return last
        return DebugStep(signature, watches, register, self)

    def runs_now(self, step: DebugStep) -> None:
        """Has the step before this one dropped once it does not run."""
        with self._lock:
            last, self._last = self._last, step
        if last is not None and last is not step:
            last.retire()


class DebugStep:
    """Implements `PreparedStep`."""

    def __init__(
        self,
        signature: StepSignature,
        watches: DebugWatches,
        register: Register,
        steps: DebugSteps,
    ) -> None:
        self.signature = signature
        self._watches = watches
        self._register = register
        self._steps = steps
        self._prepared: PreparedStep | None = None
        self._drop: Callable[[], None] | None = None
        self._running = 0
        self._is_retired = False
        self._lock = concurrency.RLock()

    def run(self, feeds: Sequence[Any], step: StepContext | None = None) -> list[Any]:
        """Registers the step where it is not, tells the debugger of it, and runs it.

        Raises:
          errors.FailedPreconditionError: a watch is not valid.
          errors.UnavailableError: nobody serves the scheme of a debug URL.
          errors.OpError: as `PreparedStep.run`.
        """
        self._steps.runs_now(self)
        with self._lock:
            self._is_retired = False
            if self._prepared is None:
                self._prepared, self._drop = self._register()
            prepared = self._prepared
            self._running += 1
        try:
            self._publish()
            return prepared.run(feeds, step)
        finally:
            publishers.close(self._watches.urls)
            with self._lock:
                self._running -= 1
                if self._is_retired:
                    self.retire()

    def retire(self) -> None:
        """Drops what is registered, now or when the step does not run any more."""
        with self._lock:
            self._is_retired = True
            if self._running == 0 and self._drop is not None:
                self._drop()
                self._prepared = self._drop = None

    def _publish(self) -> None:
        run, earlier = self._steps.number(self.signature)
        message = json.dumps(
            {
                "global_step": self._watches.global_step,
                "session_run_index": run,
                "executor_step_index": earlier,
                "input_names": self.signature.feeds,
                "output_names": self.signature.fetches,
                "target_nodes": self.signature.targets,
            }
        )
        for url in self._watches.urls:
            publishers.publisher_of(url).metadata(url, message)
