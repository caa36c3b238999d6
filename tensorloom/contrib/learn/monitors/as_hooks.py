"""Monitors as hooks of a session."""

from __future__ import annotations

import inspect
from typing import Any

from tensorloom.contrib.learn.monitors.seen_tensors import PrintTensor
from tensorloom.contrib.learn.monitors.writing import SummarySaver
from tensorloom.framework.export import export, export_value
from tensorloom.framework.graph.graph import get_default_graph
from tensorloom.protos.event_pb2 import SessionLog
from tensorloom.protos.summary_pb2 import Summary
from tensorloom.train import training_util
from tensorloom.train.hooks.session_run_hook import SessionRunArgs, SessionRunHook

# TensorFlow's module has what it imports; programs may use that.
export_value(SessionLog, "contrib.learn.monitors.SessionLog")
export_value(Summary, "contrib.learn.monitors.Summary")


@export("contrib.learn.monitors.get_default_monitors")
def get_default_monitors(
    loss_op: Any = None,
    summary_op: Any = None,
    save_summary_steps: int = 100,
    output_dir: Any = None,
    summary_writer: Any = None,
) -> list[Any]:
    """Monitors that log the loss and write summaries.

    Args:
      loss_op: the loss; not logged when None.
      summary_op: serialized summaries; not written when None.
      save_summary_steps: how many steps apart.
      output_dir: where to.
      summary_writer: writes them.
    """
    monitors: list[Any] = []
    if loss_op is not None:
        monitors.append(PrintTensor(tensor_names={"loss": loss_op.name}))
    if summary_op is not None:
        monitors.append(
            SummarySaver(
                summary_op,
                save_steps=save_summary_steps,
                output_dir=output_dir,
                summary_writer=summary_writer,
            )
        )
    return monitors


@export("contrib.learn.monitors.RunHookAdapterForMonitors")
class RunHookAdapterForMonitors(SessionRunHook):
    """A hook that calls monitors.

    Args:
      monitors: `BaseMonitor`s.
    """

    def __init__(self, monitors: list[Any]) -> None:
        self._monitors = monitors

    def begin(self) -> None:
        """Training begins."""
        self._last_step: int | None = None
        self._global_step_tensor = training_util.get_global_step()
        for monitor in self._monitors:
            monitor.begin(max_steps=None)

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Asks for what the monitors want to see.

        Raises:
          ValueError: a monitor asks by something that is no list.
        """
        if self._last_step is None:
            step = run_context.session.run(self._global_step_tensor)
            self._last_step = int(step) + 1
        request: dict[Any, Any] = {self._global_step_tensor: self._global_step_tensor}
        wanted: list[Any] = []
        for monitor in self._monitors:
            asked = monitor.step_begin(self._last_step)
            if asked and not isinstance(asked, list):
                raise ValueError("Monitor.step_begin should return a list.")
            wanted += asked or []
        if wanted:
            request["monitors"] = {one: as_graph_element(one) for one in wanted}
        return SessionRunArgs(request)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Shows it to them; training stops if one says so."""
        results = run_values.results
        seen = results.get("monitors", {})
        for monitor in self._monitors:
            if monitor.step_end(self._last_step, seen):
                run_context.request_stop()
        for monitor in self._monitors:
            monitor.post_step(self._last_step, run_context.session)
        self._last_step = int(results[self._global_step_tensor]) + 1

    def end(self, session: Any) -> None:
        """Training ends."""
        self._last_step = None
        for monitor in self._monitors:
            # Programs' own monitors may take no session.
            if "session" in inspect.getfullargspec(monitor.end).args:
                monitor.end(session=session)
            else:
                monitor.end()


@export("contrib.learn.monitors.replace_monitors_with_hooks")
def replace_monitors_with_hooks(monitors_or_hooks: Any, estimator: Any) -> list[Any]:
    """Hooks for a mixed list: all monitors become one hook.

    Args:
      monitors_or_hooks: `BaseMonitor`s and `SessionRunHook`s, or None. A worker that is
        not the chief has only those monitors that run on all workers.
      estimator: the model that is trained.
    """
    given = list(monitors_or_hooks or [])
    hooks = [one for one in given if isinstance(one, SessionRunHook)]
    monitors = [one for one in given if not isinstance(one, SessionRunHook)]
    if not estimator.config.is_chief:
        monitors = [one for one in monitors if one.run_on_all_workers]
    for monitor in monitors:
        monitor.set_estimator(estimator)
    if monitors:
        hooks.append(RunHookAdapterForMonitors(monitors))
    return hooks


def as_graph_element(obj: Any) -> Any:
    """What the graph has under a name; a tensor or operation as it is.

    Raises:
      ValueError: it is of another graph, or names an operation of several outputs.
    """
    graph = get_default_graph()
    if not isinstance(obj, str):
        if getattr(obj, "graph", None) is not graph:
            raise ValueError(
                f"Passed {obj} should have graph attribute that is equal to current "
                f"graph {graph}."
            )
        return obj
    if ":" in obj:
        return graph.as_graph_element(obj)
    element = graph.as_graph_element(f"{obj}:0")
    if len(element.op.outputs) > 1:
        raise ValueError(
            f"Name {obj} is ambiguous, as this `Operation` has multiple outputs (at "
            "least 2)."
        )
    return element
