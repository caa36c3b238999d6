"""Evaluations between training steps: after a checkpoint, and after the last one."""

from __future__ import annotations

from typing import Any

from tensorloom.client.program import program_log
from tensorloom.estimator.training.evaluator import (
    ContinuousEvalListener,
    EvalResult,
    EvalStatus,
    Evaluator,
)
from tensorloom.train.hooks.checkpoint_saver import CheckpointSaverListener
from tensorloom.train.hooks.timers import SecondOrStepTimer


class NewCheckpointListener(CheckpointSaverListener):
    """Evaluates new checkpoints while a model is trained in the same process.

    Args:
      evaluator: evaluates and exports.
      eval_throttle_secs: seconds between two evaluations, at least.
      continuous_eval_listener: is asked before and after each.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        eval_throttle_secs: float,
        continuous_eval_listener: ContinuousEvalListener,
    ) -> None:
        self._evaluator = evaluator
        self._eval_throttle_secs = eval_throttle_secs
        self._continuous_eval_listener = continuous_eval_listener
        self.eval_result: EvalResult | None = None
        self.export_results: list[Any] | None = None

    def begin(self) -> None:
        """Starts the clock."""
        self._timer = SecondOrStepTimer(every_secs=self._eval_throttle_secs)
        self._is_first_run = True

    def after_save(self, session: Any, global_step_value: int) -> bool | None:
        """Evaluates if it is time; True ends the training."""
        if self._is_first_run:
            # The first checkpoint is written before any step.
            self._is_first_run = False
            return None
        if not self._continuous_eval_listener.before_eval():
            program_log.info(
                "Exiting training and evaluation loop, as requested by "
                "_ContinuousEvalListener.before_eval."
            )
            return True
        if not self._timer.should_trigger_for_step(global_step_value):
            program_log.info(
                "Skip the current checkpoint eval due to throttle secs (%s secs).",
                self._eval_throttle_secs,
            )
            return None
        result = self._evaluate(global_step_value)
        if not self._continuous_eval_listener.after_eval(result):
            program_log.info(
                "Exiting evaluation, as requested by "
                "_ContinuousEvalListener.after_eval."
            )
            return True
        return None

    def end(self, session: Any, global_step_value: int) -> None:
        """Evaluates the last checkpoint, if that was not done."""
        listener = self._continuous_eval_listener
        if (
            global_step_value != self._timer.last_triggered_step()
            and listener.before_eval()
        ):
            listener.after_eval(self._evaluate(global_step_value))

    def _evaluate(self, global_step_value: int) -> EvalResult:
        self._timer.update_last_triggered_step(global_step_value)
        result, self.export_results = self._evaluator.evaluate_and_export()
        self.eval_result = result
        if result.status != EvalStatus.EVALUATED:
            raise RuntimeError(
                "There was no new checkpoint after the training. Eval status: "
                f"{result.status}"
            )
        return result
