"""`tf.test.create_local_cluster`: parameter servers and workers in this process."""

from __future__ import annotations

import socket
from typing import Any


def create_local_cluster(
    num_workers: int,
    num_ps: int,
    protocol: str = "grpc",
    worker_config: Any = None,
    ps_config: Any = None,
) -> tuple[list[Any], list[Any]]:
    """Starts servers of one cluster, all on this machine.

    Args:
      num_workers, num_ps: how many tasks the jobs "worker" and "ps" have.
      protocol: as `tf.train.Server` takes it.
      worker_config, ps_config: a `tf.ConfigProto` for the servers of each job.

    Returns:
      (the `tf.train.Server`s of the workers, those of the parameter servers).
    """
    from tensorloom.cluster.server import Server
    from tensorloom.train.cluster_spec import ClusterSpec

    ports = _free_ports(num_workers + num_ps)
    addresses = [f"localhost:{port}" for port in ports]
    cluster = ClusterSpec(
        {"worker": addresses[:num_workers], "ps": addresses[num_workers:]}
    )

    def start(job: str, count: int, config: Any) -> list[Any]:
        return [
            Server(cluster, job, index, protocol=protocol, config=config)
            for index in range(count)
        ]

    workers = start("worker", num_workers, worker_config)
    return workers, start("ps", num_ps, ps_config)


def _free_ports(count: int) -> list[int]:
    """Ports that nobody listens on; held together, so that they differ."""
    sockets = [socket.create_server(("localhost", 0)) for _ in range(count)]
    ports = [made.getsockname()[1] for made in sockets]
    for made in sockets:
        made.close()
    return ports
