"""`tf.estimator.train_and_evaluate`: the part of each task, local or in a cluster."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, Final

from tensorloom.client.program import program_log
from tensorloom.estimator.estimator import Estimator
from tensorloom.estimator.task_types import TaskType
from tensorloom.estimator.training import coordinated
from tensorloom.estimator.training.checkpoint_listener import NewCheckpointListener
from tensorloom.estimator.training.evaluator import (
    ContinuousEvalListener,
    EvalResult,
    EvalStatus,
    Evaluator,
)
from tensorloom.estimator.training.specs import (
    EvalSpec,
    TrainSpec,
    check_eval_spec,
    check_spec_hooks,
)
from tensorloom.estimator.training.task_server import is_managed, start_server
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import GraphKeys

_MAX_DELAY_SECS: Final = 60
_DELAY_SECS_PER_WORKER: Final = 5


@export("estimator.train_and_evaluate")
def train_and_evaluate(
    estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec
) -> Any:
    """Trains a model, evaluates its checkpoints, and exports it.

    With a `MultiWorkerMirroredStrategy` (`RunConfig(train_distribute=)`) all workers
    train in step, the first one being the chief where the cluster has none.

    Without a cluster in `TF_CONFIG` all of it is done here, in turn: an evaluation
    after a checkpoint. In a cluster the call does what the task is there for: chief and
    workers train, parameter servers serve, the evaluator evaluates new checkpoints
    until the training is over.

    Args:
      estimator: the model.
      train_spec: how it is trained.
      eval_spec: how it is evaluated and exported.

    Returns:
      Without a cluster: the metrics of the last evaluation, and the exporters' results.

    Raises:
      TypeError: an argument is of another kind.
      ValueError: there is more than one evaluator, or the task is unknown.
    """
    check_eval_spec(eval_spec)
    executor = TrainingExecutor(estimator, train_spec, eval_spec)
    config = estimator.config
    if config._distribute_coordinator_mode:
        coordinated.run(estimator, train_spec, eval_spec, TrainingExecutor)
        return None
    if config.task_type == TaskType.EVALUATOR and config.task_id > 0:
        raise ValueError(
            "For distributed training, there can only be one `evaluator` task (with "
            "task "
            f"id 0).  Given task id {config.task_id}"
        )
    return executor.run()


class TrainingExecutor:
    """Does what the task is there for."""

    def __init__(
        self,
        estimator: Estimator,
        train_spec: TrainSpec,
        eval_spec: EvalSpec | None,
        train_hooks: Iterable[Any] | None = None,
        continuous_eval_listener: ContinuousEvalListener | None = None,
    ) -> None:
        if not isinstance(estimator, Estimator):
            raise TypeError(
                "`estimator` must have type `tf.estimator.Estimator`. Got: "
                f"{type(estimator)}"
            )
        if not isinstance(train_spec, TrainSpec):
            raise TypeError(
                "`train_spec` must have type `tf.estimator.TrainSpec`. Got: "
                f"{type(train_spec)}"
            )
        if eval_spec and not isinstance(eval_spec, EvalSpec):
            raise TypeError(
                "`eval_spec` must be either `None` or have type "
                f"`tf.estimator.EvalSpec`. Got: {type(eval_spec)}"
            )
        if continuous_eval_listener and not isinstance(
            continuous_eval_listener, ContinuousEvalListener
        ):
            raise TypeError(
                "`continuous_eval_listener` must have type `_ContinuousEvalListener`. "
                f"Got: {type(continuous_eval_listener)}"
            )
        self._estimator = estimator
        self._train_spec = train_spec
        self._eval_spec: Any = eval_spec
        self._train_hooks = check_spec_hooks(train_hooks)
        self._continuous_eval_listener = (
            continuous_eval_listener or ContinuousEvalListener()
        )

    @property
    def estimator(self) -> Estimator:
        """The model."""
        return self._estimator

    def run(self) -> Any:
        """Does the part of this task.

        Raises:
          ValueError: the task is unknown.
        """
        config = self._estimator.config
        if not config.cluster_spec and config.task_type != TaskType.EVALUATOR:
            program_log.info(
                "Running training and evaluation locally (non-distributed)."
            )
            return self.run_local()
        if not config.task_type:
            raise ValueError(
                "`estimator.config` must have task_type set. This usually means "
                "TF_CONFIG environment is not set correctly."
            )
        if config.task_type == "local":
            raise ValueError(
                "`task.type` in TF_CONFIG cannot be `local`. Leaving `cluster` and "
                "`task` properties in TF_CONFIG absent triggers train and evaluate "
                "`Estimator` locally (non-distributed)."
            )
        parts = [name[4:] for name in dir(self) if name.startswith("run_")]
        parts.remove("local")
        if config.task_type not in parts:
            raise ValueError(
                f"Task type {config.task_type} is not supported. Supported task types "
                f"are {parts}"
            )
        getattr(self, f"run_{config.task_type}")()
        return None

    # --- the tasks -------------------------------------------------------------------

    def run_chief(self) -> None:
        """Trains and writes checkpoints."""
        self._train_in_cluster()

    def run_worker(self) -> None:
        """Trains."""
        self._train_in_cluster()

    def run_master(self) -> None:
        """Trains, writes checkpoints and evaluates them."""
        check_eval_spec(self._eval_spec)
        listener = self._new_listener(ContinuousEvalListener())
        self._train_in_cluster([listener])

    def run_evaluator(self) -> None:
        """Evaluates new checkpoints until the training is over."""
        self._evaluate_continuously()

    def run_ps(self) -> None:
        """Serves parameters; does not return."""
        start_server(self._estimator.config).join()

    def run_local(self) -> tuple[Any, Any]:
        """Trains and evaluates in turn; the last metrics and exports."""
        check_eval_spec(self._eval_spec)
        config = self._estimator.config
        program_log.info(
            "Start train and evaluate loop. The evaluate will happen after every "
            "checkpoint. Checkpoint frequency is determined based on RunConfig "
            "arguments: save_checkpoints_steps %s or save_checkpoints_secs %s.",
            config.save_checkpoints_steps,
            config.save_checkpoints_secs,
        )
        listener = self._new_listener(self._continuous_eval_listener)
        self._train([listener])
        result = listener.eval_result or EvalResult(EvalStatus.MISSING_CHECKPOINT)
        return result.metrics, listener.export_results

    # --- parts -----------------------------------------------------------------------

    def _new_evaluator(self) -> Evaluator:
        return Evaluator(self._estimator, self._eval_spec, self._train_spec.max_steps)

    def _new_listener(self, asked: ContinuousEvalListener) -> NewCheckpointListener:
        return NewCheckpointListener(
            self._new_evaluator(), self._eval_spec.throttle_secs, asked
        )

    def _train(self, saving_listeners: list[Any] | None) -> None:
        self._estimator.train(
            input_fn=self._train_spec.input_fn,
            max_steps=self._train_spec.max_steps,
            hooks=[*self._train_spec.hooks, *self._train_hooks],
            saving_listeners=saving_listeners,
        )

    def _train_in_cluster(self, saving_listeners: list[Any] | None = None) -> None:
        config = self._estimator.config
        # The server is there before any wait: others want to reach it.
        server = None if is_managed() else start_server(config)
        delay = _start_delay(config)
        if delay > 0:
            program_log.info("Waiting %d secs before starting training.", delay)
            time.sleep(delay)
        try:
            self._train(saving_listeners)
        finally:
            # Nobody reads anything here: variables are on parameter servers.
            if server is not None:
                server.stop()

    def _evaluate_continuously(self) -> None:
        check_eval_spec(self._eval_spec)
        if self._eval_spec.start_delay_secs:
            program_log.info(
                "Waiting %f secs before starting eval.",
                self._eval_spec.start_delay_secs,
            )
            time.sleep(self._eval_spec.start_delay_secs)
        evaluator = self._new_evaluator()
        max_steps = self._train_spec.max_steps
        should_stop = False
        while not should_stop:
            result, should_stop = self._evaluate_in_turn(evaluator)
            if result is None or result.status != EvalStatus.EVALUATED:
                continue
            step = result.metrics.get(GraphKeys.GLOBAL_STEP)
            if step and max_steps and step >= max_steps:
                program_log.info(
                    "Exiting evaluation, global_step=%s >= train max_steps=%s",
                    step,
                    max_steps,
                )
                return

    def _evaluate_in_turn(self, evaluator: Evaluator) -> tuple[EvalResult | None, bool]:
        """One evaluation and the wait after it; whether it was the last one."""
        listener, throttle = (
            self._continuous_eval_listener,
            self._eval_spec.throttle_secs,
        )
        start = time.time()
        if not listener.before_eval():
            program_log.info(
                "Exiting evaluation, as requested by "
                "_ContinuousEvalListener.before_eval."
            )
            return None, True
        result, _ = evaluator.evaluate_and_export()
        if not listener.after_eval(result):
            program_log.info(
                "Exiting evaluation, as requested by "
                "_ContinuousEvalListener.after_eval."
            )
            return result, True
        rest = throttle - (time.time() - start)
        if rest > 0:
            program_log.info("Waiting %f secs before starting next eval run.", rest)
            time.sleep(rest)
        elif throttle == 0 and result.status != EvalStatus.EVALUATED:
            program_log.warning(
                "EvalSpec.throttle_secs is set as 0. This might overload the job "
                "before "
                "finding (next) new checkpoint. Please consider to increase it."
            )
        return result, False


def _start_delay(config: Any) -> int:
    """Seconds that a worker waits: asynchronous training converges better so."""
    if config.task_type != TaskType.WORKER:
        return 0
    longest = config.experimental_max_worker_delay_secs
    longest = _MAX_DELAY_SECS if longest is None else int(longest)
    return int(min(longest, (config.task_id + 1) * _DELAY_SECS_PER_WORKER))
