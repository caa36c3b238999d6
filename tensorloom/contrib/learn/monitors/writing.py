"""Monitors that write summaries and checkpoints."""

from __future__ import annotations

import os
import time
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.contrib.learn.monitors.base_monitors import (
    BaseMonitor,
    EveryN,
    extract_output,
)
from tensorloom.framework.export import export
from tensorloom.summary import writer
from tensorloom.summary.writer_cache import FileWriterCache


@export("contrib.learn.monitors.SummarySaver")
class SummarySaver(EveryN):
    """Writes summaries.

    Args:
      summary_op: serialized summaries; the scaffold's when None.
      save_steps: how many steps apart.
      output_dir: where to; the model's directory when None.
      summary_writer: writes them.
      scaffold: has the summaries.
    """

    def __init__(
        self,
        summary_op: Any,
        save_steps: int = 100,
        output_dir: Any = None,
        summary_writer: Any = None,
        scaffold: Any = None,
    ) -> None:
        super().__init__(every_n_steps=save_steps)
        self._summary_op = summary_op
        self._summary_writer = summary_writer
        if summary_writer is None and output_dir:
            self._summary_writer = writer.FileWriter(output_dir)
        self._scaffold = scaffold

    def set_estimator(self, estimator: Any) -> None:
        """Takes the model, whose directory gets the summaries if none was said."""
        super().set_estimator(estimator)
        if self._summary_writer is None:
            self._summary_writer = writer.FileWriter(estimator.model_dir)

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Asks for the summaries."""
        super().every_n_step_begin(step)
        if self._summary_op is None and self._scaffold is not None:
            self._summary_op = self._scaffold.summary_op
        return [] if self._summary_op is None else [self._summary_op]

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> Any:
        """Writes them."""
        super().every_n_step_end(step, outputs)
        if self._summary_op is not None:
            summaries = extract_output(outputs, self._summary_op)
            if self._summary_writer:
                self._summary_writer.add_summary(summaries, step)
        return False

    def end(self, session: Any = None) -> None:
        """Writes what is left."""
        super().end(session=session)
        if self._summary_writer:
            self._summary_writer.flush()


@export("contrib.learn.monitors.StepCounter")
class StepCounter(EveryN):
    """Writes how many steps are done in a second.

    Args:
      every_n_steps: how many steps apart.
      output_dir: where to; the model's directory when None.
      summary_writer: writes it.
    """

    def __init__(
        self,
        every_n_steps: int = 100,
        output_dir: Any = None,
        summary_writer: Any = None,
    ) -> None:
        super().__init__(every_n_steps=every_n_steps)
        self._summary_tag = "global_step/sec"
        self._last_reported_step = 0
        self._last_reported_time: float | None = None
        self._summary_writer = summary_writer
        if summary_writer is None and output_dir:
            self._summary_writer = FileWriterCache.get(output_dir)

    def set_estimator(self, estimator: Any) -> None:
        """Takes the model, whose directory gets the summaries if none was said."""
        super().set_estimator(estimator)
        if self._summary_writer is None:
            self._summary_writer = FileWriterCache.get(estimator.model_dir)

    def every_n_step_end(self, current_step: int, outputs: dict[Any, Any]) -> Any:
        """Writes the speed since the last time."""
        from tensorloom.protos.summary_pb2 import Summary

        now = time.time()
        if self._last_reported_time is not None and self._summary_writer:
            steps = current_step - self._last_reported_step
            speed = steps / (now - self._last_reported_time)
            message = Summary()
            message.value.add(tag=self._summary_tag, simple_value=speed)
            self._summary_writer.add_summary(message, current_step)
        self._last_reported_step = current_step
        self._last_reported_time = now


@export("contrib.learn.monitors.CheckpointSaver")
class CheckpointSaver(BaseMonitor):
    """Writes checkpoints.

    Args:
      checkpoint_dir: where to.
      save_secs: every so many seconds.
      save_steps: or every so many steps.
      saver: writes them; the scaffold's when None.
      checkpoint_basename: what their names begin with.
      scaffold: has the saver.

    Raises:
      ValueError: not exactly one of the two intervals is given.
    """

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Any = None,
    ) -> None:
        program_log.info("Create CheckpointSaver.")
        super().__init__()
        if save_steps is None and save_secs is None:
            raise ValueError("Either save_steps or save_secs should be provided")
        if save_steps is not None and save_secs is not None:
            raise ValueError("Can not provide both save_steps and save_secs.")
        self._saver = saver
        self._summary_writer = FileWriterCache.get(checkpoint_dir)
        self._save_path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._scaffold = scaffold
        self._save_secs = save_secs
        self._save_steps = save_steps
        self._forget()

    def _forget(self) -> None:
        self._last_saved_time = 0.0
        self._last_begin_step: int | None = None
        self._last_saved_step: int | None = None

    def begin(self, max_steps: int | None = None) -> None:
        """Training begins."""
        super().begin(max_steps)
        self._forget()

    def step_begin(self, step: int) -> list[Any]:
        """A step begins."""
        super().step_begin(step)
        self._last_begin_step = step
        return []

    def post_step(self, step: int, session: Any) -> None:
        """Writes a checkpoint after the first step, and when it is time."""
        super().post_step(step, session)
        last = self._last_saved_step
        by_steps, by_secs = self._save_steps, self._save_secs
        if (
            last is None
            or (by_steps is not None and step >= last + by_steps)
            or (by_secs is not None and time.time() >= self._last_saved_time + by_secs)
        ):
            self._save(step, session)

    def end(self, session: Any = None) -> None:
        """Writes the last checkpoint."""
        super().end(session)
        self._save(self._last_begin_step, session)

    def _save(self, step: int | None, session: Any) -> None:
        from tensorloom.protos.event_pb2 import SessionLog

        if step == self._last_saved_step:
            return
        program_log.info("Saving checkpoints for %d into %s.", step, self._save_path)
        self._last_saved_time = time.time()
        self._last_saved_step = step
        saver = self._scaffold.saver if self._saver is None else self._saver
        saver.save(session, self._save_path, global_step=step)
        self._summary_writer.add_session_log(
            SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=self._save_path),
            step,
        )
