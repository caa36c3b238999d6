"""`OneDeviceStrategy`: one replica, on a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.distribute.inputs import iterators
from tensorloom.distribute.inputs.input_context import InputContext
from tensorloom.distribute.inputs.input_workers import InputWorkers
from tensorloom.distribute.inputs.numpy_input import (
    SingleDevice,
    one_host_numpy_dataset,
)
from tensorloom.distribute.strategies.extended import StrategyExtended
from tensorloom.distribute.strategies.mirrored import validate_colocate
from tensorloom.distribute.strategies.replica_context import ReplicaContext
from tensorloom.distribute.strategies.step_context import MultiStepContext, run_steps
from tensorloom.distribute.strategies.strategy import Strategy
from tensorloom.distribute.values import device_names
from tensorloom.distribute.values.device_maps import SingleDeviceMap
from tensorloom.distribute.values.update_context import UpdateContext
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import colocate_with, device
from tensorloom.framework.types import dtypes, nest
from tensorloom.ops.array import constant as constant_op
from tensorloom.ops.array import identity as identity_ops

if TYPE_CHECKING:
    from tensorloom.client.distribution.reduce_op import ReduceOp


@export("distribute.OneDeviceStrategy", "contrib.distribute.OneDeviceStrategy")
class OneDeviceStrategy(Strategy):
    """One replica, on a device.

    Args:
      device: its name.
    """

    def __init__(self, device: str) -> None:
        super().__init__(OneDeviceExtended(self, device))


class OneDeviceExtended(StrategyExtended):
    """What `OneDeviceStrategy` does."""

    def __init__(self, container_strategy: Any, device: str) -> None:
        super().__init__(container_strategy)
        self._device = device_names.canonicalize(device)
        task = self._device.rpartition("/")[0]
        self._input_device = f"{task}/device:CPU:0"
        self._input_workers = InputWorkers(
            SingleDeviceMap(device), [(self._input_device, [self._device])]
        )

    # --- variables ------------------------------------------------------------------

    def _create_variable(self, next_creator: Any, **options: Any) -> Any:
        beside = options.pop("colocate_with", None)
        if beside is None:
            where = device(self._device)
        elif isinstance(beside, SingleDevice):
            where = device(beside.device)
        else:
            where = colocate_with(beside)
        with where:
            return next_creator(**options)

    def _validate_colocate_with_variable(self, colocate_with_variable: Any) -> None:
        validate_colocate(colocate_with_variable, self)

    def read_var(self, v: Any) -> Any:
        """The variable's value."""
        return identity_ops.identity(v)

    # --- input ----------------------------------------------------------------------

    def _make_dataset_iterator(self, dataset: Any) -> Any:
        return iterators.dataset_iterator(
            dataset, self._input_workers, self._container_strategy()
        )

    def _make_input_fn_iterator(
        self, input_fn: Callable[..., Any], replication_mode: Any = None
    ) -> Any:
        return iterators.input_function_iterator(
            input_fn,
            self._input_workers,
            [InputContext()],
            self._container_strategy(),
        )

    def _experimental_distribute_dataset(self, dataset: Any) -> Any:
        return iterators.DistributedDataset(
            dataset, self._input_workers, self._container_strategy()
        )

    def _experimental_distribute_datasets_from_function(
        self, dataset_fn: Callable[..., Any]
    ) -> Any:
        return iterators.DistributedDatasetsFromFunction(
            dataset_fn,
            self._input_workers,
            [InputContext()],
            self._container_strategy(),
        )

    def _experimental_make_numpy_dataset(self, numpy_input: Any, session: Any) -> Any:
        where = SingleDevice(self._input_device)
        return one_host_numpy_dataset(numpy_input, where, session)

    # --- replicas -------------------------------------------------------------------

    def _call_for_each_replica(
        self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        with device(self._device), _OneDeviceReplicaContext(self._container_strategy()):
            return fn(*args, **kwargs)

    def _experimental_run_steps_on_iterator(
        self,
        fn: Callable[..., Any],
        iterator: Any,
        iterations: int,
        initial_loop_values: Any,
    ) -> MultiStepContext:
        return run_steps(
            self, fn, iterator, iterations, initial_loop_values, lambda parts: parts[0]
        )

    def _broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        return tensor

    def _reduce_to(self, reduce_op: ReduceOp, value: Any, destinations: Any) -> Any:
        return value

    def _update(
        self,
        var: Any,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        group: bool,
    ) -> Any:
        return self._update_non_slot(var, fn, (var, *args), kwargs, group)

    def _update_non_slot(
        self,
        colocate_with: Any,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        group: bool,
    ) -> Any:
        with device(self._device), UpdateContext(self._device):
            result = fn(*args, **kwargs)
        return result if group else nest.map_structure(self._local_results, result)

    def _local_results(self, distributed_value: Any) -> tuple[Any, ...]:
        return (distributed_value,)

    def value_container(self, value: Any) -> Any:
        """The value."""
        return value

    def non_slot_devices(self, var_list: Any) -> tuple[str, ...]:
        """The device."""
        return (self._device,)

    # --- facts ----------------------------------------------------------------------

    @property
    def _num_replicas_in_sync(self) -> int:
        return 1

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The device."""
        return (self._device,)

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The device."""
        return (self._device,)

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

    @property
    def _global_batch_size(self) -> bool:
        return True


class _OneDeviceReplicaContext(ReplicaContext):
    def __init__(self, strategy: Any) -> None:
        zero = constant_op.constant(0, dtypes.int32)
        super().__init__(strategy, replica_id_in_sync_group=zero)

    @property
    def devices(self) -> Any:
        """The strategy's device."""
        return self._strategy.extended.worker_devices
