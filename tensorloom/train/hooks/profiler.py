"""`tf.train.ProfilerHook`: timelines of some steps."""

from __future__ import annotations

from typing import Any

from tensorloom.client.program import program_log
from tensorloom.client.session.timeline import Timeline
from tensorloom.framework.export import export
from tensorloom.storage.files import filesystem
from tensorloom.summary.writer_cache import FileWriterCache
from tensorloom.train import training_util
from tensorloom.train.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tensorloom.train.hooks.timers import SecondOrStepTimer


@export("train.ProfilerHook", "estimator.ProfilerHook")
class ProfilerHook(SessionRunHook):
    """Traces a step every so many steps or seconds.

    Each trace is a file `timeline-STEP.json`, to be opened at chrome://tracing, and
    the run metadata of `step_STEP` in the event file.

    Args:
      save_steps, save_secs: how often: one of them.
      output_dir: where the files go.
      show_dataflow: arrows from producers to consumers.
      show_memory: tensors and the memory that they take.

    Raises:
      ValueError: not exactly one of the intervals.
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: Any = "",
        show_dataflow: bool = True,
        show_memory: bool = False,
    ) -> None:
        self._output_dir = filesystem.path_text(output_dir)
        self._file_writer = FileWriterCache.get(self._output_dir)
        self._show_dataflow = show_dataflow
        self._show_memory = show_memory
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self) -> None:
        """Finds the global step.

        Raises:
          RuntimeError: the graph has none.
        """
        self._next_step: int | None = None
        # A step reads its number before or after it counts; the first one tells.
        self._read_before_update = 1
        self._global_step_tensor = training_util._global_step_read_for("ProfilerHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the global step, and for a trace when it is time."""
        # Not of the first step, which compiles.
        self._request_summary = (
            self._next_step is not None
            and self._timer.should_trigger_for_step(self._next_step)
        )
        options = None
        if self._request_summary:
            from tensorloom.protos.config_pb2 import RunOptions

            options = RunOptions(trace_level=RunOptions.FULL_TRACE)
        return SessionRunArgs(
            {"global_step": self._global_step_tensor}, options=options
        )

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Writes the trace."""
        seen = run_values.results["global_step"]
        step = seen + self._read_before_update
        if self._next_step is None or self._request_summary:
            step = run_context.session.run(self._global_step_tensor)
        if self._next_step is None:
            self._read_before_update = int(step != seen)
            # The first trace is one interval away from where the training began.
            began = seen if self._read_before_update else seen - 1
            self._timer.update_last_triggered_step(began)
        if self._request_summary:
            self._timer.update_last_triggered_step(step)
            self._save(step, run_values.run_metadata.step_stats)
            self._file_writer.add_run_metadata(run_values.run_metadata, f"step_{step}")
        self._next_step = step + 1

    def _save(self, step: int, step_stats: Any) -> None:
        path = filesystem.join(self._output_dir, f"timeline-{step}.json")
        program_log.info("Saving timeline for %d into '%s'.", step, path)
        trace = Timeline(step_stats).generate_chrome_trace_format(
            show_dataflow=self._show_dataflow, show_memory=self._show_memory
        )
        filesystem.write_file(path, trace.encode())
