"""Timers: at which steps a hook does its work."""

from __future__ import annotations

import time

from tensorloom.framework.export import export


class _HookTimer:
    """What a hook asks whether it is time."""

    def reset(self) -> None:
        """Starts anew: the next step triggers."""

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether the hook should do its work at this step."""
        raise NotImplementedError

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Notes that it did; returns the seconds and steps since the time before."""
        raise NotImplementedError

    def last_triggered_step(self) -> int | None:
        """The last step at which it did."""
        raise NotImplementedError


@export("train.SecondOrStepTimer", "estimator.SecondOrStepTimer")
class SecondOrStepTimer(_HookTimer):
    """Triggers after so many seconds or so many steps, and at first.

    Args:
      every_secs: seconds between two triggers.
      every_steps: steps between two triggers.

    Raises:
      ValueError: both are given, or none.
    """

    def __init__(
        self, every_secs: float | None = None, every_steps: int | None = None
    ) -> None:
        self.reset()
        self._every_secs = every_secs
        self._every_steps = every_steps
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")

    def reset(self) -> None:
        """Starts anew: the next step triggers."""
        self._last_triggered_step: int | None = None
        self._last_triggered_time: float | None = None

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether it is time. The first step triggers, and no step does twice."""
        last_step, last_time = self._last_triggered_step, self._last_triggered_time
        if last_step is None or last_time is None:
            return True
        if last_step == step:
            return False
        if self._every_steps is not None:
            return step >= last_step + self._every_steps
        assert self._every_secs is not None
        return time.time() >= last_time + self._every_secs

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Notes a trigger.

        Returns:
          Seconds and steps since the trigger before; (None, None) for the first.
        """
        now = time.time()
        elapsed: tuple[float | None, int | None] = (None, None)
        if self._last_triggered_time is not None:
            assert self._last_triggered_step is not None
            elapsed = (
                now - self._last_triggered_time,
                step - self._last_triggered_step,
            )
        self._last_triggered_time = now
        self._last_triggered_step = step
        return elapsed

    def last_triggered_step(self) -> int | None:
        """The last step that triggered, or None."""
        return self._last_triggered_step


class NeverTriggerTimer(_HookTimer):
    """Never triggers."""

    def should_trigger_for_step(self, step: int) -> bool:
        """False."""
        return False

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Nothing to note."""
        return (None, None)

    def last_triggered_step(self) -> int | None:
        """None."""
        return None
