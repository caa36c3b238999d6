"""Which task a server is: what `tf.train.Server` is given, as a `ServerDef`."""

from __future__ import annotations

import warnings
from typing import Any

from tensorloom.framework import errors
from tensorloom.train.cluster_spec import ClusterSpec
from tensorloom.transport.peers import host_port, security


def tasks_on_this_machine(cluster: ClusterSpec, server_def: Any) -> int:
    """How many tasks compute on this task's machine while it does, itself included.

    Workers compute when the parameter servers have nothing to do, but these serve all.
    """
    own = cluster.task_address(server_def.job_name, server_def.task_index)
    host = own.rpartition(":")[0]
    is_ps = server_def.job_name == "ps"
    jobs = [job for job in cluster.jobs if is_ps or job != "ps"]
    return sum(
        cluster.task_address(job, index).rpartition(":")[0] == host
        for job in jobs
        for index in cluster.task_indices(job)
    )


def make_server_def(
    given: Any,
    job_name: str | None,
    task_index: int | None,
    protocol: str | None,
    config: Any,
) -> Any:
    """The `ServerDef` of the arguments of `Server`.

    Raises:
      TypeError, ValueError: one is not usable.
    """
    from tensorloom.protos.tensorflow_server_pb2 import ServerDef

    if type(given).__name__ == "ServerDef":
        server_def = ServerDef.FromString(given.SerializeToString())
        if job_name is not None:
            server_def.job_name = job_name
        if task_index is not None:
            server_def.task_index = task_index
    else:
        cluster = ClusterSpec(given)
        server_def = ServerDef(
            cluster=cluster.as_cluster_def(),
            job_name=_job_name(cluster, job_name),
        )
        server_def.task_index = _task_index(cluster, server_def.job_name, task_index)
    if protocol is not None:
        server_def.protocol = protocol
    server_def.protocol = server_def.protocol or "grpc"
    if config is not None:
        server_def.default_session_config.MergeFromString(config.SerializeToString())
    return server_def


def _job_name(cluster: ClusterSpec, job_name: str | None) -> str:
    if job_name is not None:
        return job_name
    if len(cluster.jobs) != 1:
        raise ValueError("Must specify an explicit `job_name`.")
    return cluster.jobs[0]


def _task_index(cluster: ClusterSpec, job: str, task_index: int | None) -> int:
    if task_index is not None:
        return task_index
    indices = cluster.task_indices(job)
    if len(indices) != 1:
        raise ValueError("Must specify an explicit `task_index`.")
    return indices[0]


def own_address(cluster: ClusterSpec, server_def: Any) -> tuple[str, int]:
    """The task's host and port; warns when anyone who reaches them can run code."""
    job, index = server_def.job_name, server_def.task_index
    if job not in cluster.jobs:
        raise errors.InvalidArgumentError(
            None, None, f'Job "{job}" was not defined in cluster'
        )
    if index not in cluster.task_indices(job):
        raise errors.InvalidArgumentError(
            None, None, f'Task {index} was not defined in job "{job}"'
        )
    address = cluster.task_address(job, index)
    try:
        host, port = host_port.parse(address)
    except errors.InvalidArgumentError:
        message = f'Could not parse port for local server from "{address}".'
        raise errors.InvalidArgumentError(None, None, message) from None
    is_open = security.tls() is None and not security.token()
    if is_open and not host_port.is_loopback(host):
        warnings.warn(
            f"The server at {address} listens on all interfaces, without "
            "encryption or authentication: whoever reaches the port can run code here.",
            stacklevel=4,
        )
    return host, port
