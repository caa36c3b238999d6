"""A step that is measured when it has run once, and then placed by what it took."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.interfaces import StepContext, StepOptions
from tensorloom.framework.runtime import concurrency
from tensorloom.framework.runtime.garbage import collection_paused

if TYPE_CHECKING:
    from tensorloom.framework.interfaces import PreparedStep
    from tensorloom.master.place.cost_model import CostModel

#: So many runs are measured: of each node the quickest counts.
MEASURED_RUNS: Final = 3


class MeasuredStep:
    """Implements `PreparedStep` where a placer takes costs.

    The first runs load kernels and are not measured; then `MEASURED_RUNS` are traced;
    then the step is prepared once more, and that is how it runs from then on.
    """

    def __init__(
        self,
        prepare: Callable[[], PreparedStep],
        costs: CostModel,
        runs_before: int,
    ) -> None:
        """Prepares the step without costs.

        Args:
          prepare: prepares it by the costs as they are then.
          costs: of the step.
          runs_before: how many runs come before those that are measured, one at least.
        """
        self._prepare = prepare
        self._costs = costs
        self._lock = concurrency.Lock()
        self._runs = -max(1, runs_before)  # those that were begun, from the measured on
        self._step = prepare()
        self._is_placed = False

    def run(self, feeds: Sequence[Any], step: StepContext | None = None) -> list[Any]:
        """Runs the step; see `PreparedStep.run`."""
        if self._is_placed:
            return self._step.run(feeds, step)
        with self._lock:
            run = self._runs
            self._runs += 1
            if run >= MEASURED_RUNS and not self._is_placed:
                if self._costs.is_measured:
                    with collection_paused():
                        self._step = self._prepare()
                self._is_placed = True
        if not 0 <= run < MEASURED_RUNS:
            return self._step.run(feeds, step)
        traced = _traced(step)
        results = self._step.run(feeds, traced)
        with self._lock:
            self._costs.observe(traced.metadata.node_stats)
        return results


def _traced(step: StepContext | None) -> StepContext:
    """The context with a trace of its own; what else is recorded is the step's."""
    if step is None:
        return StepContext(StepOptions(trace=True))
    return replace(step, options=replace(step.options, trace=True))
