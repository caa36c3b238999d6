"""`slim.learning.train`: training under a supervisor until a step says stop."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.client.variables.variable_lists import (
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
    tables_initializer,
)
from tensorloom.contrib.slim.training_steps import USE_DEFAULT, is_default, train_step
from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    control_dependencies,
    get_default_graph,
    name_scope,
)
from tensorloom.ops.array.constant import constant
from tensorloom.ops.control_flow.builders import group
from tensorloom.ops.math.binary import mod
from tensorloom.ops.math.comparison import equal, greater_equal
from tensorloom.summary import summary
from tensorloom.train import training_util
from tensorloom.train.checkpoints.saver import Saver
from tensorloom.train.optimizers.sync_replicas import SyncReplicasOptimizer
from tensorloom.train.sessions.supervisor import Supervisor


@dataclass
class _Loop:
    """What runs in a session, over and over."""

    supervisor: Supervisor
    step: Callable[[Any], tuple[Any, Any]]
    logdir: Any
    is_chief: bool
    global_step: Any
    startup_step: int
    session_wrapper: Callable[[Any], Any] | None
    ignore_live_threads: bool
    token_runners: list[Any] = field(default_factory=list)
    token_ops: list[Any] = field(default_factory=list)
    loss: Any = None

    def run(self, master: str, config: Any) -> None:
        """Trains in one session, to the end of training."""
        with self.supervisor.managed_session(
            master, start_standard_services=False, config=config
        ) as session:
            program_log.info("Starting Session.")
            if self.session_wrapper is not None:
                program_log.info(
                    "Wrapping session with wrapper function: %s", self.session_wrapper
                )
                session = self.session_wrapper(session)
            threads = self._start(session)
            try:
                self._steps(session)
            except errors.OutOfRangeError as error:
                program_log.info("Caught OutOfRangeError. Stopping Training. %s", error)
            if self.logdir and self.supervisor.is_chief:
                self._finish(session, threads)

    def _start(self, session: Any) -> Any:
        supervisor = self.supervisor
        if self.is_chief and self.logdir:
            supervisor.start_standard_services(session)
        elif not self.is_chief and self.startup_step > 0:
            while (
                training_util.global_step(session, self.global_step) < self.startup_step
            ):
                time.sleep(1.0)
        threads = supervisor.start_queue_runners(session)
        program_log.info("Starting Queues.")
        if self.token_runners:
            supervisor.start_queue_runners(session, self.token_runners)
            session.run(self.token_ops)
        return threads

    def _steps(self, session: Any) -> None:
        while not self.supervisor.should_stop():
            self.loss, should_stop = self.step(session)
            if should_stop:
                program_log.info("Stopping Training.")
                self.supervisor.request_stop()

    def _finish(self, session: Any, threads: Any) -> None:
        """Stops the threads, then saves, so that this checkpoint is the last one."""
        supervisor = self.supervisor
        try:
            # The end of the session closes the writer.
            supervisor.stop(
                threads,
                close_summary_writer=False,
                ignore_live_threads=self.ignore_live_threads,
            )
        finally:
            program_log.info("Finished training! Saving model to disk.")
            supervisor.saver.save(
                session, supervisor.save_path, global_step=supervisor.global_step
            )


@export("contrib.slim.learning.train")
def train(
    train_op: Any,
    logdir: Any,
    train_step_fn: Callable[..., tuple[Any, Any]] = train_step,
    train_step_kwargs: Any = USE_DEFAULT,
    log_every_n_steps: int = 1,
    graph: Any = None,
    master: str = "",
    is_chief: bool = True,
    global_step: Any = None,
    number_of_steps: int | None = None,
    init_op: Any = USE_DEFAULT,
    init_feed_dict: Any = None,
    local_init_op: Any = USE_DEFAULT,
    init_fn: Callable[[Any], Any] | None = None,
    ready_op: Any = USE_DEFAULT,
    summary_op: Any = USE_DEFAULT,
    save_summaries_secs: float = 600,
    summary_writer: Any = USE_DEFAULT,
    startup_delay_steps: int = 0,
    saver: Any = None,
    save_interval_secs: float = 600,
    sync_optimizer: Any = None,
    session_config: Any = None,
    session_wrapper: Callable[[Any], Any] | None = None,
    trace_every_n_steps: int | None = None,
    ignore_live_threads: bool = False,
) -> Any:
    """Trains until the step says stop, the data ends, or the steps are done.

    Args:
      train_op: the step, whose value is the loss.
      logdir: for checkpoints and summaries; None: nothing is written.
      train_step_fn: runs one step: of (session, train_op, global_step,
        train_step_kwargs), giving (loss, whether to stop).
      train_step_kwargs: made from the numbers below unless given; see `train_step`.
      log_every_n_steps: between two lines of log; 0 for none.
      graph: the default one when None.
      master: target of the session.
      is_chief: whether this task initializes and writes.
      global_step: the graph's when None.
      number_of_steps: the step to stop at; None for no end.
      init_op, init_feed_dict, local_init_op, init_fn, ready_op: as in
        `tf.train.Supervisor`.
      summary_op: all summaries unless given; None for none.
      save_summaries_secs, save_interval_secs: between summaries, between checkpoints.
      summary_writer: that of the directory unless given.
      startup_delay_steps: the step that a task that is not chief waits for.
      saver: of all variables when None.
      sync_optimizer: a `tf.train.SyncReplicasOptimizer`, or a list of them.
      session_config: a `tf.ConfigProto`.
      session_wrapper: of the session, giving another.
      trace_every_n_steps: between two traces of a whole step.
      ignore_live_threads: whether threads that do not end are no error.

    Returns:
      The last loss; None without a step.

    Raises:
      ValueError: there is no step, a number is out of range, something should be
        written without a directory, or an optimizer is of another kind.
    """
    if train_op is None:
        raise ValueError("train_op cannot be None.")
    if logdir is None:
        _refuse_without_logdir(
            summary_op=None if is_default(summary_op) else summary_op,
            saver=saver,
            trace_every_n_steps=trace_every_n_steps,
        )
    optimizers = _optimizers(sync_optimizer, startup_delay_steps)
    _check_number(number_of_steps)
    graph = graph or get_default_graph()
    with graph.as_default():
        if global_step is None:
            global_step = training_util.get_or_create_global_step()
        saver = saver or Saver()
        with name_scope("init_ops"):
            init_op = _given_or(init_op, global_variables_initializer)
            ready_op = _given_or(ready_op, report_uninitialized_variables)
            local_init_op = _given_or(local_init_op, _local_initializer)
            ready_for_local_init_op = None
            if optimizers:
                local_init_op, ready_for_local_init_op = _sync_init_ops(
                    optimizers, local_init_op, is_chief
                )
        summary_op = _given_or(summary_op, summary.merge_all)
        if is_default(summary_writer):
            summary_writer = Supervisor.USE_DEFAULT
        tokens = optimizers if is_chief else []
        token_ops = [each.get_init_tokens_op() for each in tokens]
        token_runners = [each.get_chief_queue_runner() for each in tokens]
        if is_default(train_step_kwargs):
            train_step_kwargs = _step_arguments(
                global_step,
                number_of_steps,
                log_every_n_steps,
                trace_every_n_steps if is_chief else None,
                logdir,
            )
    supervisor = Supervisor(
        graph=graph,
        is_chief=is_chief,
        logdir=logdir,
        init_op=init_op,
        init_feed_dict=init_feed_dict,
        local_init_op=local_init_op,
        ready_for_local_init_op=ready_for_local_init_op,
        ready_op=ready_op,
        summary_op=summary_op,
        summary_writer=summary_writer,
        global_step=global_step,
        saver=saver,
        save_summaries_secs=save_summaries_secs,
        save_model_secs=save_interval_secs,
        init_fn=init_fn,
    )
    if summary_writer is not None:
        train_step_kwargs["summary_writer"] = supervisor.summary_writer
    loop = _Loop(
        supervisor,
        lambda session: train_step_fn(
            session, train_op, global_step, train_step_kwargs
        ),
        logdir,
        is_chief,
        global_step,
        min(startup_delay_steps, number_of_steps or sys.maxsize),
        session_wrapper,
        ignore_live_threads,
        token_runners,
        token_ops,
    )
    while True:
        try:
            loop.run(master, session_config)
            return loop.loss
        except errors.AbortedError:
            # A task of the cluster was lost: the next session waits until it is back.
            program_log.info("Retrying training!")


def _given_or(given: Any, make: Callable[[], Any]) -> Any:
    return make() if is_default(given) else given


def _local_initializer() -> Any:
    return group(local_variables_initializer(), tables_initializer())


def _check_number(number_of_steps: int | None) -> None:
    if number_of_steps is not None and number_of_steps <= 0:
        raise ValueError(
            "`number_of_steps` must be either None or a positive number, not "
            f"{number_of_steps}."
        )


def _refuse_without_logdir(**arguments: Any) -> None:
    for name, value in arguments.items():
        if value is not None:
            raise ValueError(f"Cannot provide {name} because logdir=None")


def _optimizers(given: Any, startup_delay_steps: int) -> list[SyncReplicasOptimizer]:
    """The optimizers that keep replicas in step, as a list."""
    if given is None:
        return []
    if startup_delay_steps > 0:
        raise ValueError(
            "startup_delay_steps must be zero when sync_optimizer is supplied."
        )
    optimizers = [given] if isinstance(given, SyncReplicasOptimizer) else list(given)
    for each in optimizers:
        if not isinstance(each, SyncReplicasOptimizer):
            raise ValueError(
                "`sync_optimizer` must be a tf.train.SyncReplicasOptimizer, not "
                f"{type(each).__name__}."
            )
    return optimizers


def _sync_init_ops(
    optimizers: list[SyncReplicasOptimizer], local_init_op: Any, is_chief: bool
) -> tuple[Any, Any]:
    """What initializes a task, and what says that it can begin to."""
    with control_dependencies([] if local_init_op is None else [local_init_op]):
        local = group(
            *[
                each.chief_init_op if is_chief else each.local_step_init_op
                for each in optimizers
            ]
        )
    return local, group(*[each.ready_for_local_init_op for each in optimizers])


def _step_arguments(
    global_step: Any,
    number_of_steps: int | None,
    log_every_n_steps: int,
    trace_every_n_steps: int | None,
    logdir: Any,
) -> dict[str, Any]:
    """The arguments of `train_step` that the numbers stand for."""
    with name_scope("train_step"):
        arguments: dict[str, Any] = {
            "should_stop": greater_equal(global_step, number_of_steps)
            if number_of_steps
            else constant(False)
        }
        if log_every_n_steps > 0:
            arguments["should_log"] = equal(mod(global_step, log_every_n_steps), 0)
        if trace_every_n_steps is not None:
            arguments["should_trace"] = equal(mod(global_step, trace_every_n_steps), 0)
            arguments["logdir"] = logdir
        return arguments
