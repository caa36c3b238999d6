"""`MultiWorkerMirroredStrategy`: mirrored variables, reduced by collective ops."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.program import program_log
from tensorloom.cluster.resolvers import SimpleClusterResolver, TFConfigClusterResolver
from tensorloom.distribute.inputs import iterators
from tensorloom.distribute.inputs.input_context import InputContext
from tensorloom.distribute.inputs.input_workers import InputWorkers
from tensorloom.distribute.inputs.numpy_input import SingleDevice
from tensorloom.distribute.reduction.collective import (
    CollectiveAllReduce,
    CollectiveCommunication,
    CollectiveKeys,
)
from tensorloom.distribute.reduction.cross_device import reduce_non_distributed_value
from tensorloom.distribute.strategies import cluster_tasks
from tensorloom.distribute.strategies.extended import StrategyExtended
from tensorloom.distribute.strategies.mirrored import MirroredExtended
from tensorloom.distribute.strategies.strategy import Strategy
from tensorloom.distribute.values import device_names
from tensorloom.distribute.values.distributed_values import DistributedValues, Mirrored
from tensorloom.framework.collective.op_keys import ClusterPlace
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import control_dependencies, device
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.collective import builders as collective_ops

if TYPE_CHECKING:
    from tensorloom.client.distribution.reduce_op import ReduceOp


@export("distribute.experimental.MultiWorkerMirroredStrategy")
class MultiWorkerMirroredStrategy(Strategy):
    """Mirrored variables on the devices of all workers, reduced by collective ops.

    TF_CONFIG says who the workers are. Each runs the same program with a server of its
    own (docs/distribute.md); variables begin with the values of the first one's.

    Args:
      communication: how the collective ops communicate.

    Raises:
      ValueError: TF_CONFIG says a cluster, but not which task this is.
    """

    def __init__(
        self, communication: CollectiveCommunication = CollectiveCommunication.AUTO
    ) -> None:
        super().__init__(CollectiveExtended(self, communication=communication))

    @classmethod
    def _from_local_devices(cls, devices: Sequence[str]) -> MultiWorkerMirroredStrategy:
        made = cls()
        made.extended._initialize_locally(TFConfigClusterResolver(), devices)
        return made


class CollectiveExtended(MirroredExtended):
    """What `MultiWorkerMirroredStrategy` does."""

    def __init__(
        self,
        container_strategy: Any,
        communication: CollectiveCommunication,
        cluster_resolver: Any = None,
    ) -> None:
        StrategyExtended.__init__(self, container_strategy)
        assert isinstance(communication, CollectiveCommunication)
        self._communication = communication
        resolver = cluster_resolver or TFConfigClusterResolver()
        if resolver.cluster_spec().as_dict():
            self._initialize_cluster(resolver)
        else:
            self._initialize_locally(resolver)

    def _initialize_locally(
        self, cluster_resolver: Any, devices: Sequence[str] | None = None
    ) -> None:
        self._is_chief, self._num_workers = True, 1
        gpus = _gpus_of(cluster_resolver)
        names = devices or device_names.local_devices_from_num_gpus(gpus)
        self._worker_device = device_names.canonicalize("/device:CPU:0")
        self._start(names, gpus, ClusterPlace())
        self._cluster_spec: Any = None
        self._task_type: Any = None
        self._task_id: Any = None
        self._rpc_layer = cluster_resolver.rpc_layer
        program_log.info(
            "Single-worker CollectiveAllReduceStrategy with local_devices = %r, "
            "communication = %s",
            names,
            self._communication,
        )

    def _initialize_cluster(self, cluster_resolver: Any) -> None:
        spec = cluster_tasks.normalize_cluster_spec(cluster_resolver.cluster_spec())
        task_type, task_id = cluster_resolver.task_type, cluster_resolver.task_id
        if task_type is None or task_id is None:
            raise ValueError(
                "When `cluster_spec` is given, you must also specify `task_type` and "
                "`task_id`."
            )
        self._num_workers = cluster_tasks.worker_count(spec, task_type)
        if not self._num_workers:
            raise ValueError(
                "No `worker`, `chief` or `evaluator` tasks can be found in "
                "`cluster_spec`."
            )
        self._cluster_spec, self._task_type, self._task_id = spec, task_type, task_id
        self._is_chief = cluster_tasks.is_chief(spec, task_type, task_id)
        worker = self._worker_device = f"/job:{task_type}/task:{task_id}"
        gpus = _gpus_of(cluster_resolver)
        names = tuple(f"{worker}/device:GPU:{i}" for i in range(gpus)) or (worker,)
        address = spec.task_address(task_type, task_id)
        self._start(names, gpus, ClusterPlace(address, repr(spec.as_dict())))
        self._input_workers = InputWorkers(
            self._device_map, [(worker, self.worker_devices)]
        )
        self._default_device = worker
        self._rpc_layer = cluster_resolver.rpc_layer

    def _start(self, devices: Sequence[str], gpus: int, place: ClusterPlace) -> None:
        self._host_input_device = SingleDevice(self._worker_device)
        self._collective_keys = CollectiveKeys(place=place)
        self._cross_device_ops = CollectiveAllReduce(
            num_workers=self._num_workers,
            num_gpus_per_worker=gpus,
            collective_keys=self._collective_keys,
        )
        host = self._host_input_device
        self._initialize_local(devices)
        self._host_input_device = host
        self._num_gpus_per_worker = gpus
        if self._communication == CollectiveCommunication.NCCL and not gpus:
            program_log.warning(
                "Enabled NCCL communication but no GPUs detected/specified."
            )

    def _initial_value(
        self, number: int, name: str, first: Any, options: dict[str, Any]
    ) -> Any:
        if number:
            return super()._initial_value(number, name, first, options)
        given, dtype = options["initial_value"], options.get("dtype")

        def value() -> Any:
            group = self._collective_keys.get_group_key([name])
            instance = self._collective_keys.get_variable_instance_key()
            with device(name):
                made = given() if callable(given) else given
                own = convert_to_tensor(made, dtype=dtype)
                if self._num_workers < 2:
                    return own
                terms = own.shape, own.dtype, self._num_workers, group, instance
                if not self._is_chief:
                    return collective_ops.broadcast_recv(*terms)
                sent = collective_ops.broadcast_send(own, *terms)
                with control_dependencies([sent]):
                    return identity_ops.identity(own)

        return value

    # --- input ----------------------------------------------------------------------

    def _input_contexts(self) -> list[InputContext]:
        number = 0
        if self._cluster_spec is not None:
            number = cluster_tasks.id_in_cluster(
                self._cluster_spec, self._task_type, self._task_id
            )
        return [InputContext(self._num_workers, number, self._num_replicas_in_sync)]

    def _make_dataset_iterator(self, dataset: Any) -> Any:
        distributed = self._experimental_distribute_dataset(dataset)
        return distributed.make_initializable_iterator()

    def _experimental_distribute_dataset(self, dataset: Any) -> Any:
        return iterators.DistributedDataset(
            dataset,
            self._input_workers,
            self._container_strategy(),
            split_batch_by=self._num_replicas_in_sync,
            input_context=self._input_contexts()[0],
        )

    def _reduce_to(self, reduce_op: ReduceOp, value: Any, destinations: Any) -> Any:
        if isinstance(value, Mirrored):
            return super()._reduce_to(reduce_op, value, destinations)
        if isinstance(value, DistributedValues) and len(self.worker_devices) == 1:
            value = value.values[0]
        if not isinstance(value, DistributedValues) and self._num_workers == 1:
            return reduce_non_distributed_value(
                reduce_op, self._device_map, value, destinations
            )
        return self._get_cross_device_ops().reduce(
            reduce_op, value, destinations=destinations
        )

    # --- facts ----------------------------------------------------------------------

    @property
    def experimental_between_graph(self) -> bool:
        """Yes: each worker builds a graph of its own."""
        return True

    @property
    def should_checkpoint(self) -> bool:
        """Whether this is the chief."""
        return self._is_chief

    @property
    def should_save_summary(self) -> bool:
        """Whether this is the chief."""
        return self._is_chief

    @property
    def _num_replicas_in_sync(self) -> int:
        return len(self.worker_devices) * self._num_workers

    # --- clusters -------------------------------------------------------------------

    @property
    def _all_workers_step_together(self) -> bool:
        """Yes, by its collective ops."""
        return True

    def _configure(
        self,
        session_config: Any = None,
        cluster_spec: Any = None,
        task_type: str | None = None,
        task_id: int | None = None,
    ) -> None:
        if cluster_spec:
            self._initialize_cluster(
                SimpleClusterResolver(
                    cluster_spec=cluster_tasks.normalize_cluster_spec(cluster_spec),
                    task_type=task_type,
                    task_id=task_id,
                    num_accelerators={"GPU": self._num_gpus_per_worker},
                    rpc_layer=self._rpc_layer,
                )
            )
        if session_config:
            session_config.CopyFrom(self._update_config_proto(session_config))

    def _update_config_proto(self, config_proto: Any) -> Any:
        updated = copy.deepcopy(config_proto)
        rewrites = updated.graph_options.rewrite_options
        rewrites.scoped_allocator_optimization = rewrites.ON
        del rewrites.scoped_allocator_opts.enable_op[:]
        rewrites.scoped_allocator_opts.enable_op.append("CollectiveReduce")
        if self._communication == CollectiveCommunication.NCCL:
            updated.experimental.collective_nccl = True
        if self._cluster_spec:
            updated.experimental.collective_group_leader = (
                cluster_tasks.collective_leader(
                    self._cluster_spec, self._task_type, self._task_id
                )
            )
            del updated.device_filters[:]
            updated.device_filters.append(
                f"/job:{self._task_type}/task:{self._task_id}"
            )
        return updated


def _gpus_of(cluster_resolver: Any) -> int:
    if isinstance(cluster_resolver, TFConfigClusterResolver):
        return device_names.num_gpus()
    gpus: int = cluster_resolver.num_accelerators().get("GPU", 0)
    return gpus
