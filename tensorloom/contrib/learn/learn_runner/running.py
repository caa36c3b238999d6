"""Runs the part of an experiment that is this task's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.contrib.learn.experiments import Experiment
from tensorloom.contrib.learn.run_configuration import RunConfig, TaskType
from tensorloom.contrib.training.hparams import HParams
from tensorloom.framework.export import export


def _execute_schedule(experiment: Experiment, schedule: str) -> Any:
    """Calls the method of that name."""
    task = getattr(experiment, schedule, None)
    if not callable(task):
        there = hasattr(experiment, schedule)
        what = "non-callable member" if there else "non-existent task"
        message = f"Schedule references {what} {schedule}"
        program_log.error(message)
        valid = [
            name
            for name in dir(experiment)
            if not name.startswith("_") and callable(getattr(experiment, name))
        ]
        program_log.error("Allowed values for this experiment are: %s", valid)
        raise TypeError(message) if there else ValueError(message)
    return task()


def _checked_experiment(experiment: Any) -> Experiment:
    if not isinstance(experiment, Experiment):
        raise TypeError(
            "Experiment builder did not return an Experiment instance, got "
            f"{type(experiment)} instead."
        )
    return experiment


def _wrapped_experiment_fn_with_uid_check(
    experiment_fn: Callable[..., Any], require_hparams: bool = False
) -> Callable[..., Experiment]:
    """The function, checked to use the settings that it is given."""

    def wrapped_experiment_fn(run_config: Any, hparams: Any) -> Experiment:
        if not isinstance(run_config, RunConfig):
            raise ValueError(
                "`run_config` must be `tf.contrib.learn.RunConfig` instance"
            )
        if not run_config.model_dir:
            raise ValueError(
                "Must specify a model directory `model_dir` in `run_config`."
            )
        if hparams is not None and not isinstance(hparams, HParams):
            raise ValueError("`hparams` must be `HParams` instance")
        if require_hparams and hparams is None:
            raise ValueError("`hparams` cannot be `None`.")
        expected = run_config.uid()
        experiment = _checked_experiment(experiment_fn(run_config, hparams))
        config = experiment.estimator.config
        if not hasattr(config, "uid"):
            raise RuntimeError(
                "Pass `run_config` argument of the `experiment_fn` to the Estimator in "
                "Experiment. It is likely a different `RunConfig` is passed to "
                "`Estimator` or the `config` constructor argument in `Estimator` is "
                "not set."
            )
        if config.uid() != expected:
            raise RuntimeError(
                "`RunConfig` instance is expected to be used by the `Estimator` inside "
                f"the `Experiment`. expected {expected}, but got {config.uid()}"
            )
        return experiment

    return wrapped_experiment_fn


@export("contrib.learn.learn_runner.run")
def run(
    experiment_fn: Callable[..., Any],
    output_dir: str | None = None,
    schedule: str | None = None,
    run_config: Any = None,
    hparams: Any = None,
) -> Any:
    """Makes an experiment and calls the method that is this task's part of it.

    Args:
      experiment_fn: gives the `Experiment`: of `output_dir`, or of `run_config` and
        `hparams`.
      output_dir: the directory of the model; or `run_config`.
      schedule: the name of the method. Without it the master of a cluster, and a
        program alone, run `train_and_evaluate`, workers `train`, parameter servers
        `run_std_server`.
      run_config: a `tf.contrib.learn.RunConfig` with a directory.
      hparams: `HParams` for the function.

    Returns:
      What the method gives.

    Raises:
      ValueError: not exactly one of the directory and the settings is given, there is
        no such method, or no default one for the task.
      TypeError: the function is none, or gives no `Experiment`.
      RuntimeError: the model does not use `run_config`.
    """
    if output_dir is not None and run_config is not None:
        raise ValueError("Cannot provide both `output_dir` and `run_config`")
    if output_dir is None and run_config is None:
        raise ValueError("Must set value for `output_dir` or `run_config`")
    if not callable(experiment_fn):
        raise TypeError(f'Experiment builder "{experiment_fn}" is not callable.')
    if run_config is not None:
        checked = _wrapped_experiment_fn_with_uid_check(experiment_fn)
        experiment = checked(run_config=run_config, hparams=hparams)
    else:
        if not output_dir:
            raise ValueError("Must specify an output directory")
        if hparams is not None:
            raise ValueError(
                "Must set `hparams` as None for `experiment_fn` with `output_dir`."
            )
        experiment = _checked_experiment(experiment_fn(output_dir=output_dir))
    config = run_config or experiment.estimator.config
    return _execute_schedule(experiment, schedule or _get_default_schedule(config))


@export("contrib.learn.learn_runner.tune")
def tune(experiment_fn: Callable[..., Any], tuner: Any) -> None:
    """Runs experiments as long as a tuner has trials.

    Args:
      experiment_fn: gives the `Experiment` of `run_config` and `hparams`.
      tuner: has `next_trial()` and `run_experiment(experiment_fn)`.
    """
    while tuner.next_trial():
        tuner.run_experiment(
            _wrapped_experiment_fn_with_uid_check(experiment_fn, require_hparams=True)
        )


def _is_distributed(config: Any) -> bool:
    cluster = config.cluster_spec
    if not cluster:
        return False
    return sum(len(cluster.job_tasks(job)) for job in cluster.jobs) > 1


def _get_default_schedule(config: Any) -> str:
    if not config or not _is_distributed(config):
        return "train_and_evaluate"
    if not config.task_type:
        raise ValueError("Must specify a schedule")
    schedules = {
        TaskType.MASTER: "train_and_evaluate",
        TaskType.PS: "run_std_server",
        TaskType.WORKER: "train",
    }
    if config.task_type not in schedules:
        raise ValueError(f"No default schedule for task type: {config.task_type}")
    return schedules[config.task_type]
