"""`slim.evaluation`: metrics of one checkpoint, or of all that come, as summaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.contrib.slim.training_steps import USE_DEFAULT, is_default
from tensorloom.contrib.training import evaluations
from tensorloom.framework.export import export
from tensorloom.summary import summary
from tensorloom.train.checkpoints.saver import Saver
from tensorloom.train.sessions.scaffold import Scaffold

if TYPE_CHECKING:
    from tensorloom.train.hooks.session_run_hook import SessionRunHook


@export("contrib.slim.evaluation.evaluate_once")
def evaluate_once(
    master: str,
    checkpoint_path: Any,
    logdir: Any,
    num_evals: int | None = 1,
    initial_op: Any = None,
    initial_op_feed_dict: Any = None,
    eval_op: Any = None,
    eval_op_feed_dict: Any = None,
    final_op: Any = None,
    final_op_feed_dict: Any = None,
    summary_op: Any = USE_DEFAULT,
    summary_op_feed_dict: Any = None,
    variables_to_restore: Any = None,
    session_config: Any = None,
    hooks: Any = None,
) -> Any:
    """Evaluates one checkpoint.

    Args:
      master: target of the session.
      checkpoint_path: the checkpoint.
      logdir: for summaries.
      num_evals: how often `eval_op` runs; None: until the data ends.
      initial_op, initial_op_feed_dict: run at the beginning.
      eval_op, eval_op_feed_dict: run again and again.
      final_op, final_op_feed_dict: run at the end.
      summary_op, summary_op_feed_dict: all summaries unless given; None for none.
      variables_to_restore: all when None.
      session_config: a `tf.ConfigProto`.
      hooks: called around each step.

    Returns:
      The value of `final_op`.
    """
    all_hooks = _hooks(logdir, num_evals, summary_op, summary_op_feed_dict, hooks)
    return evaluations.evaluate_once(
        checkpoint_path,
        master=master,
        scaffold=Scaffold(
            init_op=initial_op,
            init_feed_dict=initial_op_feed_dict,
            saver=_saver(variables_to_restore),
        ),
        eval_ops=eval_op,
        feed_dict=eval_op_feed_dict,
        final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict,
        hooks=all_hooks,
        config=session_config,
    )


@export("contrib.slim.evaluation.evaluation_loop")
def evaluation_loop(
    master: str,
    checkpoint_dir: Any,
    logdir: Any,
    num_evals: int | None = 1,
    initial_op: Any = None,
    initial_op_feed_dict: Any = None,
    init_fn: Callable[..., Any] | None = None,
    eval_op: Any = None,
    eval_op_feed_dict: Any = None,
    final_op: Any = None,
    final_op_feed_dict: Any = None,
    summary_op: Any = USE_DEFAULT,
    summary_op_feed_dict: Any = None,
    variables_to_restore: Any = None,
    eval_interval_secs: float = 60,
    max_number_of_evaluations: int | None = None,
    session_config: Any = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
    hooks: Any = None,
) -> Any:
    """Evaluates each new checkpoint of a directory as it comes.

    Args:
      master: target of the sessions.
      checkpoint_dir: where checkpoints come.
      logdir: for summaries.
      num_evals: how often `eval_op` runs for a checkpoint; None: until the data ends.
      initial_op, initial_op_feed_dict, init_fn: run at the beginning of each.
      eval_op, eval_op_feed_dict: run again and again.
      final_op, final_op_feed_dict: run at the end of each.
      summary_op, summary_op_feed_dict: all summaries unless given; None for none.
      variables_to_restore: all when None.
      eval_interval_secs: between the starts of two evaluations, at least.
      max_number_of_evaluations: after which it returns; None for no end.
      session_config: a `tf.ConfigProto`.
      timeout: how long to wait for a checkpoint, in seconds; None for no end.
      timeout_fn: asked after a timeout: true ends the waiting. None ends it too.
      hooks: called around each step.

    Returns:
      The last value of `final_op`, None without one.
    """
    all_hooks = _hooks(logdir, num_evals, summary_op, summary_op_feed_dict, hooks)
    return evaluations.evaluate_repeatedly(
        checkpoint_dir,
        master=master,
        scaffold=Scaffold(
            init_op=initial_op,
            init_feed_dict=initial_op_feed_dict,
            init_fn=init_fn,
            saver=_saver(variables_to_restore),
        ),
        eval_ops=eval_op,
        feed_dict=eval_op_feed_dict,
        final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict,
        eval_interval_secs=eval_interval_secs,
        hooks=all_hooks,
        config=session_config,
        max_number_of_evaluations=max_number_of_evaluations,
        timeout=timeout,
        timeout_fn=timeout_fn,
    )


def _hooks(
    logdir: Any, num_evals: int | None, summary_op: Any, feed_dict: Any, more: Any
) -> list[SessionRunHook]:
    if is_default(summary_op):
        summary_op = summary.merge_all()
    hooks: list[SessionRunHook] = [evaluations.StopAfterNEvalsHook(num_evals)]
    if summary_op is not None:
        hooks.append(
            evaluations.SummaryAtEndHook(
                log_dir=logdir, summary_op=summary_op, feed_dict=feed_dict
            )
        )
    return [*hooks, *(more or ())]


def _saver(variables: Any) -> Saver | None:
    return None if variables is None else Saver(variables)
