"""The server that a task of a cluster of Estimators runs."""

from __future__ import annotations

import json
import os
from typing import Any, Final

from tensorloom.client.program import program_log
from tensorloom.estimator.task_types import TaskType

_TRAINERS: Final = (TaskType.CHIEF, TaskType.MASTER, TaskType.WORKER)


def is_managed() -> bool:
    """Whether servers run already, as Google's own environment says of itself."""
    tf_config = json.loads(os.environ.get("TF_CONFIG") or "{}")
    if not tf_config:
        program_log.warning("TF_CONFIG should not be empty in distributed environment.")
    return bool(tf_config.get("environment") == "google")


def start_server(config: Any) -> Any:
    """Starts the task's server; none where a task that trains is alone.

    Raises:
      RuntimeError: the cluster, the task or the target is missing.
    """
    from tensorloom.cluster.server import Server
    from tensorloom.protos.config_pb2 import ConfigProto

    if not config.cluster_spec or not config.task_type or config.task_id is None:
        raise RuntimeError(
            "Could not start server; be sure to specify cluster_spec, task_type, and "
            "task in RunConfig or set the TF_CONFIG environment variable."
        )
    if not config.master:
        jobs = config.cluster_spec.jobs
        alone = len(jobs) == 1 and len(config.cluster_spec.job_tasks(jobs[0])) == 1
        if alone and config.task_type in _TRAINERS:
            program_log.info(
                "Skip starting Tensorflow server as there is only one node in the "
                "cluster."
            )
            return None
        raise RuntimeError(
            "Could not start server; be sure to specify master in RunConfig or set the "
            "TF_CONFIG environment variable."
        )
    program_log.info("Start Tensorflow server.")
    session_config = ConfigProto(log_device_placement=False)
    if config.session_config is not None:
        session_config.gpu_options.CopyFrom(config.session_config.gpu_options)
    server = Server(
        config.cluster_spec,
        job_name=config.task_type,
        task_index=config.task_id,
        config=session_config,
        start=False,
        protocol=config.protocol,
    )
    server.start()
    return server
