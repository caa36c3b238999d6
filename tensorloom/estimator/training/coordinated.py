"""`train_and_evaluate` where all workers of a cluster train in step.

Each task runs the same program. A worker's step waits for those of all others, so all
begin, save and end together; there are no parameter servers.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.client.program import program_log
from tensorloom.estimator.cluster_settings import coordinated_settings
from tensorloom.estimator.task_types import TaskType
from tensorloom.estimator.training.task_server import is_managed

if TYPE_CHECKING:
    from tensorloom.estimator.cluster_settings import ClusterSettings
    from tensorloom.estimator.estimator import Estimator
    from tensorloom.estimator.training.specs import EvalSpec, TrainSpec


def run(
    estimator: Estimator,
    train_spec: TrainSpec,
    eval_spec: EvalSpec,
    executor: Callable[..., Any],
) -> None:
    """Does the part of this task, by TF_CONFIG.

    Args:
      estimator: the model; its `RunConfig` has a strategy.
      train_spec: how it is trained.
      eval_spec: how the evaluator evaluates it.
      executor: the class that evaluates.

    Raises:
      ValueError: TF_CONFIG does not say which task this is.
    """
    settings = coordinated_settings(json.loads(os.environ["TF_CONFIG"]))
    program_log.info("Training in step with all workers: %s", settings)
    if settings.task_type == TaskType.EVALUATOR:
        strategy = copy.deepcopy(estimator._eval_distribution)
        local = _placed(estimator, settings, estimator._train_distribution, strategy)
        executor(local, train_spec, eval_spec).run_evaluator()
        return
    strategy = copy.deepcopy(estimator._train_distribution)
    local = _placed(estimator, settings, strategy, estimator._eval_distribution)
    strategy.configure(
        local._session_config,
        settings.cluster_spec,
        settings.task_type,
        settings.task_id,
    )
    server = None if is_managed() else _serve(local)
    if settings.task_type == TaskType.PS:
        assert server is not None
        server.join()
        return
    try:
        local.train(
            input_fn=train_spec.input_fn,
            hooks=list(train_spec.hooks),
            max_steps=train_spec.max_steps,
        )
    finally:
        # All are in the same step: the others have what they need of this task.
        if server is not None:
            server.stop()


def _placed(
    estimator: Estimator,
    settings: ClusterSettings,
    train_distribution: Any,
    eval_distribution: Any,
) -> Estimator:
    """A copy of the Estimator that knows its place in the cluster."""
    local = copy.copy(estimator)
    local._config = config = copy.copy(estimator._config)
    local._session_config = copy.deepcopy(estimator._session_config)
    local._train_distribution = train_distribution
    local._eval_distribution = eval_distribution
    config._take(settings)
    config._distribute_coordinator_mode = None
    changed = {
        "session_config": local._session_config,
        "train_distribute": train_distribution,
        "eval_distribute": eval_distribution,
    }
    for name, value in changed.items():
        setattr(config, f"_{name}", value)
    return local


def _serve(estimator: Estimator) -> Any:
    """Starts the server of the task."""
    from tensorloom.cluster.server import Server

    config = estimator.config
    session_config = config.session_config
    # A server is for the sessions of all strategies.
    del session_config.device_filters[:]
    return Server(
        config.cluster_spec,
        job_name=config.task_type,
        task_index=config.task_id,
        config=session_config,
        protocol=config.protocol,
    )
