"""`tf.train.LoggingTensorHook`: values of tensors in the log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from tensorloom.client.program import program_log
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import get_default_graph
from tensorloom.train.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tensorloom.train.hooks.timers import (
    NeverTriggerTimer,
    SecondOrStepTimer,
    _HookTimer,
)


@export("train.LoggingTensorHook", "estimator.LoggingTensorHook")
class LoggingTensorHook(SessionRunHook):
    """Logs values every so many steps or seconds, at level INFO.

    Args:
      tensors: dict of tag to tensor or name, or a list of them.
      every_n_iter: steps of this session between two lines.
      every_n_secs: seconds between two lines.
      at_end: a line at the end, too.
      formatter: makes the line of the dict of tag to value.

    Raises:
      ValueError: not exactly one of `every_n_iter` and `every_n_secs`, unless only
        `at_end`; or `every_n_iter` is not positive.
    """

    def __init__(
        self,
        tensors: Mapping[str, Any] | Iterable[Any],
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
        at_end: bool = False,
        formatter: Callable[[dict[Any, Any]], str] | None = None,
    ) -> None:
        at_end_only = at_end and every_n_iter is None and every_n_secs is None
        if not at_end_only and (every_n_iter is None) == (every_n_secs is None):
            raise ValueError(
                "either at_end and/or exactly one of every_n_iter and every_n_secs "
                "must be provided."
            )
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if isinstance(tensors, dict):
            self._tag_order: list[Any] = sorted(tensors)
            self._tensors: dict[Any, Any] = tensors
        else:
            self._tag_order = list(tensors)
            self._tensors = {item: item for item in self._tag_order}
        self._formatter = formatter
        self._timer: _HookTimer = (
            NeverTriggerTimer()
            if at_end_only
            else SecondOrStepTimer(every_secs=every_n_secs, every_steps=every_n_iter)
        )
        self._log_at_end = at_end

    def begin(self) -> None:
        """Finds the tensors in the graph.

        Raises:
          ValueError: one is not of this graph, or its name is ambiguous.
          KeyError: there is none of that name.
        """
        self._timer.reset()
        self._iter_count = 0
        self._current_tensors = {
            tag: _as_graph_element(tensor) for tag, tensor in self._tensors.items()
        }

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Asks for the values when it is time."""
        self._should_trigger = self._timer.should_trigger_for_step(self._iter_count)
        return SessionRunArgs(self._current_tensors) if self._should_trigger else None

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Logs what was asked for."""
        if self._should_trigger:
            self._log_tensors(run_values.results)
        self._iter_count += 1

    def end(self, session: Any) -> None:
        """Logs the last values, if asked to."""
        if self._log_at_end:
            self._log_tensors(session.run(self._current_tensors))

    def _log_tensors(self, values: dict[Any, Any]) -> None:
        seconds, _ = self._timer.update_last_triggered_step(self._iter_count)
        with np.printoptions(suppress=True):
            if self._formatter:
                program_log.info(self._formatter(values))
                return
            line = ", ".join(f"{tag} = {values[tag]!s}" for tag in self._tag_order)
        if seconds is None:
            program_log.info("%s", line)
        else:
            program_log.info("%s (%.3f sec)", line, seconds)


def _as_graph_element(obj: Any) -> Any:
    """The tensor that an object or a name stands for.

    Raises:
      ValueError: it is of another graph, or the name of an operation with several
        outputs.
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
    element = graph.as_graph_element(obj + ":0")
    if len(element.op.outputs) > 1:
        raise ValueError(
            f"Name {obj} is ambiguous, as this `Operation` has multiple outputs "
            f"(at least 2): say {obj}:0 for the first."
        )
    return element
