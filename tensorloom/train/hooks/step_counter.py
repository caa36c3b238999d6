"""`tf.train.StepCounterHook`: steps per second in the log and in event files."""

from __future__ import annotations

from typing import Any

from tensorloom.client.program import program_log
from tensorloom.framework.export import export
from tensorloom.summary.writer_cache import FileWriterCache
from tensorloom.train import training_util
from tensorloom.train.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tensorloom.train.hooks.timers import SecondOrStepTimer


@export("train.StepCounterHook", "estimator.StepCounterHook")
class StepCounterHook(SessionRunHook):
    """Counts global steps per second.

    Args:
      every_n_steps, every_n_secs: how often: one of them.
      output_dir: directory of the event file.
      summary_writer: a `tf.summary.FileWriter` in its place.

    Raises:
      ValueError: not exactly one of the intervals.
    """

    def __init__(
        self,
        every_n_steps: int | None = 100,
        every_n_secs: float | None = None,
        output_dir: Any = None,
        summary_writer: Any = None,
    ) -> None:
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError(
                "exactly one of every_n_steps and every_n_secs should be provided."
            )
        self._timer = SecondOrStepTimer(
            every_steps=every_n_steps, every_secs=every_n_secs
        )
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._last_global_step: int | None = None
        self._steps_per_run = 1

    def _set_steps_per_run(self, steps_per_run: int) -> None:
        self._steps_per_run = steps_per_run

    def begin(self) -> None:
        """Opens the event file and finds the global step.

        Raises:
          RuntimeError: the graph has none.
        """
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = FileWriterCache.get(self._output_dir)
        self._global_step_tensor = training_util._global_step_read_for(
            "StepCounterHook"
        )
        self._args = SessionRunArgs(self._global_step_tensor)
        self._summary_tag = training_util.get_global_step().op.name + "/sec"

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the global step."""
        return self._args

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Reports when it is time."""
        seen = run_values.results
        timer = self._timer
        # What the step read may be from before or after its own update.
        if timer.should_trigger_for_step(seen + self._steps_per_run):
            step = run_context.session.run(self._global_step_tensor)
            if timer.should_trigger_for_step(step):
                seconds, steps = timer.update_last_triggered_step(step)
                if seconds is not None:
                    self._log_and_record(steps, seconds, step)
        if seen == self._last_global_step:
            program_log.log_first_n(
                program_log.WARN,
                "It seems that global step (tf.train.get_global_step) has not been "
                "increased. Current value (could be stable): %s vs previous value: "
                "%s. You could increase the global step by passing "
                "tf.train.get_global_step() to Optimizer.apply_gradients or "
                "Optimizer.minimize.",
                5,
                seen,
                self._last_global_step,
            )
        self._last_global_step = seen

    def _log_and_record(
        self, elapsed_steps: Any, elapsed_time: float, global_step: int
    ) -> None:
        # A clock that was set back, or two reports within its resolution.
        steps_per_sec = elapsed_steps / elapsed_time if elapsed_time else float("inf")
        if self._summary_writer is not None:
            from tensorloom.protos.summary_pb2 import Summary

            value = Summary.Value(tag=self._summary_tag, simple_value=steps_per_sec)
            self._summary_writer.add_summary(Summary(value=[value]), global_step)
        program_log.info("%s: %g", self._summary_tag, steps_per_sec)
