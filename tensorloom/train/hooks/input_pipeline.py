"""Checkpoints of input pipelines alone: `CheckpointInputPipelineHook`."""

from __future__ import annotations

from typing import Any

from tensorloom.data.iterators import GLOBAL_ITERATORS, saveable_of_handle
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import get_collection
from tensorloom.train.checkpoints.checkpoint_management import latest_checkpoint
from tensorloom.train.checkpoints.saver import Saver
from tensorloom.train.hooks.checkpoint_saver import CheckpointSaverHook
from tensorloom.train.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)


class _InputSaver(Saver):
    """A saver with a list of its own of the latest checkpoints."""

    def __init__(self, var_list: Any, latest_filename: str) -> None:
        super().__init__(var_list)
        self._latest_filename = latest_filename

    def save(
        self,
        sess: Any,
        save_path: Any,
        global_step: Any = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> str | None:
        """Saves, as `tf.train.Saver.save` does."""
        return super().save(
            sess,
            save_path,
            global_step,
            latest_filename or self._latest_filename,
            meta_graph_suffix,
            write_meta_graph,
            write_state,
            strip_default_attrs,
            save_debug_info,
        )


@export("data.experimental.CheckpointInputPipelineHook")
class CheckpointInputPipelineHook(SessionRunHook):
    """Saves how far the iterators of the graph have come, beside the model.

    The checkpoints are called `input.ckpt-...` (`input_<task type>_<task id>.ckpt-...`
    in a cluster), and `checkpoint_input` names the latest. Training that is resumed
    goes on behind the last element that was saved.

    Args:
      estimator: whose directory and intervals are used.
    """

    def __init__(self, estimator: Any) -> None:
        config = estimator._config
        prefix = "input"
        if config.num_worker_replicas > 1:
            prefix += f"_{config.task_type}_{config.task_id}"
        # Not a subclass: an Estimator makes no hook for the model where it finds one.
        self._checkpoint_saver_hook = CheckpointSaverHook(
            estimator.model_dir,
            save_secs=config.save_checkpoints_secs,
            save_steps=config.save_checkpoints_steps,
            checkpoint_basename=prefix + ".ckpt",
        )
        self._latest_filename = "checkpoint_" + prefix
        self._first_run = True

    def begin(self) -> None:
        """Makes a saver of all iterators."""
        hook = self._checkpoint_saver_hook
        if hook._saver is None:
            handles = get_collection(GLOBAL_ITERATORS)
            saveables = [saveable_of_handle(handle) for handle in handles]
            hook._saver = _InputSaver(saveables, self._latest_filename)
        hook.begin()

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Restores or saves the iterators at first; asks for the global step.

        All hooks have initialized their iterators by then, which would undo it.
        """
        if self._first_run:
            self._first_run = False
            self._restore_or_save(run_context.session)
        return self._checkpoint_saver_hook.before_run(run_context)

    def _restore_or_save(self, session: Any) -> None:
        hook = self._checkpoint_saver_hook
        latest = latest_checkpoint(hook._checkpoint_dir, self._latest_filename)
        if latest:
            hook._get_saver().restore(session, latest)
        else:
            step = session.run(hook._global_step_tensor)
            hook._save(session, step)
            hook._timer.update_last_triggered_step(step)

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Saves when it is time."""
        self._checkpoint_saver_hook.after_run(run_context, run_values)

    def end(self, session: Any) -> None:
        """Saves the last step, if it is not saved yet."""
        self._checkpoint_saver_hook.end(session)
