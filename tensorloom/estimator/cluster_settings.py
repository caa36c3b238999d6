"""What `TF_CONFIG` says of this task and its cluster.

TF_CONFIG='{"cluster": {"chief": ["a:2222"], "ps": ["b:2222"]},
            "task": {"type": "ps", "index": 0}}'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from tensorloom.estimator.task_types import TaskType
from tensorloom.train.cluster_spec import ClusterSpec

_LOCAL_MASTER: Final = ""
_SCHEME: Final = "grpc://"


@dataclass(frozen=True)
class ClusterSettings:
    """A task's place in its cluster."""

    # Jobs and addresses; empty where there is no cluster, and for the evaluator.
    cluster_spec: ClusterSpec
    task_type: str
    task_id: int
    # The target of this task's sessions.
    master: str
    evaluation_master: str
    is_chief: bool
    num_ps_replicas: int
    # Workers and the chief.
    num_worker_replicas: int
    # A number for the task, unique in the cluster; None for the evaluator.
    global_id_in_cluster: int | None


def read_settings(tf_config: Mapping[str, Any]) -> ClusterSettings:
    """The settings that a decoded `TF_CONFIG` stands for.

    Raises:
      ValueError: the task is missing, or not in the cluster; there is not one chief.
    """
    cluster = ClusterSpec(tf_config.get("cluster", {}))
    task = tf_config.get("task", {})
    if not cluster:
        return _local(cluster, task, tf_config)
    if TaskType.MASTER not in cluster.jobs:
        return _in_cluster(cluster, task, tf_config, TaskType.CHIEF)
    if TaskType.CHIEF in cluster.jobs:
        raise ValueError(
            "If `master` node exists in `cluster`, job `chief` is not supported."
        )
    if task.get("type") == TaskType.EVALUATOR:
        _check_chief(cluster, TaskType.MASTER)
        raise ValueError(
            "If `master` node exists in `cluster`, task_type `evaluator` is not "
            "supported."
        )
    return _in_cluster(cluster, task, tf_config, TaskType.MASTER)


def is_coordinated(tf_config: Mapping[str, Any], strategy: Any) -> bool:
    """Whether `train_and_evaluate` trains all workers of the cluster in step."""
    cluster = tf_config.get("cluster")
    if not cluster or TaskType.MASTER in cluster or strategy is None:
        return False
    together: bool = strategy.extended._all_workers_step_together
    return together


def before_coordination(tf_config: Mapping[str, Any]) -> ClusterSettings:
    """The settings until `train_and_evaluate` begins: a cluster without a place."""
    cluster = ClusterSpec(tf_config["cluster"])
    return replace(_local(ClusterSpec({}), {}, {}), cluster_spec=cluster)


def coordinated_settings(tf_config: Mapping[str, Any]) -> ClusterSettings:
    """The settings of a task whose cluster needs no chief: the first worker is it.

    Raises:
      ValueError: the task is missing, or not in the cluster.
    """
    cluster = ClusterSpec(tf_config["cluster"])
    task_type, task_id = _task(cluster, tf_config.get("task", {}))
    if task_type == TaskType.EVALUATOR:
        return replace(
            _local(ClusterSpec({}), {}, {}),
            task_type=task_type,
            task_id=task_id,
            num_worker_replicas=0,
            global_id_in_cluster=None,
        )
    jobs = cluster.as_dict()
    jobs.pop(TaskType.EVALUATOR, None)  # it is no part of the training
    workers = len(jobs.get(TaskType.CHIEF, [])) + len(jobs.get(TaskType.WORKER, []))
    target = _SCHEME + str(cluster.job_tasks(task_type)[task_id])
    is_first_worker = task_type == TaskType.WORKER and task_id == 0
    return ClusterSettings(
        cluster_spec=ClusterSpec(jobs),
        task_type=task_type,
        task_id=task_id,
        master=target,
        evaluation_master=target,
        is_chief=task_type == TaskType.CHIEF
        or (is_first_worker and TaskType.CHIEF not in jobs),
        num_ps_replicas=len(jobs.get(TaskType.PS, [])),
        num_worker_replicas=workers,
        global_id_in_cluster=_global_id(
            ClusterSpec(jobs), task_type, task_id, TaskType.CHIEF
        ),
    )


