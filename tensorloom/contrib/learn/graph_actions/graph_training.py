"""`tf.contrib.learn.train`: trains a graph under a supervisor."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tensorloom.client.program import program_log
from tensorloom.contrib.framework.graph_queries import assert_or_get_global_step
from tensorloom.contrib.learn.graph_actions.graph_running import (
    get_summary_writer,
    make_saver,
)
from tensorloom.contrib.learn.monitors.as_hooks import get_default_monitors
from tensorloom.contrib.learn.monitors.seen_tensors import NanLossDuringTrainingError
from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Graph,
    GraphKeys,
    Tensor,
    add_to_collection,
    get_collection,
)
from tensorloom.summary import summary
from tensorloom.train.checkpoints.checkpoint_utils import load_variable
from tensorloom.train.sessions.supervisor import Supervisor


@export("contrib.learn.train", "contrib.learn.graph_actions.train")
def train(
    graph: Graph,
    output_dir: Any,
    train_op: Any,
    loss_op: Any,
    global_step_tensor: Any = None,
    init_op: Any = None,
    init_feed_dict: Any = None,
    init_fn: Callable[[Any], Any] | None = None,
    log_every_steps: int = 10,
    supervisor_is_chief: bool = True,
    supervisor_master: str = "",
    supervisor_save_model_secs: float = 600,
    keep_checkpoint_max: int | None = 5,
    supervisor_save_summaries_steps: int = 100,
    feed_fn: Callable[[], Any] | None = None,
    steps: int | None = None,
    fail_on_nan_loss: bool = True,
    monitors: Any = None,
    max_steps: int | None = None,
) -> Any:
    """Trains a graph, from the latest checkpoint on; gives the last loss.

    Args:
      graph: the graph.
      output_dir: where checkpoints and events go.
      train_op: does a step.
      loss_op: the loss.
      global_step_tensor: the global step; the graph's when None.
      init_op: initializes variables; all when None.
      init_feed_dict: feeds of it.
      init_fn: called with the session after that.
      log_every_steps: how many steps apart the loss is logged.
      supervisor_is_chief: whether this task initializes and saves.
      supervisor_master: the target of the session.
      supervisor_save_model_secs: checkpoints are written every so many seconds.
      keep_checkpoint_max: how many stay.
      supervisor_save_summaries_steps: summaries are written every so many steps.
      feed_fn: gives feeds for each step; StopIteration ends training.
      steps: how many steps more; until the input ends when None.
      fail_on_nan_loss: whether a loss of NaN is an error.
      monitors: monitors; some that log and write summaries when None.
      max_steps: or up to which step.

    Raises:
      ValueError: both numbers of steps are given, or something is missing.
      NanLossDuringTrainingError: the loss is NaN.
    """
    if steps is not None and max_steps is not None:
        raise ValueError("Can not provide both steps and max_steps.")
    if not output_dir:
        raise ValueError(f"Output directory should be non-empty {output_dir}.")
    if train_op is None:
        raise ValueError("Missing train_op.")
    if loss_op is None:
        raise ValueError("Missing loss_op.")
    while True:
        with graph.as_default():
            step_tensor = assert_or_get_global_step(graph, global_step_tensor)
            if step_tensor is None:
                raise ValueError('No "global_step" was provided or found in the graph.')
            writer = get_summary_writer(output_dir) if supervisor_is_chief else None
            watching = _monitors(
                monitors,
                supervisor_is_chief,
                loss_op,
                supervisor_save_summaries_steps,
                writer,
            )
            last = max_steps
            if last is None and steps:
                last = _steps_done(output_dir, step_tensor) + steps
            for monitor in watching:
                monitor.begin(max_steps=last)
        supervisor = Supervisor(
            graph,
            init_op=init_op or Supervisor.USE_DEFAULT,
            init_feed_dict=init_feed_dict,
            is_chief=supervisor_is_chief,
            logdir=output_dir,
            saver=make_saver(graph, keep_checkpoint_max),
            global_step=step_tensor,
            summary_op=None,
            summary_writer=writer,
            save_model_secs=supervisor_save_model_secs,
            init_fn=init_fn,
        )
        loop = _Loop(
            supervisor,
            [train_op, loss_op],
            step_tensor,
            last,
            feed_fn,
            watching,
            log_every_steps,
            fail_on_nan_loss,
            supervisor_is_chief,
        )
        try:
            return loop.run(supervisor_master)
        except errors.AbortedError:
            program_log.warning("Training got Aborted error. Keep training.")


def _steps_done(output_dir: Any, global_step_tensor: Any) -> int:
    try:
        return int(load_variable(output_dir, global_step_tensor.op.name))
    except (errors.NotFoundError, ValueError):
        return 0


def _summary_op() -> Any:
    """The graph's summaries, merged."""
    found = get_collection(GraphKeys.SUMMARY_OP)
    if found:
        return found[0]
    merged = summary.merge_all()
    if merged is not None:
        add_to_collection(GraphKeys.SUMMARY_OP, merged)
    return merged


