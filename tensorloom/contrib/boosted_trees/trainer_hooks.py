"""Hooks of training: when it stops, what it trains, and what its features are worth."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.framework.graph.graph import get_default_graph
from tensorloom.ops.control_flow.builders import no_op
from tensorloom.ops.state.reference_variable import assign
from tensorloom.protos.summary_pb2 import Summary
from tensorloom.summary.writer_cache import FileWriterCache
from tensorloom.train import training_util
from tensorloom.train.hooks.session_run_hook import SessionRunArgs, SessionRunHook


def _global_step(hook: str) -> Any:
    step = training_util.get_global_step()
    if step is None:
        raise RuntimeError(f"Global step should be created to use {hook}.")
    return step


class FeatureImportanceSummarySaver(SessionRunHook):
    """Writes summaries of how often features split nodes, and what that gained.

    It reads the tensors `gbdt/feature_names`, `feature_usage_counts` and
    `feature_gains` of the graph.

    Args:
      model_dir: of the model; each feature has a folder in it.
      every_n_steps: how often summaries are written.

    Raises:
      ValueError: there is no directory.
    """

    def __init__(self, model_dir: Any, every_n_steps: int = 1) -> None:
        if model_dir is None:
            raise ValueError("model dir must be specified.")
        self._model_dir = model_dir
        self._every_n_steps = every_n_steps
        self._last_step: int | None = None

    def begin(self) -> None:
        """Finds the tensors. Raises RuntimeError without a global step."""
        graph = get_default_graph()
        self._fetches = {"global_step": _global_step(type(self).__name__)}
        for name in ("feature_names", "feature_usage_counts", "feature_gains"):
            self._fetches[name] = graph.get_tensor_by_name(f"gbdt/{name}:0")

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Reads them with the step."""
        return SessionRunArgs(self._fetches)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Writes summaries, if it is time.

        Raises:
          RuntimeError: there are not as many names as numbers.
        """
        found = run_values.results
        step = found["global_step"]
        last = self._last_step
        if last is not None and step < last + self._every_n_steps:
            return
        names = found["feature_names"]
        usages, gains = found["feature_usage_counts"], found["feature_gains"]
        if len({len(names), len(usages), len(gains)}) > 1:
            raise RuntimeError(
                "Feature names and importance measures have inconsistent lengths: "
                f"{len(names)} names, {len(usages)} usage counts, {len(gains)} gains."
            )
        self._last_step = step
        usage_share = 1.0 / (sum(usages) or 1.0)
        gain_share = 1.0 / (sum(gains) or 1.0)
        for name, usage, gain in zip(names, usages, gains, strict=True):
            folder = os.path.join(self._model_dir, name.decode("utf-8"))
            writer = FileWriterCache.get(folder)
            for tag, value in (
                ("usage_counts", usage),
                ("usage_fraction", usage * usage_share),
                ("gains", gain),
                ("gains_fraction", gain * gain_share),
            ):
                one = Summary.Value(tag=f"feature_importance/{tag}", simple_value=value)
                writer.add_summary(Summary(value=[one]), step)


class FeedFnHook(SessionRunHook):
    """Feeds what a function gives.

    Args:
      feed_fn: the feeds.
    """

    def __init__(self, feed_fn: Any) -> None:
        self.feed_fn = feed_fn

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Adds the feeds."""
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn)


class StopAfterNTrees(SessionRunHook):
    """Stops after so many trees, or after too many that could not be built.

    Args:
      n: how many trees are wanted.
      num_attempted_trees_tensor: how many were tried.
      num_finalized_trees_tensor: how many are finished.
      override_global_step_value: what the global step becomes then; None to leave it.
    """

    def __init__(
        self,
        n: int,
        num_attempted_trees_tensor: Any,
        num_finalized_trees_tensor: Any,
        override_global_step_value: int | None = None,
    ) -> None:
        self._trees = n
        self._fetches = {
            "num_attempted_trees": num_attempted_trees_tensor,
            "num_finalized_trees": num_finalized_trees_tensor,
        }
        self._new_step = override_global_step_value
        self._override: Any = None

    def begin(self) -> None:
        """Finds the global step. Raises RuntimeError without one."""
        step = training_util.get_global_step()
        if step is None:
            raise RuntimeError("Global step should be created.")
        if self._new_step is not None:
            self._override = assign(step, self._new_step)

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Reads the numbers of trees."""
        return SessionRunArgs(self._fetches)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Asks for a stop when there are enough."""
        finished = run_values.results["num_finalized_trees"]
        attempted = run_values.results["num_attempted_trees"]
        if finished < self._trees and attempted <= 2 * self._trees:
            return
        program_log.info("Requesting stop since we have reached %d trees.", finished)
        if self._override is not None:
            program_log.info("Overriding global steps value.")
            run_context.session.run(self._override)
        run_context.request_stop()


class SwitchTrainOp(SessionRunHook):
    """Runs one training operation for so many steps, then another.

    Args:
      first_train_op: runs first.
      train_steps: so many steps.
      second_train_op: runs then.
    """

    def __init__(
        self, first_train_op: Any, train_steps: int, second_train_op: Any
    ) -> None:
        self._choose: Callable[[int], Any] = lambda step: (
            first_train_op if step < train_steps else second_train_op
        )

    def begin(self) -> None:
        """Finds the global step; the first step trains nothing, as its number is not
        known. Raises RuntimeError without a global step.
        """
        self._step = _global_step(type(self).__name__)
        self._train_op: Any = no_op()

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Adds the operation."""
        return SessionRunArgs({"global_step": self._step, "train_op": self._train_op})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Chooses that of the next step."""
        self._train_op = self._choose(run_values.results["global_step"])
