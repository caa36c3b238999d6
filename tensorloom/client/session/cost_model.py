"""Which steps of a session tell what their nodes cost.

`GraphOptions.build_cost_model`: of the steps with the same fetches and feeds every so
many does, after some that do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tensorloom.client.session.run_plan import RunFunction
    from tensorloom.framework.interfaces import StepContext
    from tensorloom.framework.runtime.session_config import SessionConfig


class CountedRun:
    """A run that counts its steps."""

    def __init__(self, run: RunFunction, config: SessionConfig) -> None:
        self._run = run
        self._every = config.build_cost_model
        self._count = -config.build_cost_model_after

    @property
    def is_due(self) -> bool:
        """Whether the next step tells its costs."""
        return self._count >= 0 and (self._count + 1) % self._every == 0

    def __call__(self, feed_dict: Mapping[Any, Any], step: StepContext | None) -> Any:
        """Runs a step."""
        self._count += 1
        return self._run(feed_dict, step)


def counted(run: RunFunction, config: SessionConfig) -> RunFunction:
    """The run itself, where a session builds no cost model."""
    return CountedRun(run, config) if config.build_cost_model > 0 else run


def tells_costs(run: RunFunction) -> bool:
    """Whether the next step of a run does."""
    return isinstance(run, CountedRun) and run.is_due
