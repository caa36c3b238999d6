"""`tf.train.StopAtStepHook`: the end of training at a global step."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.variable_scope import get_variable, variable_scope
from tensorloom.client.variables.variable_store import AUTO_REUSE
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import GraphKeys, get_default_graph
from tensorloom.framework.types import dtypes
from tensorloom.ops.state import initializers as init_ops
from tensorloom.train import training_util
from tensorloom.train.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)

_HOOKS = "hooks"
_STEPS_PER_RUN_VAR = "steps_per_run"


def _check_limits(num_steps: int | None, last_step: int | None) -> None:
    if num_steps is None and last_step is None:
        raise ValueError("One of num_steps or last_step must be specified.")
    if num_steps is not None and last_step is not None:
        raise ValueError("Only one of num_steps or last_step can be specified.")


@export("train.StopAtStepHook", "estimator.StopAtStepHook")
class StopAtStepHook(SessionRunHook):
    """Ends the training after so many steps, or at a global step.

    Args:
      num_steps: how many steps from where the session begins.
      last_step: the global step to stop at.

    Raises:
      ValueError: not exactly one of them.
    """

    def __init__(
        self, num_steps: int | None = None, last_step: int | None = None
    ) -> None:
        _check_limits(num_steps, last_step)
        self._num_steps = num_steps
        self._last_step = last_step

    def begin(self) -> None:
        """Finds the global step.

        Raises:
          RuntimeError: the graph has none.
        """
        self._global_step_tensor = training_util._global_step_read_for("StopAtStepHook")
        self._args = SessionRunArgs(self._global_step_tensor)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Counts from the step of the first session."""
        if self._last_step is None:
            assert self._num_steps is not None
            self._last_step = session.run(self._global_step_tensor) + self._num_steps

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the global step."""
        return self._args

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Requests the stop when the step is reached."""
        assert self._last_step is not None
        if run_values.results + 1 < self._last_step:
            return
        # What the step read may be from before or after its own update.
        step = run_context.session.run(self._global_step_tensor)
        if step >= self._last_step:
            run_context.request_stop()


def get_or_create_steps_per_run_variable() -> Any:
    """The variable that says how many steps one run makes, for loops in the graph.

    Raises:
      RuntimeError: there are several.
    """
    collection = f"{_HOOKS}_{_STEPS_PER_RUN_VAR}"
    found = get_default_graph().get_collection(collection)
    if len(found) > 1:
        raise RuntimeError("Multiple steps_per_run_var in collection.")
    if found:
        return found[0]
    with variable_scope(_HOOKS, reuse=AUTO_REUSE):
        return get_variable(
            _STEPS_PER_RUN_VAR,
            initializer=init_ops.Ones(),
            shape=[],
            dtype=dtypes.int32,
            trainable=False,
            collections=[collection, GraphKeys.LOCAL_VARIABLES],
            use_resource=True,
        )


class _MultiStepStopAtStepHook(SessionRunHook):
    """`StopAtStepHook` for runs that make several steps each."""

    def __init__(
        self,
        num_steps: int | None = None,
        last_step: int | None = None,
        steps_per_run: int = 1,
    ) -> None:
        _check_limits(num_steps, last_step)
        if steps_per_run is None or steps_per_run < 1:
            raise ValueError("steps_per_run should be greater than 0")
        self._num_steps = num_steps
        self._last_step = last_step
        self._steps_per_run_initial_value = steps_per_run

    def begin(self) -> None:
        """Finds the global step.

        Raises:
          RuntimeError: the graph has none.
        """
        self._global_step_tensor = training_util.get_global_step()
        if self._global_step_tensor is None:
            raise RuntimeError("Global step should be created to use StopAtStepHook.")
        self._steps_per_run_variable = get_or_create_steps_per_run_variable()

    def _set_steps_of_next_run(self, global_step: int, session: Any) -> None:
        assert self._last_step is not None
        steps = min(self._last_step - global_step, self._steps_per_run_initial_value)
        self._steps_per_run_variable.load(steps, session=session)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Counts from the step of the first session."""
        step = session.run(self._global_step_tensor)
        if self._last_step is None:
            self._last_step = step + self._num_steps
        self._set_steps_of_next_run(step, session)

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Requests the stop, or says how many steps the next run makes."""
        step = run_context.session.run(self._global_step_tensor)
        if step >= self._last_step:
            run_context.request_stop()
        else:
            self._set_steps_of_next_run(step, run_context.session)
