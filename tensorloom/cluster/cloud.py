"""Resolvers of clusters in Google's cloud, which are refused by name."""

from __future__ import annotations

from typing import Any, NoReturn

from tensorloom.cluster.resolvers import NAMES, ClusterResolver
from tensorloom.framework.export import export


class _Refused(ClusterResolver):
    """Cannot be made, so that it never answers."""

    def cluster_spec(self) -> NoReturn:
        """Refused."""
        _refuse(self)

    def master(
        self, task_type: Any = None, task_id: Any = None, rpc_layer: Any = None
    ) -> NoReturn:
        """Refused."""
        _refuse(self)


def _refuse(resolver: ClusterResolver) -> NoReturn:
    raise RuntimeError(
        f"{type(resolver).__name__}: {type(resolver).__doc__} Name the addresses of "
        "tasks in TF_CONFIG (TFConfigClusterResolver) or in a SimpleClusterResolver."
    )


@export(NAMES + "TPUClusterResolver")
class TPUClusterResolver(_Refused):
    """tensorloom has no TPUs, and finds none (use_tpu=False in TPUEstimator)."""

    def __init__(
        self,
        tpu: Any = None,
        zone: Any = None,
        project: Any = None,
        job_name: str = "worker",
        coordinator_name: Any = None,
        coordinator_address: Any = None,
        credentials: Any = "default",
        service: Any = None,
        discovery_url: Any = None,
    ) -> None:
        _refuse(self)

    def get_master(self) -> NoReturn:
        """Refused."""
        _refuse(self)

    def get_job_name(self) -> NoReturn:
        """Refused."""
        _refuse(self)


@export(NAMES + "GCEClusterResolver")
class GCEClusterResolver(_Refused):
    """tensorloom does not ask Google Compute Engine for the instances of a group."""

    def __init__(
        self,
        project: Any,
        zone: Any,
        instance_group: Any,
        port: Any,
        task_type: str = "worker",
        task_id: int = 0,
        rpc_layer: str = "grpc",
        credentials: Any = "default",
        service: Any = None,
    ) -> None:
        _refuse(self)
