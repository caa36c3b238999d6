"""Increments of checkpoints while a model trains."""

from __future__ import annotations

from typing import Any

from tensorloom.client.program import program_log
from tensorloom.dynamic_embedding.incremental_saver import IncrementalSaver
from tensorloom.train import training_util
from tensorloom.train.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tensorloom.train.hooks.timers import SecondOrStepTimer


class IncrementalSaverHook(SessionRunHook):
    """Saves an increment every so many steps or seconds, and at the end.

    The full checkpoints are those of a `CheckpointSaverHook` with the same saver, such
    as the one of `MonitoredTrainingSession`, whose `chief_only_hooks` this belongs to.
    If the last save was at the same step, nothing is saved.

    Args:
      saver: an `IncrementalSaver`; None for the scaffold's.
      incremental_save_secs, incremental_save_steps: one of them.
      scaffold: has the saver.

    Raises:
      ValueError: both `saver` and `scaffold`, none of them, or not one interval.
    """

    def __init__(
        self,
        saver: IncrementalSaver | None = None,
        incremental_save_secs: float | None = None,
        incremental_save_steps: int | None = None,
        scaffold: Any = None,
    ) -> None:
        if (saver is None) == (scaffold is None):
            raise ValueError("Exactly one of saver and scaffold has to be provided.")
        self._saver, self._scaffold = saver, scaffold
        self._timer = SecondOrStepTimer(incremental_save_secs, incremental_save_steps)

    def begin(self) -> None:
        """Finds the global step.

        Raises:
          RuntimeError: the graph has none.
        """
        self._step = training_util._global_step_read_for("IncrementalSaverHook")
        self._args = SessionRunArgs(self._step)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Counts from here.

        Raises:
          TypeError: the scaffold's saver is not an `IncrementalSaver`.
        """
        saver = self._saver or self._scaffold.saver
        if not isinstance(saver, IncrementalSaver):
            raise TypeError(f"Increments need an IncrementalSaver, got {saver!r}")
        self._saver = saver
        self._timer.update_last_triggered_step(session.run(self._step))

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the global step."""
        return self._args

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Saves when it is time."""
        # What the step read may be from before or after its own update.
        if not self._timer.should_trigger_for_step(run_values.results + 1):
            return
        session = run_context.session
        step = session.run(self._step)
        if self._timer.should_trigger_for_step(step):
            self._save(session, step)

    def end(self, session: Any) -> None:
        """Saves the last step, if it is not saved yet."""
        step = session.run(self._step)
        if step != self._timer.last_triggered_step():
            self._save(session, step)

    def _save(self, session: Any, step: int) -> None:
        self._timer.update_last_triggered_step(step)
        assert self._saver is not None
        if self._saver.saved_step == step:
            return
        program_log.info("Saving an increment for %d.", step)
        self._saver.incremental_save(session, step)
