"""`tf.estimator.experimental.stop_if_*_hook`: trainings that end by their metrics."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.client.variables.variable_scope import get_variable, variable_scope
from tensorloom.client.variables.variable_store import AUTO_REUSE
from tensorloom.estimator.estimator import Estimator
from tensorloom.estimator.result_events import read_eval_metrics
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import GraphKeys
from tensorloom.framework.types import dtypes
from tensorloom.ops.state import initializers
from tensorloom.ops.state.reference_variable import assign
from tensorloom.train import training_util
from tensorloom.train.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tensorloom.train.hooks.timers import SecondOrStepTimer


@export("estimator.experimental.make_early_stopping_hook")
def make_early_stopping_hook(
    estimator: Estimator,
    should_stop_fn: Callable[[], bool],
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Makes a hook that ends the training of all tasks when a function says so.

    The chief asks the function; workers see its answer in a variable.

    Args:
      estimator: the model that is trained.
      should_stop_fn: whether to stop.
      run_every_secs: seconds between two questions.
      run_every_steps: or steps; then `run_every_secs` must be None.

    Raises:
      TypeError: an argument is of another kind.
      ValueError: both intervals are set.
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(
            "`estimator` must have type `tf.estimator.Estimator`. Got: "
            f"{type(estimator)}"
        )
    if run_every_secs is not None and run_every_steps is not None:
        raise ValueError(
            "Only one of `run_every_secs` and `run_every_steps` must be set."
        )
    if estimator.config.is_chief:
        return StopOnPredicateHook(should_stop_fn, run_every_secs, run_every_steps)
    return CheckForStoppingHook()


@export("estimator.experimental.stop_if_higher_hook")
def stop_if_higher_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: Any = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Makes a hook that ends the training when a metric is above a threshold.

    Args:
      estimator: the model that is trained.
      metric_name: the metric, such as `accuracy`.
      threshold: what it must exceed.
      eval_dir: where evaluations write their events; the model's when None.
      min_steps: evaluations before this step do not count.
      run_every_secs: seconds between two looks.
      run_every_steps: or steps; then `run_every_secs` must be None.
    """
    should_stop = _threshold_check(
        estimator, metric_name, threshold, True, eval_dir, min_steps
    )
    return make_early_stopping_hook(
        estimator, should_stop, run_every_secs, run_every_steps
    )


@export("estimator.experimental.stop_if_lower_hook")
def stop_if_lower_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: Any = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Makes a hook that ends the training when a metric is below a threshold.

    Args:
      estimator: the model that is trained.
      metric_name: the metric, such as `loss`.
      threshold: what it must fall below.
      eval_dir: where evaluations write their events; the model's when None.
      min_steps: evaluations before this step do not count.
      run_every_secs: seconds between two looks.
      run_every_steps: or steps; then `run_every_secs` must be None.
    """
    should_stop = _threshold_check(
        estimator, metric_name, threshold, False, eval_dir, min_steps
    )
    return make_early_stopping_hook(
        estimator, should_stop, run_every_secs, run_every_steps
    )


@export("estimator.experimental.stop_if_no_increase_hook")
def stop_if_no_increase_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_increase: int,
    eval_dir: Any = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Makes a hook that ends the training when a metric does not grow any more.

    Args:
      estimator: the model that is trained.
      metric_name: the metric, such as `accuracy`.
      max_steps_without_increase: how many steps its best value may be old.
      eval_dir: where evaluations write their events; the model's when None.
      min_steps: evaluations before this step do not count.
      run_every_secs: seconds between two looks.
      run_every_steps: or steps; then `run_every_secs` must be None.
    """
    should_stop = _improvement_check(
        estimator, metric_name, max_steps_without_increase, True, eval_dir, min_steps
    )
    return make_early_stopping_hook(
        estimator, should_stop, run_every_secs, run_every_steps
    )