def _monitors(
    monitors: Any, is_chief: bool, loss: Any, summary_steps: int, writer: Any
) -> list[Any]:
    if not monitors:
        if not is_chief:
            return []
        return get_default_monitors(
            loss_op=loss,
            summary_op=_summary_op(),
            save_summary_steps=summary_steps,
            summary_writer=writer,
        )
    return [one for one in monitors if is_chief or one.run_on_all_workers]


@dataclass
class _Loop:
    """Steps of training."""

    supervisor: Supervisor
    # What a step runs: the train op and the loss.
    fetches: list[Any]
    global_step: Any
    max_steps: int | None
    feed_fn: Callable[[], Any] | None
    monitors: list[Any]
    log_every_steps: int
    fail_on_nan_loss: bool
    is_chief: bool
    loss: Any = None

    def run(self, master: str) -> Any:
        """Trains in one session; gives the last loss."""
        supervisor = self.supervisor
        session = supervisor.PrepareSession(master=master, start_standard_services=True)
        supervisor.StartQueueRunners(session)
        with session:
            failed = False
            try:
                self._steps(session)
            except errors.OutOfRangeError as error:
                program_log.warning(
                    "Got exception during tf.learn training loop possibly due to "
                    "exhausted input queue %s.",
                    error,
                )
            except StopIteration:
                program_log.info("Exhausted input iterarator.")
            except BaseException:
                failed = True
                raise
            finally:
                self._end(session, failed)
        return self.loss

    def _steps(self, session: Any) -> None:
        last = logged = session.run(self.global_step)
        end = "inf" if self.max_steps is None else self.max_steps
        program_log.info("Training steps [%d,%s)", last, end)
        while not self.supervisor.ShouldStop() and (
            self.max_steps is None or last < self.max_steps
        ):
            start = time.time()
            if self._step(session, last + 1):
                return
            step = session.run(self.global_step)
            if step <= last:
                program_log.error(
                    "Global step was not incremented by train op at step %s: new step "
                    "%d",
                    last,
                    step,
                )
            last = step
            is_last = self.max_steps is not None and last >= self.max_steps
            if is_last or last - logged >= self.log_every_steps:
                program_log.info(
                    "training step %d, loss = %.5f (%.3f sec/batch).",
                    last,
                    self.loss,
                    time.time() - start,
                )
                logged = last

    def _step(self, session: Any, step: int) -> bool:
        """Runs a step; gives whether a monitor wants to stop."""
        feeds = self.feed_fn() if self.feed_fn is not None else None
        outputs, stop = run_with_monitors(
            session, step, list(self.fetches), feeds, self.monitors
        )
        self.loss = outputs[self.fetches[1].name]
        if np.isnan(self.loss):
            message = "Model diverged with loss = NaN."
            if self.fail_on_nan_loss:
                program_log.error(message)
                raise NanLossDuringTrainingError()
            program_log.warning(message)
        return stop

    def _end(self, session: Any, failed: bool) -> None:
        """Saves a last checkpoint. Its errors do not hide one of training."""
        supervisor = self.supervisor
        try:
            supervisor.Stop(close_summary_writer=False)
            step = session.run(self.global_step)
            if self.is_chief:
                path = supervisor.save_path
                program_log.info(
                    "Saving checkpoint for step %d to checkpoint: %s.", step, path
                )
                supervisor.saver.save(session, path, global_step=step)
                for monitor in self.monitors:
                    monitor.end()
        except errors.OutOfRangeError as error:
            program_log.warning(
                "OutOfRangeError in tf.learn final checkpoint possibly due to "
                "exhausted input queue. Note: summary_op is not expected to trigger "
                "dequeues. %s.",
                error,
            )
        except Exception as error:
            if not failed:
                raise
            program_log.error(
                "Got exception during tf.learn final checkpoint %s.", error
            )


def run_with_monitors(
    session: Any, step: int, tensors: list[Any], feed_dict: Any, monitors: list[Any]
) -> tuple[dict[Any, Any], bool]:
    """Runs tensors and what monitors ask for.

    Returns:
      The values by names, and whether a monitor wants to stop.
    """
    for monitor in monitors:
        tensors += monitor.step_begin(step)
    tensors = list(dict.fromkeys(tensors))
    values = session.run(tensors, feed_dict=feed_dict)
    names = (one.name if isinstance(one, Tensor) else one for one in tensors)
    outputs = dict(zip(names, values, strict=True))
    stops = [monitor.step_end(step, outputs) for monitor in monitors]
    return outputs, any(stops)