def _local(
    cluster: ClusterSpec, task: Mapping[str, Any], tf_config: Mapping[str, Any]
) -> ClusterSettings:
    task_type = task.get("type", TaskType.WORKER)
    task_id = int(task.get("index", 0))
    if task_type != TaskType.WORKER:
        raise ValueError(
            'If "cluster" is not set in TF_CONFIG, task type must be WORKER.'
        )
    if task_id != 0:
        raise ValueError('If "cluster" is not set in TF_CONFIG, task index must be 0.')
    return ClusterSettings(
        cluster_spec=cluster,
        task_type=task_type,
        task_id=task_id,
        master=tf_config.get("session_master", _LOCAL_MASTER),
        evaluation_master=tf_config.get("eval_session_master", _LOCAL_MASTER),
        is_chief=True,
        num_ps_replicas=0,
        num_worker_replicas=1,
        global_id_in_cluster=0,
    )


def _in_cluster(
    cluster: ClusterSpec,
    task: Mapping[str, Any],
    tf_config: Mapping[str, Any],
    chief: str,
) -> ClusterSettings:
    _check_chief(cluster, chief)
    task_type, task_id = _task(cluster, task)
    if task_type == TaskType.EVALUATOR:
        # It is no part of the training cluster.
        return ClusterSettings(
            cluster_spec=ClusterSpec({}),
            task_type=task_type,
            task_id=task_id,
            master=_LOCAL_MASTER,
            evaluation_master=tf_config.get("eval_session_master", _LOCAL_MASTER),
            is_chief=False,
            num_ps_replicas=0,
            num_worker_replicas=0,
            global_id_in_cluster=None,
        )
    jobs = cluster.as_dict()
    workers = len(jobs.get(TaskType.WORKER, [])) + len(jobs.get(chief, []))
    return ClusterSettings(
        cluster_spec=cluster,
        task_type=task_type,
        task_id=task_id,
        master=_session_master(cluster, task_type, task_id, tf_config),
        evaluation_master=_LOCAL_MASTER,
        is_chief=task_type == chief,
        num_ps_replicas=len(jobs.get(TaskType.PS, [])),
        num_worker_replicas=workers,
        global_id_in_cluster=_global_id(cluster, task_type, task_id, chief),
    )


def _check_chief(cluster: ClusterSpec, chief: str) -> None:
    if chief not in cluster.jobs:
        raise ValueError(
            f'If "cluster" is set in TF_CONFIG, it must have one "{chief}" node. '
            f"Found the jobs {cluster.jobs}."
        )
    if len(cluster.job_tasks(chief)) > 1:
        raise ValueError(
            f'The "cluster" in TF_CONFIG must have only one "{chief}" node. Found '
            f"{len(cluster.job_tasks(chief))}."
        )


def _task(cluster: ClusterSpec, task: Mapping[str, Any]) -> tuple[str, int]:
    """The type and index of this task, checked against the cluster."""
    task_type = task.get("type")
    task_id = task.get("index")
    if not task_type:
        raise ValueError('If "cluster" is set in TF_CONFIG, task type must be set.')
    if task_id is None:
        raise ValueError('If "cluster" is set in TF_CONFIG, task index must be set.')
    task_id = int(task_id)
    if task_id < 0:
        raise ValueError(f"Task index must be non-negative number. Got {task_id}.")
    if task_type == TaskType.EVALUATOR:
        return task_type, task_id
    source = (
        "Note that these values may be coming from the TF_CONFIG environment variable."
    )
    if task_type not in cluster.jobs:
        raise ValueError(
            f"{task_type} is not a valid task_type in the cluster_spec:\n{cluster}\n\n"
            f"{source}"
        )
    if task_id >= len(cluster.job_tasks(task_type)):
        raise ValueError(
            f"{task_id} is not a valid task_id for task_type {task_type} in the "
            f"cluster_spec:\n{cluster}\n\n{source}"
        )
    return task_type, task_id


def _session_master(
    cluster: ClusterSpec, task_type: str, task_id: int, tf_config: Mapping[str, Any]
) -> str:
    if "session_master" in tf_config:
        master: str = tf_config["session_master"]
        return master
    jobs = cluster.jobs
    if len(jobs) == 1 and len(cluster.job_tasks(jobs[0])) == 1:
        return _LOCAL_MASTER  # alone: no server is needed
    return _SCHEME + str(cluster.job_tasks(task_type)[task_id])


def _global_id(cluster: ClusterSpec, task_type: str, task_id: int, chief: str) -> int:
    """Numbers the chief first, parameter servers last, the others by their names."""
    others = sorted(set(cluster.jobs) - {chief, TaskType.PS})
    order = [chief, *others, TaskType.PS]
    earlier, tasks = order[: order.index(task_type)], cluster.as_dict()
    return sum(len(tasks.get(job, [])) for job in earlier) + task_id
