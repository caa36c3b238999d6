"""`tf.train.SummarySaverHook`: summaries while a model trains."""

from __future__ import annotations

from typing import Any

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


@export("train.SummarySaverHook", "estimator.SummarySaverHook")
class SummarySaverHook(SessionRunHook):
    """Writes summaries every so many steps or seconds.

    Args:
      save_steps, save_secs: how often: one of them.
      output_dir: directory of the event file.
      summary_writer: a `tf.summary.FileWriter` in its place.
      scaffold: has the summary op.
      summary_op: a string tensor of a serialized `Summary`, or a list of them.

    Raises:
      ValueError: not exactly one of `scaffold` and `summary_op`, or of the intervals.
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: Any = None,
        summary_writer: Any = None,
        scaffold: Any = None,
        summary_op: Any = None,
    ) -> None:
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._summary_op = summary_op
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self) -> None:
        """Opens the event file and finds the global step.

        Raises:
          RuntimeError: the graph has none.
        """
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = FileWriterCache.get(self._output_dir)
        self._next_step: int | None = None
        # A step reads its number before or after it counts; the first one tells.
        self._read_before_update = 1
        self._global_step_tensor = training_util._global_step_read_for(
            "SummarySaverHook"
        )

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the global step, and for the summaries when it is time."""
        self._request_summary = (
            self._next_step is None
            or self._timer.should_trigger_for_step(self._next_step)
        )
        requests = {"global_step": self._global_step_tensor}
        if self._request_summary:
            summary_op = self._get_summary_op()
            if summary_op is not None:
                requests["summary"] = summary_op
        return SessionRunArgs(requests)

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Writes what was asked for."""
        if not self._summary_writer:
            return
        seen = run_values.results["global_step"]
        step = seen + self._read_before_update
        if self._next_step is None or self._request_summary:
            step = run_context.session.run(self._global_step_tensor)
        if self._next_step is None:
            self._read_before_update = int(step != seen)
        if self._next_step is None:
            from tensorloom.protos.event_pb2 import SessionLog

            self._summary_writer.add_session_log(
                SessionLog(status=SessionLog.START), step
            )
        if self._request_summary:
            self._timer.update_last_triggered_step(step)
            for summary in run_values.results.get("summary", ()):
                self._summary_writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session: Any = None) -> None:
        """Writes out what is buffered."""
        if self._summary_writer:
            self._summary_writer.flush()

    def _get_summary_op(self) -> list[Any] | None:
        summary_op = self._summary_op
        if summary_op is None:
            summary_op = self._scaffold.summary_op
        if summary_op is None or isinstance(summary_op, list):
            return summary_op
        return [summary_op]
