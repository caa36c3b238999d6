"""`tf.train.CheckpointSaverHook`: checkpoints while a model trains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    get_collection,
    get_default_graph,
)
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
from tensorloom.train.meta_graph import graph_io, meta_graph


@export("train.CheckpointSaverListener", "estimator.CheckpointSaverListener")
class CheckpointSaverListener:
    """What a `CheckpointSaverHook` calls before and after each checkpoint."""

    def begin(self) -> None:
        """Called once, before the session is made."""

    def before_save(self, session: Any, global_step_value: int) -> None:
        """Called before a checkpoint of that step is written."""

    def after_save(self, session: Any, global_step_value: int) -> bool | None:
        """Called when it is written. True requests the end of the training."""
        return None

    def end(self, session: Any, global_step_value: int) -> None:
        """Called at the end of the training."""


@export("train.CheckpointSaverHook", "estimator.CheckpointSaverHook")
class CheckpointSaverHook(SessionRunHook):
    """Saves a checkpoint at the beginning, every so many steps or seconds, at the end.

    Beside the first one it writes the graph, as `graph.pbtxt` and into the event file.

    Args:
      checkpoint_dir: the directory.
      save_secs, save_steps: seconds or steps between two checkpoints: one of them.
      saver: a `tf.train.Saver`; the scaffold's, or that of the collection SAVERS.
      checkpoint_basename: the beginning of the files' names.
      scaffold: has the saver.
      listeners: called around each save.

    Raises:
      ValueError: both `saver` and `scaffold`, or not one of the intervals.
    """

    def __init__(
        self,
        checkpoint_dir: Any,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Any = None,
        listeners: Sequence[CheckpointSaverListener] | None = None,
    ) -> None:
        program_log.info("Create CheckpointSaverHook.")
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver = saver
        self._checkpoint_dir = filesystem.path_text(checkpoint_dir)
        self._save_path = filesystem.join(self._checkpoint_dir, checkpoint_basename)
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._listeners = listeners or []
        self._steps_per_run = 1

    def _set_steps_per_run(self, steps_per_run: int) -> None:
        self._steps_per_run = steps_per_run

    def begin(self) -> None:
        """Opens the event file and finds the global step.

        Raises:
          RuntimeError: the graph has none.
        """
        self._summary_writer = FileWriterCache.get(self._checkpoint_dir)
        self._global_step_tensor = training_util._global_step_read_for(
            "CheckpointSaverHook"
        )
        self._args = SessionRunArgs(self._global_step_tensor)
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Writes the graph and the first checkpoint of the session."""
        step = session.run(self._global_step_tensor)
        graph = get_default_graph()
        graph_def = graph.as_graph_def(add_shapes=True)
        graph_io.write_graph(graph_def, self._checkpoint_dir, "graph.pbtxt")
        saver = self._get_saver()
        self._summary_writer.add_graph(graph)
        self._summary_writer.add_meta_graph(
            meta_graph.create_meta_graph_def(
                graph_def=graph_def, saver_def=saver.saver_def if saver else None
            )
        )
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the global step."""
        return self._args

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Saves when it is time."""
        timer = self._timer
        # What the step read may be from before or after its own update.
        if not timer.should_trigger_for_step(run_values.results + self._steps_per_run):
            return
        step = run_context.session.run(self._global_step_tensor)
        if timer.should_trigger_for_step(step):
            timer.update_last_triggered_step(step)
            if self._save(run_context.session, step):
                run_context.request_stop()

    def end(self, session: Any) -> None:
        """Saves the last step, if it is not saved yet."""
        step = self._save_unsaved(session)
        for listener in self._listeners:
            listener.end(session, step)

    def interrupted(self, session: Any) -> None:
        """Saves what was trained when the user presses Ctrl-C."""
        self._save_unsaved(session)
        self._summary_writer.flush()

    def _save_unsaved(self, session: Any) -> int:
        step: int = session.run(self._global_step_tensor)
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        return step

    def _save(self, session: Any, step: int) -> bool:
        """Saves; whether a listener wants the training to end."""
        from tensorloom.protos.event_pb2 import SessionLog

        program_log.info("Saving checkpoints for %d into %s.", step, self._save_path)
        for listener in self._listeners:
            listener.before_save(session, step)
        self._get_saver().save(session, self._save_path, global_step=step)
        self._summary_writer.add_session_log(
            SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=self._save_path),
            step,
        )
        should_stop = False
        for listener in self._listeners:
            if listener.after_save(session, step):
                program_log.info(
                    "A CheckpointSaverListener requested that training be stopped. "
                    f"listener: {listener}"
                )
                should_stop = True
        return should_stop

    def _get_saver(self) -> Any:
        if self._saver is not None:
            return self._saver
        if self._scaffold is not None:
            return self._scaffold.saver
        savers = get_collection(GraphKeys.SAVERS)
        if not savers:
            raise RuntimeError(
                f"No items in collection {GraphKeys.SAVERS}. Please add a saver to the "
                "collection or provide a saver or scaffold."
            )
        if len(savers) > 1:
            raise RuntimeError(
                f"More than one item in collection {GraphKeys.SAVERS}. Please indicate "
                "which one to use by passing it to the constructor."
            )
        self._saver = savers[0]
        return self._saver
