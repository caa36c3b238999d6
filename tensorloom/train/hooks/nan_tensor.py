"""`tf.train.NanTensorHook`: the end of a training that diverged."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.client.program import program_log
from tensorloom.framework.export import export
from tensorloom.train.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)


@export("train.NanLossDuringTrainingError", "estimator.NanLossDuringTrainingError")
class NanLossDuringTrainingError(RuntimeError):
    """The loss is NaN."""

    def __str__(self) -> str:
        return "NaN loss during training."


@export("train.NanTensorHook", "estimator.NanTensorHook")
class NanTensorHook(SessionRunHook):
    """Fails, or stops, when a loss is NaN.

    Args:
      loss_tensor: a scalar.
      fail_on_nan_loss: raise `NanLossDuringTrainingError`; otherwise stop.
    """

    def __init__(self, loss_tensor: Any, fail_on_nan_loss: bool = True) -> None:
        self._loss_tensor = loss_tensor
        self._fail_on_nan_loss = fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the loss."""
        return SessionRunArgs(self._loss_tensor)

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Looks at it.

        Raises:
          NanLossDuringTrainingError: it is NaN.
        """
        if not np.isnan(run_values.results):
            return
        message = "Model diverged with loss = NaN."
        if self._fail_on_nan_loss:
            program_log.error(message)
            raise NanLossDuringTrainingError
        program_log.warning(message)
        # No exception: OutOfRangeError and StopIteration would mean the end of data.
        run_context.request_stop()
