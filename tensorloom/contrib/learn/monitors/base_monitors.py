"""What monitors are: they ask for tensors before a step and see them after it."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export


@export("contrib.learn.monitors.BaseMonitor")
class BaseMonitor:
    """Sees the begin and end of training, of epochs and of steps."""

    def __init__(self) -> None:
        self._begun = False
        self._current_epoch: int | None = None
        self._current_step: int | None = None
        self._max_steps: int | None = None
        self._estimator: Any = None

    @property
    def run_on_all_workers(self) -> bool:
        """Whether every worker has it, and not the chief alone."""
        return False

    def set_estimator(self, estimator: Any) -> None:
        """Takes the model that is trained.

        Raises:
          ValueError: it is None.
        """
        if estimator is None:
            raise ValueError("Missing estimator.")
        self._estimator = estimator

    def begin(self, max_steps: int | None = None) -> None:
        """Training begins.

        Args:
          max_steps: up to which step; unknown when None.

        Raises:
          ValueError: it began already.
        """
        if self._begun:
            raise ValueError("begin called twice without end.")
        self._max_steps = max_steps
        self._begun = True

    def end(self, session: Any = None) -> None:
        """Training ends.

        Raises:
          ValueError: it did not begin.
        """
        if not self._begun:
            raise ValueError("end called without begin.")
        self._max_steps = None
        self._begun = False

    def epoch_begin(self, epoch: int) -> None:
        """An epoch begins.

        Raises:
          ValueError: another one did not end, or the number is negative.
        """
        if self._current_epoch is not None:
            raise ValueError("epoch_begin called twice without epoch_end.")
        if epoch < 0:
            raise ValueError(f"Invalid epoch {epoch}.")
        self._current_epoch = epoch

    def epoch_end(self, epoch: int) -> None:
        """An epoch ends.

        Raises:
          ValueError: it is not the one that began.
        """
        if self._current_epoch != epoch:
            raise ValueError(
                f"epoch_end expected {self._current_epoch} but got {epoch}."
            )
        self._current_epoch = None

    def step_begin(self, step: int) -> list[Any]:
        """A step begins; gives the tensors that the monitor wants to see after it.

        Raises:
          ValueError: the step is negative or after the last.
        """
        if step < 0 or (self._max_steps is not None and step > self._max_steps):
            raise ValueError(f"Invalid step {step}.")
        self._current_step = step
        return []

    def step_end(self, step: int, output: dict[Any, Any]) -> Any:
        """A step ends; gives whether training is to stop.

        Args:
          step: its number.
          output: the values of what was asked for, by tensors or names.

        Raises:
          ValueError: it is not the step that began.
        """
        if self._current_step != step:
            raise ValueError(f"step_end expected {self._current_step} but got {step}.")
        self._current_step = None
        return False

    def post_step(self, step: int, session: Any) -> None:
        """A step has ended for all monitors; the session can be used."""


def extract_output(outputs: dict[Any, Any], request: Any) -> Any:
    """The value of what was asked for by a tensor or its name."""
    if request in outputs:
        return outputs[request]
    return outputs[request.name]


@export("contrib.learn.monitors.EveryN")
class EveryN(BaseMonitor):
    """Sees the first steps, then every n-th one, and the last.

    Args:
      every_n_steps: how many steps apart.
      first_n_steps: up to which step it sees each.
    """

    def __init__(self, every_n_steps: int = 100, first_n_steps: int = 1) -> None:
        super().__init__()
        self._every_n_steps = every_n_steps
        self._first_n_steps = first_n_steps
        self._last_successful_step: int | None = None
        self._last_active_step = 0
        self._every_n_step_begin_called = False

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Such a step begins; gives the tensors to see after it."""
        return []

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> Any:
        """Such a step ends; gives whether training is to stop."""
        return False

    def every_n_post_step(self, step: int | None, session: Any) -> None:
        """Such a step has ended for all monitors; also called at the end."""

    def step_begin(self, step: int) -> list[Any]:
        """A step begins."""
        super().step_begin(step)
        self._every_n_step_begin_called = (
            step <= self._first_n_steps
            or step >= self._every_n_steps + self._last_active_step
            or step == self._max_steps
        )
        return self.every_n_step_begin(step) if self._every_n_step_begin_called else []

    def step_end(self, step: int, output: dict[Any, Any]) -> Any:
        """A step ends."""
        super().step_end(step, output)
        if self._every_n_step_begin_called:
            return self.every_n_step_end(step, output)
        return False

    def post_step(self, step: int, session: Any) -> None:
        """A step has ended for all monitors."""
        super().post_step(step, session)
        if self._every_n_step_begin_called:
            self.every_n_post_step(step, session)
            self._last_active_step = step
        self._last_successful_step = step

    def end(self, session: Any = None) -> None:
        """Training ends: the last step is seen if it was not."""
        super().end(session=session)
        if self._last_successful_step != self._last_active_step:
            self.every_n_post_step(self._last_successful_step, session)


@export("contrib.learn.monitors.StopAtStep")
class StopAtStep(BaseMonitor):
    """Stops training.

    Args:
      num_steps: after so many steps more.
      last_step: or after this step.

    Raises:
      ValueError: not exactly one of the two is given.
    """

    def __init__(
        self, num_steps: int | None = None, last_step: int | None = None
    ) -> None:
        super().__init__()
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps = num_steps
        self._last_step = last_step

    @property
    def run_on_all_workers(self) -> bool:
        """Every worker stops."""
        return True

    def step_begin(self, step: int) -> list[Any]:
        """A step begins."""
        super().step_begin(step)
        if self._last_step is None:
            assert self._num_steps is not None
            self._last_step = step + self._num_steps - 1
        return []

    def step_end(self, step: int, output: dict[Any, Any]) -> Any:
        """A step ends; gives whether it was the last."""
        super().step_end(step, output)
        assert self._last_step is not None
        return step >= self._last_step
