"""The four ways to launch a job, behind one call."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from tensorloom.transport.peers import security

if TYPE_CHECKING:
    from tensorloom.cluster.launch.job import Job


def _local(job: Job) -> int:
    from tensorloom.cluster.launch.local import LocalPlaces
    from tensorloom.cluster.launch.supervisor import Supervisor

    return Supervisor(job, LocalPlaces()).run()


def _ray(job: Job, **options: Any) -> int:
    from tensorloom.cluster.launch.ray_places import RayPlaces
    from tensorloom.cluster.launch.supervisor import Supervisor

    if security.token() or security.tls() is not None:
        return Supervisor(job, RayPlaces(job, **options)).run()
    # The tasks listen on all interfaces: nobody but them and us is to be heard.
    token = secrets.token_hex(16)
    job = replace(job, environment={security.TOKEN_VARIABLE: token, **job.environment})
    security.configure(token=token)
    try:
        return Supervisor(job, RayPlaces(job, **options)).run()
    finally:
        security.configure_from_environment()


def _slurm(job: Job, **options: Any) -> int:
    from tensorloom.cluster.launch import slurm

    return slurm.launch(job, **options)


def _kubernetes(job: Job, **options: Any) -> int:
    from tensorloom.cluster.launch import kubernetes

    return kubernetes.launch(job, **options)


#: By name: what runs a job, and returns its exit status.
LAUNCHERS: Final[dict[str, Callable[..., int]]] = {
    "local": _local,
    "ray": _ray,
    "slurm": _slurm,
    "kubernetes": _kubernetes,
}


def launch(job: Job, where: str = "local", **options: Any) -> int:
    """Runs a job to its end.

    Args:
      job: what to run.
      where: a name in `LAUNCHERS`.
      **options: of that launcher: see `RayPlaces`, `slurm.launch`, `kubernetes.launch`.

    Returns:
      0, or the status of the task that failed.

    Raises:
      ValueError: there is no such launcher.
      ImportError: its library is missing; it says which extra has it.
    """
    if where not in LAUNCHERS:
        raise ValueError(f"No launcher {where!r}; there are {', '.join(LAUNCHERS)}")
    return LAUNCHERS[where](job, **options)
