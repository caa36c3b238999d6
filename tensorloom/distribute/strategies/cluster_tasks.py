"""What a task is among those of its cluster."""

from __future__ import annotations

from typing import Any

from tensorloom.train.cluster_spec import ClusterSpec


def normalize_cluster_spec(cluster_spec: Any) -> ClusterSpec:
    """A ClusterSpec of a dict, a ClusterDef or a ClusterSpec.

    Raises:
      ValueError: it is something else.
    """
    if isinstance(cluster_spec, ClusterSpec):
        return cluster_spec
    if isinstance(cluster_spec, dict) or hasattr(cluster_spec, "job"):
        return ClusterSpec(cluster_spec)
    raise ValueError(
        "`cluster_spec' should be dict or a `tf.train.ClusterSpec` or a "
        "`tf.train.ClusterDef` object"
    )


def _validated(cluster_spec: Any, task_type: Any, task_id: Any) -> dict[str, Any]:
    """The jobs of a cluster that has the task."""
    if cluster_spec is None or task_type is None or task_id is None:
        raise ValueError(
            "None of `cluster_spec`, `task_type`, and `task_id` should be `None`."
        )
    jobs: dict[str, Any] = normalize_cluster_spec(cluster_spec).as_dict()
    if task_type not in ("chief", "worker", "evaluator", "ps"):
        raise ValueError(
            f"Unrecognized task_type: {task_type!r}, valid task types are: "
            '"chief", "worker", "evaluator" and "ps".'
        )
    if task_type and task_type not in jobs:
        raise ValueError(f"`task_type` {task_type!r} not found in cluster_spec.")
    if len(jobs.get("chief", [])) > 1:
        raise ValueError("There must be at most one 'chief' job.")
    if len(jobs.get("evaluator", [])) > 1:
        raise ValueError("There must be at most one 'evaluator' job.")
    if task_id >= len(jobs[task_type]):
        raise ValueError(
            f"The `task_id` {task_id} exceeds the maximum id of {task_type}."
        )
    return jobs


def is_chief(
    cluster_spec: Any = None, task_type: str | None = None, task_id: int | None = None
) -> bool:
    """Whether a task is the chief: of that job, or the first worker without one.

    Raises:
      ValueError: the cluster has no such task.
    """
    jobs = _validated(cluster_spec, task_type, task_id)
    if task_type in ("chief", "evaluator"):
        return True
    return "chief" not in jobs and task_type == "worker" and task_id == 0


def collective_leader(cluster_spec: Any, task_type: str, task_id: int) -> str:
    """The task that leads collective operations; "" for none.

    Raises:
      ValueError: the cluster has no such task.
    """
    spec = normalize_cluster_spec(cluster_spec)
    if not spec.as_dict():
        return ""
    jobs = _validated(spec, task_type, task_id)
    if task_type == "evaluator":
        return ""
    if "chief" in jobs:
        return "/job:chief/replica:0/task:0"
    assert "worker" in jobs
    return "/job:worker/replica:0/task:0"


def worker_count(cluster_spec: Any, task_type: str) -> int:
    """How many tasks train: the chief and the workers; how many evaluate.

    Raises:
      ValueError: the cluster has no such task, or it does neither.
    """
    jobs = _validated(cluster_spec, task_type, task_id=0)
    if task_type not in ("chief", "worker", "evaluator"):
        raise ValueError(f"Unexpected `task_type` {task_type!r}")
    if task_type == "evaluator":
        return len(jobs["evaluator"])
    return len(jobs.get("chief", [])) + len(jobs.get("worker", []))


def id_in_cluster(cluster_spec: Any, task_type: str, task_id: int) -> int:
    """The number of a task among those that train, or among those that evaluate.

    Raises:
      ValueError: the cluster has no such task, or it does neither.
    """
    jobs = _validated(cluster_spec, task_type, task_id)
    if task_type == "chief":
        return 0
    if task_type == "worker":
        return task_id + len(jobs.get("chief", []))
    if task_type == "evaluator":
        return task_id
    raise ValueError(f"There is no id for task_type {task_type!r}")
