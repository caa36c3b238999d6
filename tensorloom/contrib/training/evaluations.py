"""Evaluation of checkpoints, one or all that come, and what is written at its end."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.framework.export import export, export_value
from tensorloom.ops.state import reference_variable as state_ops
from tensorloom.summary import summary
from tensorloom.summary.writer_cache import FileWriterCache
from tensorloom.train import training_util
from tensorloom.train.checkpoints import checkpoint_utils
from tensorloom.train.hooks.final_ops import FinalOpsHook
from tensorloom.train.hooks.session_run_hook import SessionRunHook
from tensorloom.train.sessions import evaluation
from tensorloom.train.sessions.creators import ChiefSessionCreator
from tensorloom.train.sessions.monitored_session import MonitoredSession

StopAfterNEvalsHook = evaluation._StopAfterNEvalsHook
evaluate_once = evaluation._evaluate_once
get_or_create_eval_step = evaluation._get_or_create_eval_step
checkpoints_iterator = checkpoint_utils.checkpoints_iterator
wait_for_new_checkpoint = checkpoint_utils.wait_for_new_checkpoint

export_value(StopAfterNEvalsHook, "contrib.training.StopAfterNEvalsHook")
export_value(evaluate_once, "contrib.training.evaluate_once")
export_value(get_or_create_eval_step, "contrib.training.get_or_create_eval_step")
export_value(
    checkpoints_iterator,
    "contrib.training.checkpoints_iterator",
    "contrib.slim.evaluation.checkpoints_iterator",
)
export_value(
    wait_for_new_checkpoint,
    "contrib.training.wait_for_new_checkpoint",
    "contrib.slim.evaluation.wait_for_new_checkpoint",
)


@export("contrib.training.SummaryAtEndHook")
class SummaryAtEndHook(SessionRunHook):
    """Writes summaries when a session ends.

    Args:
      log_dir: where to; not needed with a writer.
      summary_writer: writes them.
      summary_op: all summaries of the graph when None.
      feed_dict: feeds for them.

    Raises:
      ValueError: there is neither a directory nor a writer.
    """

    def __init__(
        self,
        log_dir: Any = None,
        summary_writer: Any = None,
        summary_op: Any = None,
        feed_dict: Any = None,
    ) -> None:
        if log_dir is None and summary_writer is None:
            raise ValueError("One of log_dir or summary_writer should be used.")
        self._log_dir = log_dir
        self._summary_writer = summary_writer
        self._summary_op = summary_op
        self._replace_summary_op = summary_op is None
        self._feed_dict = feed_dict

    def begin(self) -> None:
        """Finds the summaries and the step of the graph."""
        if self._replace_summary_op:
            # A hook may serve several graphs, one after the other.
            self._summary_op = summary.merge_all()
        self._global_step = training_util.get_or_create_global_step()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Opens the writer."""
        if self._summary_writer is None and self._log_dir:
            self._summary_writer = FileWriterCache.get(self._log_dir)

    def end(self, session: Any) -> None:
        """Writes."""
        if self._summary_op is not None:
            step = training_util.global_step(session, self._global_step)
            written = session.run(self._summary_op, self._feed_dict)
            if self._summary_writer:
                self._summary_writer.add_summary(written, step)
        if self._summary_writer:
            self._summary_writer.flush()


@export("contrib.training.evaluate_repeatedly")
def evaluate_repeatedly(
    checkpoint_dir: Any,
    master: str = "",
    scaffold: Any = None,
    eval_ops: Any = None,
    feed_dict: Any = None,
    final_ops: Any = None,
    final_ops_feed_dict: Any = None,
    eval_interval_secs: float = 60,
    hooks: Any = None,
    config: Any = None,
    max_number_of_evaluations: int | None = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Any:
    """Evaluates each new checkpoint of a directory as it comes.

    Args:
      checkpoint_dir: where checkpoints come.
      master: target of the sessions.
      scaffold: what sessions are made ready with.
      eval_ops: an operation, or a list or dict of them, run until a hook such as
        `StopAfterNEvalsHook` stops or the data ends; None: nothing.
      feed_dict: feeds for them.
      final_ops, final_ops_feed_dict: run at the end of each evaluation.
      eval_interval_secs: between the starts of two evaluations, at least.
      hooks: called around each step.
      config: a `tf.ConfigProto`.
      max_number_of_evaluations: after which it returns; None for no end.
      timeout: how long to wait for a checkpoint, in seconds; None for no end.
      timeout_fn: asked after a timeout: true ends the waiting. None ends it too.

    Returns:
      The values of `final_ops` in the last evaluation, None without one.
    """
    eval_step = get_or_create_eval_step()
    hooks = hooks or []
    if eval_ops is not None:
        count = state_ops.assign_add(eval_step, 1)
        for hook in hooks:
            if isinstance(hook, StopAfterNEvalsHook):
                hook._set_evals_completed_tensor(count)
        eval_ops = evaluation.with_count(eval_ops, count)
    final_ops_hook = FinalOpsHook(final_ops, final_ops_feed_dict)
    all_hooks = [*hooks, final_ops_hook]
    paths = checkpoints_iterator(
        checkpoint_dir, eval_interval_secs, timeout, timeout_fn
    )
    for done, path in enumerate(paths, 1):
        creator = ChiefSessionCreator(
            scaffold=scaffold,
            checkpoint_filename_with_path=path,
            master=master,
            config=config,
        )
        with MonitoredSession(session_creator=creator, hooks=all_hooks) as session:
            program_log.info("Starting evaluation at %s", _now())
            if eval_ops is not None:
                while not session.should_stop():
                    session.run(eval_ops, feed_dict)
            program_log.info("Finished evaluation at %s", _now())
        if max_number_of_evaluations is not None and done >= max_number_of_evaluations:
            break
    return final_ops_hook.final_ops_values


def _now() -> str:
    return time.strftime("%Y-%m-%d-%H:%M:%S", time.gmtime())
