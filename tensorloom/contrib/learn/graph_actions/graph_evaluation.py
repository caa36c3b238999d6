"""`tf.contrib.learn.evaluate`: metrics of a graph, from a checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tensorloom.client.program import program_log
from tensorloom.client.variables.variable_lists import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
    tables_initializer,
)
from tensorloom.contrib.framework.graph_queries import assert_or_get_global_step
from tensorloom.contrib.learn.graph_actions.graph_running import (
    get_summary_writer,
    restore,
)
from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Graph,
    GraphKeys,
    add_to_collection,
    get_collection,
)
from tensorloom.ops.control_flow.builders import group
from tensorloom.train.checkpoints.saver import Saver
from tensorloom.train.inputs.coordinator import Coordinator
from tensorloom.train.inputs.queue_runner import start_queue_runners
from tensorloom.train.sessions.session_manager import SessionManager


def _first(collection: str, make: Callable[[], Any] | None = None) -> Any:
    """The first of a collection; what is made otherwise is added to it."""
    found = get_collection(collection)
    if found:
        return found[0]
    made = make() if make else None
    if made is not None:
        add_to_collection(collection, made)
    return made


def _as_text(results: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in sorted(results.items()))


def _write_summary_results(
    output_dir: Any, eval_results: Mapping[str, Any], current_global_step: int
) -> None:
    from tensorloom.protos.summary_pb2 import Summary

    program_log.info(
        "Saving evaluation summary for step %d: %s",
        current_global_step,
        _as_text(eval_results),
    )
    message = Summary()
    for key, value in eval_results.items():
        if value is None:
            continue
        entry = message.value.add(tag=key)
        if isinstance(value, np.float32 | float):
            entry.simple_value = float(value)
        else:
            program_log.warning(
                "Skipping summary for %s, must be a float or np.float32.", key
            )
    writer = get_summary_writer(output_dir)
    writer.add_summary(message, current_global_step)
    writer.flush()


@export("contrib.learn.evaluate", "contrib.learn.graph_actions.evaluate")
def evaluate(
    graph: Graph,
    output_dir: Any,
    checkpoint_path: Any,
    eval_dict: dict[str, Any],
    update_op: Any = None,
    global_step_tensor: Any = None,
    supervisor_master: str = "",
    log_every_steps: int = 10,
    feed_fn: Callable[[], Any] | None = None,
    max_steps: int | None = None,
) -> tuple[Any, int]:
    """Evaluates a graph; gives the metrics by their names, and the global step.

    Args:
      graph: the graph.
      output_dir: where summaries of the metrics go.
      checkpoint_path: the checkpoint, or its directory; initial values when None.
      eval_dict: tensors of metrics by their names.
      update_op: runs at each step; without it the metrics do.
      global_step_tensor: the global step; the graph's when None.
      supervisor_master: the target of the session.
      log_every_steps: how many steps apart metrics are logged.
      feed_fn: gives feeds for each step.
      max_steps: how many steps; until the input ends when None.

    Raises:
      ValueError: there is no directory.
    """
    if not output_dir:
        raise ValueError(f"Output directory should be non-empty {output_dir}.")
    with graph.as_default():
        global_step_tensor = assert_or_get_global_step(graph, global_step_tensor)
        saver = _first(
            GraphKeys.SAVERS, lambda: Saver() if global_variables() else None
        )
        manager = SessionManager(
            local_init_op=_first(
                GraphKeys.LOCAL_INIT_OP,
                lambda: group(local_variables_initializer(), tables_initializer()),
            ),
            ready_for_local_init_op=_first(GraphKeys.READY_FOR_LOCAL_INIT_OP),
            ready_op=_first(GraphKeys.READY_OP, report_uninitialized_variables),
        )
        session, initialized = manager.recover_session(
            master=supervisor_master, saver=saver, checkpoint_dir=checkpoint_path
        )
        coordinator = Coordinator()
        threads = start_queue_runners(session, coordinator)
    with session:
        if not initialized:
            program_log.warning("Failed to initialize from %s.", checkpoint_path)
            with graph.as_default():
                session.run(global_variables_initializer())
            if checkpoint_path:
                restore(session, graph, checkpoint_path, saver)
        step = session.run(global_step_tensor)
        program_log.info(
            "Eval steps [0,%s) for training step %d.",
            "inf" if max_steps is None else max_steps,
            step,
        )
        loop = _Loop(session, eval_dict, update_op, feed_fn, log_every_steps)
        try:
            try:
                loop.run(max_steps)
            finally:
                loop.finish()
                session.close()
                _stop(coordinator, threads)
        except (errors.OutOfRangeError, StopIteration) as error:
            what = "iterator" if isinstance(error, StopIteration) else "queue"
            if max_steps is None:
                program_log.info("Input %s is exhausted.", what)
            else:
                program_log.warning("Input %s is exhausted: %s.", what, error)
    _write_summary_results(output_dir, loop.results, step)
    return loop.results, step


def _stop(coordinator: Coordinator, threads: Any) -> None:
    try:
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=120)
    except (RuntimeError, errors.CancelledError) as error:
        program_log.warning("Coordinator didn't stop cleanly: %s", error)


class _Loop:
    """Steps of an evaluation, and the metrics after the last one."""

    def __init__(
        self,
        session: Any,
        metrics: dict[str, Any],
        update_op: Any,
        feed_fn: Callable[[], Any] | None,
        log_every_steps: int,
    ) -> None:
        self._session = session
        self._metrics = metrics
        self._update_op = update_op
        self._feed_fn = feed_fn
        self._log_every_steps = log_every_steps
        self._feeds: Any = None
        self._step = 0
        # The step after which the metrics were read.
        self._read_at: int | None = None
        self.results: Any = None

    def run(self, max_steps: int | None) -> None:
        """Runs steps until an error says that the input is over."""
        while max_steps is None or self._step < max_steps:
            self._step += 1
            start = time.time()
            self._feeds = self._feed_fn() if self._feed_fn is not None else None
            if self._update_op is not None:
                self._session.run(self._update_op, feed_dict=self._feeds)
            else:
                self._read()
            if self._step % self._log_every_steps == 0:
                self.finish()
                program_log.info(
                    "Results after %d steps (%.3f sec/batch): %s.",
                    self._step,
                    time.time() - start,
                    _as_text(self.results),
                )

    def finish(self) -> None:
        """Reads the metrics, unless that was done after this step."""
        if self._read_at != self._step or self.results is None:
            self._read()

    def _read(self) -> None:
        self.results = self._session.run(self._metrics, feed_dict=self._feeds)
        self._read_at = self._step