@export("estimator.experimental.stop_if_no_decrease_hook")
def stop_if_no_decrease_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_decrease: int,
    eval_dir: Any = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Makes a hook that ends the training when a metric does not fall any more.

    Args:
      estimator: the model that is trained.
      metric_name: the metric, such as `loss`.
      max_steps_without_decrease: how many steps its best value may be old.
      eval_dir: where evaluations write their events; the model's when None.
      min_steps: evaluations before this step do not count.
      run_every_secs: seconds between two looks.
      run_every_steps: or steps; then `run_every_secs` must be None.
    """
    should_stop = _improvement_check(
        estimator, metric_name, max_steps_without_decrease, False, eval_dir, min_steps
    )
    return make_early_stopping_hook(
        estimator, should_stop, run_every_secs, run_every_steps
    )


def _threshold_check(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    higher_is_better: bool,
    eval_dir: Any,
    min_steps: int,
) -> Callable[[], bool]:
    """Whether any evaluation is beyond a threshold."""
    directory = estimator.eval_dir() if eval_dir is None else eval_dir
    is_beyond = operator.gt if higher_is_better else operator.lt

    def crossed() -> bool:
        for step, metrics in read_eval_metrics(directory).items():
            if step >= min_steps and is_beyond(metrics[metric_name], threshold):
                program_log.info(
                    'At step %s, metric "%s" has value %s which is %s the configured '
                    "threshold (%s) for early stopping.",
                    step,
                    metric_name,
                    metrics[metric_name],
                    "greater than" if higher_is_better else "less than",
                    threshold,
                )
                return True
        return False

    return crossed


def _improvement_check(
    estimator: Estimator,
    metric_name: str,
    max_steps: int,
    higher_is_better: bool,
    eval_dir: Any,
    min_steps: int,
) -> Callable[[], bool]:
    """Whether the best evaluation is older than so many steps."""
    directory = estimator.eval_dir() if eval_dir is None else eval_dir
    is_better = operator.gt if higher_is_better else operator.lt

    def stalled() -> bool:
        best = None
        best_step = 0
        for step, metrics in read_eval_metrics(directory).items():
            if step < min_steps:
                continue
            value = metrics[metric_name]
            if best is None or is_better(value, best):
                best, best_step = value, step
            if step - best_step >= max_steps:
                program_log.info(
                    'No %s in metric "%s" for %s steps, which is greater than or equal '
                    "to max steps (%s) configured for early stopping.",
                    "increase" if higher_is_better else "decrease",
                    metric_name,
                    step - best_step,
                    max_steps,
                )
                return True
        return False

    return stalled


def _stop_variable() -> Any:
    """The variable by which the chief tells workers to stop."""
    with variable_scope("signal_early_stopping", reuse=AUTO_REUSE):
        return get_variable(
            "STOP",
            shape=[],
            dtype=dtypes.bool,
            initializer=initializers.Constant(False),
            collections=[GraphKeys.GLOBAL_VARIABLES],
            trainable=False,
        )


class StopOnPredicateHook(SessionRunHook):
    """Asks a function from time to time; if it says so, all tasks stop."""

    def __init__(
        self,
        should_stop_fn: Callable[[], bool],
        run_every_secs: float | None = 60,
        run_every_steps: int | None = None,
    ) -> None:
        if not callable(should_stop_fn):
            raise TypeError(f"`should_stop_fn` must be callable. Got {should_stop_fn}")
        self._should_stop_fn = should_stop_fn
        self._timer = SecondOrStepTimer(
            every_secs=run_every_secs, every_steps=run_every_steps
        )
        self._global_step_tensor: Any = None
        self._stop_var: Any = None
        self._stop_op: Any = None

    def begin(self) -> None:
        """Makes the variable that workers read."""
        self._global_step_tensor = training_util.get_global_step()
        self._stop_var = _stop_variable()
        self._stop_op = assign(self._stop_var, True)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the step."""
        return SessionRunArgs(self._global_step_tensor)

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Asks the function if it is time."""
        step = run_values.results
        if not self._timer.should_trigger_for_step(step):
            return
        self._timer.update_last_triggered_step(step)
        if self._should_stop_fn():
            program_log.info("Requesting early stopping at global step %d", step)
            run_context.session.run(self._stop_op)
            run_context.request_stop()


class CheckForStoppingHook(SessionRunHook):
    """Stops when the chief says so."""

    def __init__(self) -> None:
        self._stop_var: Any = None

    def begin(self) -> None:
        """Makes the variable that the chief sets."""
        self._stop_var = _stop_variable()

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for it."""
        return SessionRunArgs(self._stop_var)

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Stops if it is set."""
        if run_values.results:
            program_log.info("Early stopping requested, suspending run.")
            run_context.request_stop()
