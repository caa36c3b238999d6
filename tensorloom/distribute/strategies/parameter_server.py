"""Strategies whose variables are in one place for all replicas.

That is parameter servers, or one device of this process (`CentralStorageStrategy`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from tensorloom.client.program import program_log
from tensorloom.client.variables.base_resource_variable import BaseResourceVariable
from tensorloom.cluster.resolvers import SimpleClusterResolver, TFConfigClusterResolver
from tensorloom.distribute.inputs.input_context import InputContext
from tensorloom.distribute.inputs.input_workers import InputWorkers
from tensorloom.distribute.inputs.numpy_input import (
    SingleDevice,
)
from tensorloom.distribute.reduction.cross_device import (
    ReductionToOneDevice,
    get_devices_from,
    reduce_non_distributed_value,
)
from tensorloom.distribute.strategies import cluster_tasks
from tensorloom.distribute.strategies.mirrored import validate_colocate
from tensorloom.distribute.strategies.mirrored_variables import (
    add_to_collections,
    checked_aggregation,
)
from tensorloom.distribute.strategies.replicated import ReplicatedExtended
from tensorloom.distribute.strategies.strategy import Strategy
from tensorloom.distribute.values import device_names
from tensorloom.distribute.values.aggregating_variable import AggregatingVariable
from tensorloom.distribute.values.device_maps import (
    ReplicaDeviceMap,
)
from tensorloom.distribute.values.distributed_values import (
    DistributedValues,
    Mirrored,
    PerReplica,
)
from tensorloom.distribute.values.update_context import UpdateContext
from tensorloom.framework.devices.device_spec import DeviceSpec
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import GraphKeys, colocate_with, device
from tensorloom.framework.types import nest
from tensorloom.ops.array import identity as identity_ops
from tensorloom.train.device_setter import replica_device_setter

if TYPE_CHECKING:
    from tensorloom.client.distribution.reduce_op import ReduceOp

_LOCAL_CPU = "/device:CPU:0"


@export("distribute.experimental.ParameterServerStrategy")
class ParameterServerStrategy(Strategy):
    """Each worker builds its own graph; variables are on parameter servers.

    Without a cluster they are on the CPU, or on the one device that there is.

    Args:
      cluster_resolver: which task of a cluster this is; TF_CONFIG says it when None.
    """

    def __init__(self, cluster_resolver: Any = None) -> None:
        if cluster_resolver is None:
            cluster_resolver = TFConfigClusterResolver()
        super().__init__(
            ParameterServerExtended(self, cluster_resolver=cluster_resolver)
        )


@export("distribute.experimental.CentralStorageStrategy")
class CentralStorageStrategy(Strategy):
    """A replica on each device; the variables are on one of them.

    Args:
      compute_devices: of the replicas; all GPUs when None, or the CPU.
      parameter_device: of the variables; the CPU when None, or the only device.
    """

    def __init__(
        self,
        compute_devices: Sequence[str] | None = None,
        parameter_device: str | None = None,
    ) -> None:
        super().__init__(
            ParameterServerExtended(
                self,
                compute_devices=compute_devices,
                parameter_device=parameter_device,
            )
        )

    @classmethod
    def _from_num_gpus(cls, num_gpus: int) -> CentralStorageStrategy:
        return cls(device_names.local_devices_from_num_gpus(num_gpus))


class ParameterServerExtended(ReplicatedExtended):
    """What both strategies do."""

    def __init__(
        self,
        container_strategy: Any,
        cluster_resolver: Any = None,
        compute_devices: Sequence[str] | None = None,
        parameter_device: str | None = None,
    ) -> None:
        super().__init__(container_strategy)
        if cluster_resolver and cluster_resolver.cluster_spec():
            self._initialize_multi_worker(cluster_resolver)
        else:
            self._initialize_local(compute_devices, parameter_device, cluster_resolver)
        self._cross_device_ops = ReductionToOneDevice(reduce_to_device=_LOCAL_CPU)

    def _initialize_multi_worker(self, cluster_resolver: Any) -> None:
        if isinstance(cluster_resolver, TFConfigClusterResolver):
            gpus = device_names.num_gpus()
        else:
            gpus = cluster_resolver.num_accelerators().get("GPU", 0)
        self._num_gpus_per_worker = gpus
        task_type, task_id = cluster_resolver.task_type, cluster_resolver.task_id
        if not task_type or task_id is None:
            raise ValueError(
                "When `cluster_spec` is given, you must also specify `task_type` and "
                "`task_id`"
            )
        spec = cluster_tasks.normalize_cluster_spec(cluster_resolver.cluster_spec())
        worker = f"/job:{task_type}/task:{task_id}"
        self._host_input_device = SingleDevice(worker)
        devices = tuple(f"{worker}/device:GPU:{i}" for i in range(gpus)) or (worker,)
        self._device_map = ReplicaDeviceMap(devices)
        self._input_workers = InputWorkers(
            self._device_map, [(worker, self._device_map.all_devices)]
        )
        servers = len(spec.as_dict().get("ps", []))
        if servers == 0:
            raise ValueError("The cluster spec needs to have `ps` jobs.")
        self._variable_device: Any = replica_device_setter(
            ps_tasks=servers, worker_device=worker, merge_devices=True, cluster=spec
        )
        self._parameter_devices = tuple(f"/job:ps/task:{i}" for i in range(servers))
        self._default_device = worker
        self._is_chief = cluster_tasks.is_chief(spec, task_type, task_id)
        self._cluster_spec: Any = spec
        self._task_type, self._task_id = task_type, task_id
        program_log.info(
            "Multi-worker ParameterServerStrategy with cluster_spec = %r, task_type = "
            "%r, task_id = %r, num_ps_replicas = %r, is_chief = %r, device_map = %r",
            spec.as_dict(),
            task_type,
            task_id,
            servers,
            self._is_chief,
            self._device_map,
        )

    def _initialize_local(
        self,
        compute_devices: Sequence[str] | None,
        parameter_device: str | None,
        cluster_resolver: Any,
    ) -> None:
        worker = device_names.canonicalize(_LOCAL_CPU)
        self._host_input_device = SingleDevice(worker)
        self._num_gpus_per_worker = 0
        if compute_devices is None:
            if cluster_resolver:
                gpus = cluster_resolver.num_accelerators().get("GPU", 0)
            else:
                gpus = device_names.num_gpus()
            self._num_gpus_per_worker = gpus
            compute_devices = device_names.local_devices_from_num_gpus(gpus)
        if parameter_device is None:
            one = len(compute_devices) == 1
            parameter_device = compute_devices[0] if one else _LOCAL_CPU
        self._device_map = ReplicaDeviceMap(compute_devices)
        self._input_workers = InputWorkers(
            self._device_map, [(worker, self._device_map.all_devices)]
        )
        self._variable_device = parameter_device
        self._parameter_devices = (parameter_device,)
        self._is_chief = True
        self._cluster_spec = self._task_type = self._task_id = None
        program_log.info(
            "ParameterServerStrategy with compute_devices = %r, variable_device = %r",
            compute_devices,
            parameter_device,
        )

    def _get_cross_device_ops(self) -> Any:
        return self._cross_device_ops

    # --- variables ------------------------------------------------------------------

    def _allow_variable_partition(self) -> bool:
        return True

    def _create_variable(self, next_creator: Any, **options: Any) -> Any:
        with self._place_of(options):
            if self._num_replicas_in_sync == 1:
                return next_creator(**options)
            aggregation = checked_aggregation(options)
            keys = options.pop("collections", None)
            keys = [GraphKeys.GLOBAL_VARIABLES] if keys is None else list(keys)
            options["collections"] = []
            variable = next_creator(**options)
            wrapped = AggregatingVariable(
                self._container_strategy(), variable, aggregation
            )
            add_to_collections(
                wrapped, [variable], keys, options.get("trainable", True)
            )
            return wrapped

    def _place_of(self, options: dict[str, Any]) -> AbstractContextManager[None]:
        """Where a variable is made."""
        if "colocate_with" not in options:
            return _only_on(self._variable_device)
        beside = options.pop("colocate_with")
        if isinstance(beside, SingleDevice):
            return device(beside.device)
        return colocate_with(beside)

    def _validate_colocate_with_variable(self, colocate_with_variable: Any) -> None:
        validate_colocate(colocate_with_variable, self)

    def read_var(self, v: Any) -> Any:
        """The variable's value."""
        return identity_ops.identity(v)

    def value_container(self, value: Any) -> Any:
        """The variable that stands for a value in all replicas, or the value."""
        if isinstance(value, AggregatingVariable):
            return value
        container = getattr(value, "_aggregating_container", None)
        variable = None if container is None else container()
        return value if variable is None else variable

    # --- input ----------------------------------------------------------------------

    def _input_contexts(self) -> list[InputContext]:
        count, number = 1, 0
        if self._cluster_spec:
            spec, kind, task = self._cluster_spec, self._task_type, self._task_id
            number = cluster_tasks.id_in_cluster(spec, kind, task)
            count = cluster_tasks.worker_count(spec, kind)
        return [InputContext(count, number, self._num_replicas_in_sync)]

    # --- reductions and updates -----------------------------------------------------

    def _check_destinations(self, destinations: Any) -> None:
        """Raises ValueError for destinations on another worker."""
        if not self._cluster_spec or destinations is None:
            return
        for name in get_devices_from(destinations):
            spec = DeviceSpec.from_string(name)
            if spec.job == self._task_type and spec.task != self._task_id:
                raise ValueError(
                    f"Cannot reduce to another worker: {name!r}, current worker is "
                    f"{self._input_workers.worker_devices[0]!r}"
                )

    def _reduce_to(self, reduce_op: ReduceOp, value: Any, destinations: Any) -> Any:
        self._check_destinations(destinations)
        if not isinstance(value, DistributedValues):
            return reduce_non_distributed_value(
                reduce_op, self._device_map, value, destinations
            )
        return self._cross_device_ops.reduce(
            reduce_op, value, destinations=destinations
        )

    def _batch_reduce_to(self, reduce_op: ReduceOp, pairs: Iterable[Any]) -> Any:
        pairs = list(pairs)
        for _, destinations in pairs:
            self._check_destinations(destinations)
        return self._cross_device_ops.batch_reduce(reduce_op, pairs)

    def _update(
        self,
        var: Any,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        group: bool,
    ) -> Any:
        if isinstance(var, AggregatingVariable):
            var = var.get()
        if not isinstance(var, BaseResourceVariable):
            raise ValueError(
                f"You can not update `var` {var!r}. It must be a Variable."
            )
        with colocate_with(var), UpdateContext(var.device):
            result = fn(var, *_single_values(args), **_single_values(kwargs))
        return result if group else nest.map_structure(self._local_results, result)

    def _update_non_slot(
        self,
        colocate_with: Any,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        group: bool,
    ) -> Any:
        with device(colocate_with.device), UpdateContext(colocate_with):
            result = fn(*args, **kwargs)
        return result if group else nest.map_structure(self._local_results, result)

    def non_slot_devices(self, var_list: Any) -> Any:
        """The first variable by name."""
        return min(var_list, key=lambda v: v.name)

    # --- facts ----------------------------------------------------------------------

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices of the variables."""
        return self._parameter_devices

    @property
    def experimental_between_graph(self) -> bool:
        """Yes: each worker builds a graph of its own."""
        return True

    @property
    def experimental_should_init(self) -> bool:
        """Whether this is the chief."""
        return self._is_chief

    @property
    def should_checkpoint(self) -> bool:
        """Whether this is the chief."""
        return self._is_chief

    @property
    def should_save_summary(self) -> bool:
        """Whether this is the chief."""
        return self._is_chief

    # --- clusters -------------------------------------------------------------------

    def _configure(
        self,
        session_config: Any = None,
        cluster_spec: Any = None,
        task_type: str | None = None,
        task_id: int | None = None,
    ) -> None:
        if cluster_spec:
            self._initialize_multi_worker(
                SimpleClusterResolver(
                    cluster_spec=cluster_tasks.normalize_cluster_spec(cluster_spec),
                    task_type=task_type,
                    task_id=task_id,
                    num_accelerators={"GPU": self._num_gpus_per_worker},
                )
            )
        if session_config:
            session_config.CopyFrom(self._update_config_proto(session_config))

    def _update_config_proto(self, config_proto: Any) -> Any:
        updated = copy.deepcopy(config_proto)
        updated.isolate_session_state = not self._cluster_spec
        if not self._cluster_spec:
            return updated
        own = f"/job:{self._task_type}/task:{self._task_id}"
        del updated.device_filters[:]
        if self._task_type in ("chief", "worker"):
            updated.device_filters.extend([own, "/job:ps"])
        elif self._task_type == "evaluator":
            updated.device_filters.append(own)
        return updated


@contextmanager
def _only_on(where: Any) -> Iterator[None]:
    """What is made inside is on a device, whatever it is colocated with outside."""
    with colocate_with(None, ignore_existing=True), device(where):
        yield


def _single_values(structured: Any) -> Any:
    """The structure with the values of Mirrored ones that have one part.

    Raises:
      ValueError: one has several, or a part for each replica.
    """

    def one(value: Any) -> Any:
        if isinstance(value, Mirrored):
            if len(value.devices) == 1:
                return value.primary
            raise ValueError(
                "You cannot update variable with a Mirrored object with multiple "
                f"components {value!r} when using ParameterServerStrategy. You must "
                "specify a single value or a Mirrored with a single value."
            )
        if isinstance(value, PerReplica):
            raise ValueError(
                f"You cannot update variable with a PerReplica object {value!r} when "
                "using ParameterServerStrategy. You must specify a single value or a "
                "Mirrored with a single value"
            )
        return value

    return nest.map_structure(one, structured)
