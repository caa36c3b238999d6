"""Workers that wait for the chief's last checkpoint before they stop."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from tensorloom.estimator.checkpoints import global_step_of_directory
from tensorloom.framework.export import export
from tensorloom.train import training_util
from tensorloom.train.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tensorloom.train.hooks.stopping import StopAtStepHook

if TYPE_CHECKING:
    from tensorloom.estimator.estimator import Estimator


class StopAtCheckpointStepHook(SessionRunHook):
    """Stops when there is a checkpoint of the last step, not at that step itself."""

    def __init__(
        self,
        model_dir: Any,
        last_step: int,
        wait_after_file_check_secs: float = 30,
    ) -> None:
        if last_step is None:
            raise ValueError("last_step must be specified.")
        if model_dir is None:
            raise ValueError("model_dir must be specified.")
        self._model_dir = model_dir
        self._last_step = last_step
        self._wait_secs = wait_after_file_check_secs
        self._global_step_tensor: Any = None

    def begin(self) -> None:
        """Finds the global step.

        Raises:
          RuntimeError: the graph has none.
        """
        self._global_step_tensor = training_util._get_or_create_global_step_read()
        if self._global_step_tensor is None:
            raise RuntimeError(
                "Global step should be created to use StopAtCheckpointStepHook."
            )

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the step."""
        return SessionRunArgs(self._global_step_tensor)

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """After the last step: stops, or waits before the next look."""
        if run_values.results + 1 < self._last_step:
            return
        if global_step_of_directory(self._model_dir) >= self._last_step:
            run_context.request_stop()
        else:
            time.sleep(self._wait_secs)


@export("estimator.experimental.make_stop_at_checkpoint_step_hook")
def make_stop_at_checkpoint_step_hook(
    estimator: Estimator, last_step: int, wait_after_file_check_secs: float = 30
) -> SessionRunHook:
    """Makes a hook that ends the training with the checkpoint of a step.

    Args:
      estimator: the model that is trained.
      last_step: the step.
      wait_after_file_check_secs: seconds between two looks of a worker.
    """
    if estimator.config.is_chief:
        return StopAtStepHook(last_step=last_step)
    return StopAtCheckpointStepHook(
        estimator.model_dir, last_step, wait_after_file_check_secs
    )
