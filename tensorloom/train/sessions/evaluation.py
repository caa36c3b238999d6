"""Evaluation of one checkpoint, batch by batch."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.client.variables.variable_scope import get_variable
from tensorloom.framework.graph.graph import (
    GraphKeys,
    control_dependencies,
    get_default_graph,
)
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.math.cast import cast
from tensorloom.ops.state import initializers as init_ops
from tensorloom.ops.state import reference_variable as state_ops
from tensorloom.train.hooks.final_ops import FinalOpsHook
from tensorloom.train.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tensorloom.train.hooks.stopping import get_or_create_steps_per_run_variable
from tensorloom.train.sessions.creators import ChiefSessionCreator
from tensorloom.train.sessions.monitored_session import MonitoredSession


def _get_or_create_eval_step() -> Any:
    """The local variable that counts the batches of an evaluation.

    Raises:
      ValueError: there are several.
    """
    found = get_default_graph().get_collection(GraphKeys.EVAL_STEP)
    if len(found) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    if found:
        return found[0]
    return get_variable(
        "eval_step",
        shape=[],
        dtype=dtypes.int64,
        initializer=init_ops.Zeros(),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP],
    )


def _get_latest_eval_step_value(update_ops: Any) -> Any:
    """The count after some operations have run: a list, or a dict of them."""
    if isinstance(update_ops, dict):
        update_ops = list(update_ops.values())
    with control_dependencies(update_ops):
        return identity_ops.identity(_get_or_create_eval_step().read_value())


class _EvalsHook(SessionRunHook):
    """Ends an evaluation after so many batches; None: at the end of the data."""

    def __init__(self, num_evals: int | None) -> None:
        self._num_evals = num_evals
        self._evals_completed: Any = None

    def _set_evals_completed_tensor(self, updated_eval_step: Any) -> None:
        self._evals_completed = updated_eval_step

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the count."""
        return SessionRunArgs({"evals_completed": self._evals_completed})

    def _log(self, completed: int) -> None:
        if self._num_evals is None:
            program_log.info("Evaluation [%d]", completed)
        else:
            program_log.info("Evaluation [%d/%d]", completed, self._num_evals)

    def _stop_if_done(self, run_context: SessionRunContext, completed: int) -> None:
        if self._num_evals is not None and completed >= self._num_evals:
            run_context.request_stop()


class _StopAfterNEvalsHook(_EvalsHook):
    """Ends an evaluation, and logs how far it is, about ten times.

    Args:
      num_evals: how many batches; None: until the end of the data.
      log_progress: whether to log.
    """

    def __init__(self, num_evals: int | None, log_progress: bool = True) -> None:
        super().__init__(num_evals)
        self._log_progress = log_progress
        is_short = num_evals is None or num_evals < 20
        self._log_frequency = 1 if is_short else num_evals // 10  # type: ignore[operator]

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Logs, and requests the stop after the last one."""
        completed = run_values.results["evals_completed"]
        is_last = completed == self._num_evals
        if self._log_progress and (completed % self._log_frequency == 0 or is_last):
            self._log(completed)
        self._stop_if_done(run_context, completed)


class _MultiStepStopAfterNEvalsHook(_EvalsHook):
    """The same for runs that evaluate several batches each."""

    def __init__(self, num_evals: int | None, steps_per_run: int = 1) -> None:
        super().__init__(num_evals)
        self._steps_per_run_initial_value = steps_per_run

    def begin(self) -> None:
        """Finds the variable that says how many batches a run evaluates."""
        self._steps_per_run_variable = get_or_create_steps_per_run_variable()

    def _set_steps_of_next_run(self, completed: int, session: Any) -> None:
        steps = self._steps_per_run_initial_value
        if self._num_evals is not None:
            steps = min(steps, self._num_evals - completed)
        self._steps_per_run_variable.load(steps, session=session)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Says how many batches the first run evaluates."""
        self._set_steps_of_next_run(0, session)

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Says how many the next one does; logs; stops after the last one."""
        completed = run_values.results["evals_completed"]
        self._set_steps_of_next_run(completed, run_context.session)
        self._log(completed)
        self._stop_if_done(run_context, completed)


def _evaluate_once(
    checkpoint_path: Any,
    master: str = "",
    scaffold: Any = None,
    eval_ops: Any = None,
    feed_dict: Any = None,
    final_ops: Any = None,
    final_ops_feed_dict: Any = None,
    hooks: Sequence[SessionRunHook] | None = None,
    config: Any = None,
) -> Any:
    """Runs `eval_ops` on a checkpoint until a hook stops or the data ends.

    Args:
      checkpoint_path: the checkpoint.
      master: target of the session.
      scaffold: what the model is initialized with.
      eval_ops: an operation, or a list or dict of them; None: nothing.
      feed_dict: feeds for them.
      final_ops, final_ops_feed_dict: run at the end.
      hooks: called around each step; `_StopAfterNEvalsHook` stops.
      config: a `tf.ConfigProto`.

    Returns:
      The values of `final_ops`, in their structure.
    """
    all_hooks = list(hooks or [])
    eval_step = _get_or_create_eval_step()
    if eval_ops is not None:
        eval_ops = _counting(eval_ops, eval_step, all_hooks)
        completed = _get_latest_eval_step_value(eval_ops)
        for hook in all_hooks:
            if isinstance(hook, _EvalsHook):
                hook._set_evals_completed_tensor(completed)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.localtime())
    program_log.info("Starting evaluation at " + now)
    final_ops_hook = FinalOpsHook(final_ops, final_ops_feed_dict)
    creator = ChiefSessionCreator(
        scaffold=scaffold,
        checkpoint_filename_with_path=checkpoint_path,
        master=master,
        config=config,
    )
    with MonitoredSession(
        session_creator=creator, hooks=[*all_hooks, final_ops_hook]
    ) as session:
        if eval_ops is not None:
            while not session.should_stop():
                session.run(eval_ops, feed_dict)
    now = time.strftime("%Y-%m-%d-%H:%M:%S", time.localtime())
    program_log.info("Finished evaluation at " + now)
    return final_ops_hook.final_ops_values


def _counting(eval_ops: Any, eval_step: Any, hooks: Sequence[SessionRunHook]) -> Any:
    """`eval_ops` with an operation that counts the batches."""
    count: Any = 1
    if any(isinstance(hook, _MultiStepStopAfterNEvalsHook) for hook in hooks):
        steps_per_run = get_or_create_steps_per_run_variable()
        count = cast(steps_per_run, dtype=eval_step.dtype)
    update = state_ops.assign_add(eval_step, count, use_locking=True)
    return with_count(eval_ops, update)


def with_count(eval_ops: Any, update: Any) -> Any:
    """`eval_ops` with an operation more."""
    if isinstance(eval_ops, dict):
        return {**eval_ops, "update_eval_step": update}
    if isinstance(eval_ops, (tuple, list)):
        return [*eval_ops, update]
    return [eval_ops, update]
