"""Strategies with the arguments that they had before `tf.distribute`.

A dataset's batches are those of the replicas here; `tf.distribute` divides them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tensorloom.cluster.resolvers import SimpleClusterResolver, TFConfigClusterResolver
from tensorloom.cluster.server import Server
from tensorloom.distribute.inputs.iterators import dataset_iterator
from tensorloom.distribute.reduction.collective import CollectiveCommunication
from tensorloom.distribute.strategies.cluster_tasks import normalize_cluster_spec
from tensorloom.distribute.strategies.collective_strategy import CollectiveExtended
from tensorloom.distribute.strategies.mirrored import (
    MirroredExtended,
    all_local_devices,
)
from tensorloom.distribute.strategies.parameter_server import ParameterServerExtended
from tensorloom.distribute.strategies.strategy import Strategy
from tensorloom.framework.export import export
from tensorloom.protos.config_pb2 import ConfigProto
from tensorloom.protos.tensorflow_server_pb2 import ServerDef

if TYPE_CHECKING:
    from tensorloom.distribute.reduction.cross_device import CrossDeviceOps


@export("contrib.distribute.MirroredStrategy")
class MirroredStrategy(Strategy):
    """A replica on each device; variables are mirrored, and kept equal.

    Args:
      devices: their names.
      num_gpus, num_gpus_per_worker: so many GPUs, in place of names.
      cross_device_ops, cross_tower_ops: reduces between the devices.
      auto_shard_dataset: not used.

    Raises:
      ValueError: both numbers, or names and a number.
    """

    def __init__(
        self,
        devices: Sequence[str] | None = None,
        num_gpus: int | None = None,
        num_gpus_per_worker: int | None = None,
        cross_device_ops: CrossDeviceOps | None = None,
        auto_shard_dataset: bool = False,
        cross_tower_ops: CrossDeviceOps | None = None,
    ) -> None:
        assert not (cross_device_ops and cross_tower_ops)
        if num_gpus is not None and num_gpus_per_worker is not None:
            raise ValueError(
                "You cannot specify both `num_gpus` and `num_gpus_per_worker`."
            )
        gpus = num_gpus_per_worker if num_gpus is None else num_gpus
        super().__init__(
            _Mirrored(self, devices, gpus, cross_device_ops or cross_tower_ops)
        )


class _Mirrored(MirroredExtended):
    def __init__(
        self,
        container_strategy: Any,
        devices: Sequence[str] | None,
        num_gpus: int | None,
        cross_device_ops: CrossDeviceOps | None,
    ) -> None:
        if devices is None:
            devices = all_local_devices(num_gpus)
        elif num_gpus is not None:
            raise ValueError(
                "Must only specify one of `devices` and `num_gpus_per_worker`."
            )
        super().__init__(container_strategy, devices, cross_device_ops)

    def _make_dataset_iterator(self, dataset: Any) -> Any:
        return _whole_batches(self, dataset)

    @property
    def _global_batch_size(self) -> bool:
        return False


def _whole_batches(extended: Any, dataset: Any) -> Any:
    return dataset_iterator(
        dataset, extended._input_workers, extended._container_strategy()
    )


def _resolver(num_gpus: int, **options: Any) -> SimpleClusterResolver:
    """The cluster of TF_CONFIG, whose tasks have so many GPUs."""
    found = TFConfigClusterResolver()
    return SimpleClusterResolver(
        cluster_spec=found.cluster_spec(),
        task_type=found.task_type,
        task_id=found.task_id,
        num_accelerators={"GPU": num_gpus},
        **options,
    )


@export("contrib.distribute.ParameterServerStrategy")
class ParameterServerStrategy(Strategy):
    """Each worker builds its own graph; variables are on parameter servers.

    Args:
      num_gpus_per_worker: how many GPUs a worker uses.
    """

    def __init__(self, num_gpus_per_worker: int = 0) -> None:
        super().__init__(
            _ParameterServer(self, cluster_resolver=_resolver(num_gpus_per_worker))
        )


class _ParameterServer(ParameterServerExtended):
    def _make_dataset_iterator(self, dataset: Any) -> Any:
        return _whole_batches(self, dataset)

    @property
    def _global_batch_size(self) -> bool:
        return False


@export("contrib.distribute.CollectiveAllReduceStrategy")
class CollectiveAllReduceStrategy(Strategy):
    """Mirrored variables on the devices of all workers, reduced by collective ops.

    Args:
      num_gpus_per_worker: how many GPUs a worker uses.
      communication: how the collective ops communicate.

    Raises:
      ValueError: TF_CONFIG says a cluster, but not which task this is.
    """

    def __init__(
        self,
        num_gpus_per_worker: int = 0,
        communication: CollectiveCommunication = CollectiveCommunication.AUTO,
    ) -> None:
        layer = TFConfigClusterResolver().rpc_layer
        super().__init__(
            CollectiveExtended(
                self,
                communication=communication,
                cluster_resolver=_resolver(num_gpus_per_worker, rpc_layer=layer),
            )
        )


@export("contrib.distribute.DistributeConfig")
class DistributeConfig(NamedTuple):
    """The strategies of an Estimator, for `RunConfig(experimental_distribute=)`."""

    train_distribute: Any = None
    eval_distribute: Any = None
    remote_cluster: Any = None


@export("contrib.distribute.run_standard_tensorflow_server")
def run_standard_tensorflow_server(session_config: Any = None) -> Any:
    """Starts the server of this task of TF_CONFIG, and returns it.

    Args:
      session_config: a ConfigProto of the server's sessions.

    Raises:
      ValueError: TF_CONFIG says no cluster, task, chief or worker.
    """
    config = json.loads(os.environ.get("TF_CONFIG", "{}"))
    for part in ("cluster", "task"):
        if part not in config:
            raise ValueError(f'"{part}" is not found in TF_CONFIG.')
    task = config["task"]
    if "type" not in task:
        raise ValueError('"task_type" is not found in the `task` part of TF_CONFIG.')
    spec = normalize_cluster_spec(config["cluster"])
    session_config = session_config or ConfigProto()
    jobs = [job for job in ("chief", "worker") if job in spec.jobs]
    if not jobs:
        raise ValueError(
            "You must have `chief` or `worker` jobs in the `cluster_spec`."
        )
    leader = f"/job:{jobs[0]}/replica:0/task:0"
    session_config.experimental.collective_group_leader = leader
    server = run_std_server(
        spec,
        task["type"],
        int(task.get("index", 0)),
        session_config,
        config.get("rpc_layer", "grpc"),
    )
    server.start()
    return server


def run_std_server(
    cluster_spec: Any = None,
    task_type: str | None = None,
    task_id: int | None = None,
    session_config: Any = None,
    rpc_layer: str | None = None,
    environment: str | None = None,
) -> Server:
    """The server of a task, which its method `start` starts.

    Args:
      cluster_spec: the cluster.
      task_type, task_id: the task of it.
      session_config: a ConfigProto of the server's sessions.
      rpc_layer: "grpc" by default.
      environment: not used.
    """
    return Server(
        ServerDef(
            cluster=normalize_cluster_spec(cluster_spec).as_cluster_def(),
            protocol=rpc_layer or "grpc",
            job_name=task_type or "",
            task_index=task_id or 0,
            default_session_config=session_config,
        ),
        start=False,
    )
