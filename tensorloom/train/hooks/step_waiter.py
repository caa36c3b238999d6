"""`tf.train.GlobalStepWaiterHook`: workers that begin later."""

from __future__ import annotations

import time

from tensorloom.client.program import program_log
from tensorloom.framework.export import export
from tensorloom.train import training_util
from tensorloom.train.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
)

_POLL_SECS = 0.5


@export("train.GlobalStepWaiterHook", "estimator.GlobalStepWaiterHook")
class GlobalStepWaiterHook(SessionRunHook):
    """Delays the first step until the global step is reached.

    With few workers at first, asynchronous training begins more calmly.

    Args:
      wait_until_step: the global step.
    """

    def __init__(self, wait_until_step: int) -> None:
        self._wait_until_step = wait_until_step

    def begin(self) -> None:
        """Finds the global step.

        Raises:
          RuntimeError: the graph has none.
        """
        self._worker_is_started = False
        self._global_step_tensor = training_util._global_step_read_for(
            "_GlobalStepWaiterHook"
        )

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Waits, once."""
        if self._worker_is_started:
            return None
        if self._wait_until_step > 0:
            self._wait(run_context.session)
        self._worker_is_started = True
        return None

    def _wait(self, session: object) -> None:
        program_log.info(
            "Waiting for global step %d before starting training.",
            self._wait_until_step,
        )
        last_logged_step = 0
        while True:
            step = training_util.global_step(session, self._global_step_tensor)
            if step >= self._wait_until_step:
                return
            if step - last_logged_step > 1000:
                program_log.info(
                    "Waiting for global step %d before starting training. Current "
                    "step is %d.",
                    self._wait_until_step,
                    step,
                )
                last_logged_step = step
            time.sleep(_POLL_SECS)
