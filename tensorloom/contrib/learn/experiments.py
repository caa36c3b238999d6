"""`tf.contrib.learn.Experiment`: a model with its data, to be trained and evaluated."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.cluster.server import Server
from tensorloom.contrib.learn.evaluation_loop import EvaluationLoop
from tensorloom.contrib.learn.experiment_calls import (
    EvalAndExportListener,
    ExperimentCalls,
    check_estimator,
)
from tensorloom.contrib.learn.monitors.of_estimators import ValidationMonitor
from tensorloom.contrib.learn.run_configuration import Environment, RunConfig
from tensorloom.estimator.estimator import Estimator as CoreEstimator
from tensorloom.framework.export import export
from tensorloom.train.checkpoints.checkpoint_management import latest_checkpoint
from tensorloom.train.hooks.checkpoint_saver import (
    CheckpointSaverHook,
)
from tensorloom.train.hooks.step_waiter import GlobalStepWaiterHook


@export("contrib.learn.Experiment")
class Experiment(ExperimentCalls):
    """A model, what it is trained and evaluated with, and how it is exported.

    Args:
      estimator: a model of `tf.contrib.learn` or of `tf.estimator`.
      train_input_fn: gives what it is trained with.
      eval_input_fn: gives what it is evaluated with.
      eval_metrics: `MetricSpec`s by their names; None for `tf.estimator`'s models.
      train_steps: up to which step it is trained; until the input ends when None.
      eval_steps: how many batches an evaluation has; all when None.
      train_monitors: monitors, or hooks of training.
      eval_hooks: hooks of evaluations.
      local_eval_frequency: of `local_run`: as `min_eval_frequency`.
      eval_delay_secs: how long an evaluation waits before it begins.
      continuous_eval_throttle_secs: how far apart evaluations begin at least.
      min_eval_frequency: of `train_and_evaluate`: how many steps apart evaluations are
        at least; 0: only one at the end; 1 when None.
      delay_workers_by_global_step: whether workers wait for the global step before they
        begin, and not for the time.
      export_strategies: an `ExportStrategy`, or several.
      train_steps_per_iteration: of `continuous_train_and_eval`: steps between
        evaluations.
      checkpoint_and_export: whether `train_and_evaluate` evaluates and exports each
        checkpoint.
      saving_listeners: listeners of checkpoints, for `tf.estimator`'s models.
      check_interval_secs: how many seconds apart checkpoints are looked for at least.

    Raises:
      ValueError: an argument does not fit the model, or is something else.
    """

    def __init__(
        self,
        estimator: Any,
        train_input_fn: Callable[..., Any],
        eval_input_fn: Callable[..., Any],
        eval_metrics: Any = None,
        train_steps: int | None = None,
        eval_steps: int | None = 100,
        train_monitors: Any = None,
        eval_hooks: Any = None,
        local_eval_frequency: int | None = None,
        eval_delay_secs: float = 120,
        continuous_eval_throttle_secs: float = 60,
        min_eval_frequency: int | None = None,
        delay_workers_by_global_step: bool = False,
        export_strategies: Any = None,
        train_steps_per_iteration: int | None = None,
        checkpoint_and_export: bool = False,
        saving_listeners: Any = None,
        check_interval_secs: float = 5,
    ) -> None:
        check_estimator(estimator, eval_metrics, saving_listeners)
        self._core_estimator_used = isinstance(estimator, CoreEstimator)
        self._estimator = estimator
        self._train_input_fn = train_input_fn
        self._eval_input_fn = eval_input_fn
        self._eval_metrics = eval_metrics
        self._train_steps = train_steps
        self._eval_steps = eval_steps
        self._local_eval_frequency = local_eval_frequency
        self._eval_delay_secs = eval_delay_secs
        self._continuous_eval_throttle_secs = continuous_eval_throttle_secs
        self._checkpoint_and_export = checkpoint_and_export
        self._saving_listeners = saving_listeners
        self._min_eval_frequency = (
            1 if min_eval_frequency is None else min_eval_frequency
        )
        self._check_interval_secs = check_interval_secs
        self._delay_workers_by_global_step = delay_workers_by_global_step
        self._train_monitors = list(train_monitors or [])
        self._eval_hooks = list(eval_hooks or [])
        self._set_export_strategies(export_strategies)
        self._train_steps_per_iteration = train_steps_per_iteration
        if train_steps_per_iteration is not None and (
            not isinstance(train_steps_per_iteration, int)
        ):
            raise ValueError("`train_steps_per_iteration` must be an integer.")

    # --- training ---------------------------------------------------------------------

    def train(self, delay_secs: float | None = None) -> Any:
        """Trains the model; gives it back.

        Args:
          delay_secs: how long it waits before; by the number of the worker when None.

        Raises:
          ValueError: it runs in a cluster with another kind of `RunConfig`.
        """
        start = time.time()
        self._serve_cluster()
        hooks = list(self._train_monitors)
        if delay_secs is None:
            task_id = self._estimator.config.task_id or 0
            delay_secs = min(60, task_id * 5)
            if self._delay_workers_by_global_step:
                delay_secs = 0
                steps = int(8000.0 * math.log(task_id + 1))
                hooks.append(GlobalStepWaiterHook(steps))
        if delay_secs > 0:
            remaining = delay_secs - (time.time() - start)
            program_log.info("Waiting %d secs before starting training.", remaining)
            time.sleep(delay_secs)
        return self._call_train(
            input_fn=self._train_input_fn,
            max_steps=self._train_steps,
            hooks=hooks,
            saving_listeners=self._saving_listeners,
        )

    def _serve_cluster(self) -> None:
        """Starts this task's server, if it is one of several."""
        config = self._estimator.config
        if not (config.cluster_spec and config.master):
            return
        if not isinstance(config, RunConfig):
            raise ValueError(
                "For distributed runtime, Experiment class only works with "
                f"tf.contrib.learn.RunConfig for now, but provided {type(config)}"
            )
        if config.environment == Environment.LOCAL:
            program_log.warning(
                "ClusterSpec and master are provided, but environment is set to "
                "'local'. Set environment to 'cloud' if you intend to use the "
                "distributed runtime."
            )
        elif config.environment != Environment.GOOGLE:
            self._start_server()

    def _start_server(self) -> Server:
        config = self._estimator.config
        if (
            not config.cluster_spec
            or not config.task_type
            or not config.master
            or config.task_id is None
        ):
            raise ValueError(
                "Could not start server; be sure to specify cluster_spec, task_type, "
                "master, and task in RunConfig or set the TF_CONFIG environment "
                "variable."
            )
        server = Server(
            config.cluster_spec,
            job_name=config.task_type,
            task_index=config.task_id,
            config=config.tf_config,
            start=False,
        )
        server.start()
        return server

    def run_std_server(self) -> None:
        """Runs this task's server without end.

        Raises:
          ValueError: the cluster or the task is not known.
        """
        self._start_server().join()

    # --- evaluation -------------------------------------------------------------------

    def evaluate(self, delay_secs: float | None = None, name: str | None = None) -> Any:
        """Evaluates the latest checkpoint once; gives the metrics by their names.

        Args:
          delay_secs: how long it waits before; as the constructor says when None.
          name: of the evaluation; `one_pass` when None.
        """
        delay = self._eval_delay_secs if delay_secs is None else delay_secs
        if delay:
            program_log.info("Waiting %d secs before starting eval.", delay)
            time.sleep(delay)
        return self._call_evaluate(
            input_fn=self._eval_input_fn,
            steps=self._eval_steps,
            metrics=self._eval_metrics,
            name=name or "one_pass",
            hooks=self._eval_hooks,
        )

    def local_run(self) -> Any:
        """`train_and_evaluate` with `local_eval_frequency`."""
        kept = self._min_eval_frequency
        self._min_eval_frequency = self._local_eval_frequency  # type: ignore[assignment]
        try:
            return self.train_and_evaluate()
        finally:
            self._min_eval_frequency = kept

    def _continuous_eval(
        self,
        input_fn: Callable[..., Any],
        name: str,
        delay_secs: float | None,
        throttle_delay_secs: float | None,
        evaluate_checkpoint_only_once: bool = True,
        continuous_eval_predicate_fn: Any = None,
        export: bool = True,
    ) -> None:
        delay = self._eval_delay_secs if delay_secs is None else delay_secs
        throttle = throttle_delay_secs
        loop = EvaluationLoop(
            predicate_fn=continuous_eval_predicate_fn,
            model_dir=self._estimator.model_dir,
            train_steps=self._train_steps,
            only_once=evaluate_checkpoint_only_once,
            throttle_secs=self._continuous_eval_throttle_secs
            if throttle is None
            else throttle,
        )
        if delay:
            program_log.info("Waiting %f secs before starting eval.", delay)
            time.sleep(delay)

        def evaluate(checkpoint_path: Any) -> Any:
            result = self._call_evaluate(
                input_fn=input_fn,
                steps=self._eval_steps,
                metrics=self._eval_metrics,
                name=name,
                checkpoint_path=checkpoint_path,
                hooks=self._eval_hooks,
            )
            if export:
                self._maybe_export(result or {}, checkpoint_path=checkpoint_path)
            return result

        loop.run(evaluate)

    def continuous_eval(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        evaluate_checkpoint_only_once: bool = True,
        continuous_eval_predicate_fn: Any = None,
        name: str = "continuous",
    ) -> None:
        """Evaluates checkpoint after checkpoint, until the last step is reached.

        Args:
          delay_secs: how long it waits before; as the constructor says when None.
          throttle_delay_secs: how far apart evaluations begin at least.
          evaluate_checkpoint_only_once: whether it waits for a new checkpoint.
          continuous_eval_predicate_fn: of the last result, and of `checkpoint_path` if
            it takes one: whether to go on.
          name: of the evaluations.
        """
        self._continuous_eval(
            self._eval_input_fn,
            name=name,
            delay_secs=delay_secs,
            throttle_delay_secs=throttle_delay_secs,
            evaluate_checkpoint_only_once=evaluate_checkpoint_only_once,
            continuous_eval_predicate_fn=continuous_eval_predicate_fn,
        )

    def continuous_eval_on_train_data(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        continuous_eval_predicate_fn: Any = None,
        name: str = "continuous_on_train_data",
    ) -> None:
        """`continuous_eval` of what the model is trained with, without exports."""
        self._continuous_eval(
            self._train_input_fn,
            name=name,
            delay_secs=delay_secs,
            throttle_delay_secs=throttle_delay_secs,
            continuous_eval_predicate_fn=continuous_eval_predicate_fn,
            export=False,
        )

    def train_and_evaluate(self) -> tuple[Any, Any]:
        """Trains, evaluates on the way and at the end, and exports.

        Returns:
          The metrics of the last evaluation, and what the exports gave.
        """
        kept = self._train_monitors
        config = self._estimator.config
        listener = None
        if self._checkpoint_and_export and (
            config.save_checkpoints_secs or config.save_checkpoints_steps
        ):
            listener = self._listener()
            more = [
                CheckpointSaverHook(
                    checkpoint_dir=self._estimator.model_dir,
                    save_secs=config.save_checkpoints_secs,
                    save_steps=config.save_checkpoints_steps,
                    listeners=[listener],
                )
            ]
        else:
            more = self._validation()
        self._train_monitors = [*kept, *more]
        try:
            self.train(delay_secs=0)
        finally:
            self._train_monitors = kept
        if listener is not None:
            return listener.eval_result, listener.export_results
        result = self._call_evaluate(
            input_fn=self._eval_input_fn,
            steps=self._eval_steps,
            metrics=self._eval_metrics,
            hooks=self._eval_hooks,
        )
        return result, self._maybe_export(result)

    def _listener(self) -> EvalAndExportListener:
        evaluate = functools.partial(
            self._call_evaluate,
            input_fn=self._eval_input_fn,
            steps=self._eval_steps,
            metrics=self._eval_metrics,
            hooks=self._eval_hooks,
        )
        return EvalAndExportListener(
            evaluate, self._maybe_export, self._estimator.model_dir
        )

    def _validation(self) -> list[Any]:
        if not self._min_eval_frequency:
            return []
        monitor = ValidationMonitor(
            input_fn=self._eval_input_fn,
            eval_steps=self._eval_steps,
            metrics=self._eval_metrics,
            every_n_steps=self._min_eval_frequency,
            check_interval_secs=self._check_interval_secs,
            hooks=self._eval_hooks,
        )
        return [monitor]

    def continuous_train_and_eval(
        self, continuous_eval_predicate_fn: Any = None
    ) -> tuple[Any, Any]:
        """Trains some steps, evaluates and exports, again and again.

        Args:
          continuous_eval_predicate_fn: of the last result, and of `checkpoint_path` if
            it takes one: whether to go on.

        Returns:
          The metrics of the last evaluation, and what the exports gave.
        """
        steps = self._train_steps_per_iteration
        if steps is None:
            steps = 1000 if self._train_steps is None else int(self._train_steps / 10)
        loop = EvaluationLoop(
            predicate_fn=continuous_eval_predicate_fn,
            model_dir=self._estimator.model_dir,
            train_steps=self._train_steps,
        )
        result = exported = path = None
        while loop.goes_on(result, path if result else None):
            if loop.has_training_stopped(result):
                program_log.info("Stop training model as max steps reached")
                break
            program_log.info("Training model for %s steps", steps)
            self._call_train(
                input_fn=self._train_input_fn,
                steps=steps,
                hooks=self._train_monitors,
                saving_listeners=self._saving_listeners,
            )
            program_log.info("Evaluating model now.")
            path = latest_checkpoint(self._estimator.model_dir)
            result = self._call_evaluate(
                input_fn=self._eval_input_fn,
                steps=self._eval_steps,
                metrics=self._eval_metrics,
                name="one_pass",
                checkpoint_path=path,
                hooks=self._eval_hooks,
            )
            exported = self._maybe_export(result)
        return result, exported

    def test(self) -> Any:
        """Trains one step, evaluates one batch and exports: a test of the program."""
        self._call_train(
            input_fn=self._train_input_fn,
            steps=1,
            hooks=self._train_monitors,
            saving_listeners=self._saving_listeners,
        )
        result = self._call_evaluate(
            input_fn=self._eval_input_fn,
            steps=1,
            metrics=self._eval_metrics,
            name="one_pass",
        )
        self._maybe_export(result)
        return result
