"""`MirroredStrategy`: a replica on each device, variables mirrored on all of them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tensorloom.client.distribution.reduce_op import ReduceOp
from tensorloom.cluster.resolvers import TFConfigClusterResolver
from tensorloom.distribute.inputs.input_workers import InputWorkers
from tensorloom.distribute.inputs.numpy_input import (
    SingleDevice,
)
from tensorloom.distribute.reduction.all_reduce import NcclAllReduce, choose_the_best
from tensorloom.distribute.reduction.cross_device import (
    CrossDeviceOps,
    reduce_non_distributed_value,
)
from tensorloom.distribute.reduction.multi_worker import MultiWorkerAllReduce
from tensorloom.distribute.strategies import device_lists
from tensorloom.distribute.strategies.mirrored_variables import (
    create_mirrored_variable,
    value_of_first_part,
)
from tensorloom.distribute.strategies.replicated import ReplicatedExtended
from tensorloom.distribute.strategies.step_context import MultiStepContext, run_steps
from tensorloom.distribute.strategies.strategy import Strategy
from tensorloom.distribute.values import device_names
from tensorloom.distribute.values.device_maps import (
    ReplicaDeviceMap,
)
from tensorloom.distribute.values.distributed_values import DistributedValues, Mirrored
from tensorloom.distribute.values.distributed_variable import DistributedVariable
from tensorloom.distribute.values.regrouping import (
    regroup,
    select_device_mirrored,
    update_regroup,
    value_container,
)
from tensorloom.distribute.values.sync_on_read_variable import SyncOnReadVariable
from tensorloom.distribute.values.update_context import UpdateContext
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import device, name_scope
from tensorloom.ops.array import identity as identity_ops


def all_local_devices(num_gpus: int | None = None) -> Sequence[str]:
    """The names of so many GPUs, of all if None; of the CPU if there are none."""
    count = device_names.num_gpus() if num_gpus is None else num_gpus
    return device_names.local_devices_from_num_gpus(count)


def all_devices() -> Sequence[str]:
    """The devices of the cluster of TF_CONFIG; the local ones without one."""
    spec = TFConfigClusterResolver().cluster_spec()
    gpus = device_names.num_gpus()
    found = device_lists.cluster_devices(spec, gpus) if spec.as_dict() else []
    return found or all_local_devices(gpus)


@export("distribute.MirroredStrategy")
class MirroredStrategy(Strategy):
    """A replica on each device; variables are mirrored, and kept equal.

    Args:
      devices: their names; all GPUs when None, or the CPU if there are none.
      cross_device_ops: reduces between the devices; chosen when None.

    Raises:
      AssertionError: a device is given twice.
      ValueError: devices of several tasks.
    """

    def __init__(
        self,
        devices: Sequence[str] | None = None,
        cross_device_ops: CrossDeviceOps | None = None,
    ) -> None:
        super().__init__(MirroredExtended(self, devices, cross_device_ops))


class MirroredExtended(ReplicatedExtended):
    """What `MirroredStrategy` does."""

    def __init__(
        self,
        container_strategy: Any,
        devices: Sequence[str] | None = None,
        cross_device_ops: CrossDeviceOps | None = None,
    ) -> None:
        super().__init__(container_strategy)
        self._cross_device_ops = cross_device_ops
        self._initialize_strategy(devices or all_devices())

    def _initialize_strategy(self, devices: Sequence[str]) -> None:
        names = tuple(device_names.resolve(name) for name in devices)
        assert len(set(names)) == len(names), (
            f"No duplicates allowed in `devices` argument: {names}"
        )
        if device_lists.is_local(names):
            self._initialize_local(names)
        else:
            self._initialize_multi_worker(names)

    def _initialize_local(self, devices: Sequence[str]) -> None:
        self._local_mode = True
        self._device_map = ReplicaDeviceMap(devices)
        self._input_workers = InputWorkers(self._device_map)
        self._inferred_cross_device_ops = (
            None if self._cross_device_ops else choose_the_best(devices)
        )
        self._host_input_device = SingleDevice("/cpu:0")

    def _initialize_multi_worker(self, devices: Sequence[str]) -> None:
        self._local_mode = False
        workers = device_lists.by_worker(devices)
        self._default_device = workers[0][0]
        self._host_input_device = SingleDevice(workers[0][0])
        self._device_map = ReplicaDeviceMap(devices)
        self._input_workers = InputWorkers(self._device_map, workers)
        if len(workers) == 1:
            self._inferred_cross_device_ops = NcclAllReduce()
            return
        if not isinstance(self._cross_device_ops, MultiWorkerAllReduce):
            raise ValueError(
                "In-graph multi-worker training with `MirroredStrategy` is not "
                "supported."
            )
        self._inferred_cross_device_ops = self._cross_device_ops

    def _get_cross_device_ops(self) -> Any:
        return self._cross_device_ops or self._inferred_cross_device_ops

    # --- variables ------------------------------------------------------------------

    def _create_variable(self, next_creator: Any, **options: Any) -> Any:
        beside = options.pop("colocate_with", None)
        if isinstance(beside, SingleDevice):
            with device(beside.device):
                return next_creator(**options)
        return create_mirrored_variable(
            self._container_strategy(),
            self._device_map if beside is None else beside.device_map,
            next_creator,
            options,
            self._initial_value,
        )

    def _initial_value(
        self, number: int, name: str, first: Any, options: dict[str, Any]
    ) -> Any:
        return value_of_first_part(number, name, first, options)

    def _validate_colocate_with_variable(self, colocate_with_variable: Any) -> None:
        validate_colocate_distributed_variable(colocate_with_variable, self)

    def read_var(self, v: Any) -> Any:
        """The value of a variable for all replicas: that of their parts together."""
        if isinstance(v, SyncOnReadVariable):
            return v._get_cross_replica()
        assert isinstance(v, Mirrored)
        return identity_ops.identity(v.get())

    # --- replicas -------------------------------------------------------------------

    def _experimental_run_steps_on_iterator(
        self,
        fn: Callable[..., Any],
        iterator: Any,
        iterations: int,
        initial_loop_values: Any,
    ) -> MultiStepContext:
        return run_steps(
            self,
            fn,
            iterator,
            iterations,
            initial_loop_values,
            lambda parts: regroup(self._device_map, parts),
        )

    # --- reductions and updates -----------------------------------------------------

    def _reduce_to(self, reduce_op: ReduceOp, value: Any, destinations: Any) -> Any:
        if isinstance(value, Mirrored) and reduce_op == ReduceOp.MEAN:
            return value
        assert not isinstance(value, Mirrored)
        if not isinstance(value, DistributedValues):
            return reduce_non_distributed_value(
                reduce_op, self._device_map, value, destinations
            )
        return self._get_cross_device_ops().reduce(
            reduce_op, value, destinations=destinations
        )

    def _batch_reduce_to(self, reduce_op: ReduceOp, pairs: Iterable[Any]) -> Any:
        return self._get_cross_device_ops().batch_reduce(reduce_op, pairs)

    def _update(
        self,
        var: Any,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        group: bool,
    ) -> Any:
        assert isinstance(var, DistributedVariable)

        def update(number: int, *args: Any, **kwargs: Any) -> Any:
            return fn(var.values[number], *args, **kwargs)

        return self._updated(var.devices, update, args, kwargs, group)

    def _update_non_slot(
        self,
        colocate_with: Any,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        group: bool,
    ) -> Any:
        assert isinstance(colocate_with, tuple)
        return self._updated(
            colocate_with, lambda _, *a, **k: fn(*a, **k), args, kwargs, group
        )

    def _updated(
        self,
        devices: Sequence[str],
        update: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        group: bool,
    ) -> Any:
        updates = []
        for number, name in enumerate(devices):
            with device(name), UpdateContext(name), name_scope(f"update_{number}"):
                own_args = select_device_mirrored(name, args)
                own_kwargs = select_device_mirrored(name, kwargs)
                updates.append(update(number, *own_args, **own_kwargs))
        return update_regroup(self, self._device_map, updates, group)

    def value_container(self, value: Any) -> Any:
        """The variable that a value is a part of, or the value."""
        return value_container(value)

    def non_slot_devices(self, var_list: Any) -> tuple[str, ...]:
        """All devices."""
        return self._device_map.logical_to_actual_devices(0)

    # --- facts ----------------------------------------------------------------------

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices of the variables: those of the replicas."""
        return self._device_map.all_devices

    @property
    def experimental_between_graph(self) -> bool:
        """No: there is one graph."""
        return False

    @property
    def experimental_should_init(self) -> bool:
        """Yes."""
        return True

    @property
    def should_checkpoint(self) -> bool:
        """Yes."""
        return True

    @property
    def should_save_summary(self) -> bool:
        """Yes."""
        return True

    # --- clusters -------------------------------------------------------------------

    def _configure(
        self,
        session_config: Any = None,
        cluster_spec: Any = None,
        task_type: str | None = None,
        task_id: int | None = None,
    ) -> None:
        if session_config:
            session_config.CopyFrom(self._update_config_proto(session_config))
        if cluster_spec:
            gpus = device_lists.gpus_per_worker(self._device_map.all_devices)
            self._initialize_multi_worker(
                device_lists.cluster_devices(cluster_spec, gpus)
            )

    def _update_config_proto(self, config_proto: Any) -> Any:
        updated = copy.deepcopy(config_proto)
        updated.isolate_session_state = True
        return updated


def validate_colocate_distributed_variable(v: Any, extended: Any) -> None:
    """Raises ValueError unless it is a distributed variable of the strategy."""
    if not isinstance(v, DistributedVariable):
        raise ValueError(
            "`colocate_vars_with` must only be passed a variable created in this "
            f"tf.distribute.Strategy.scope(), not: {v!r}"
        )
    validate_colocate(v, extended)


def validate_colocate(v: Any, extended: Any) -> None:
    """Raises ValueError unless it is a variable of the strategy."""
    strategy = getattr(v, "_distribute_strategy", None)
    if strategy is None:
        raise ValueError(
            "`colocate_vars_with` must only be passed a variable created in this "
            f"tf.distribute.Strategy.scope(), not: {v!r}"
        )
    if strategy.extended is not extended:
        raise ValueError(
            "`colocate_vars_with` must only be passed a variable created in this "
            f"tf.distribute.Strategy.scope(), not {v} created in scope: {strategy}"
        )
