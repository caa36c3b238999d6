"""What strategies with several replicas in one graph have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.distribute.inputs import iterators
from tensorloom.distribute.inputs.input_context import InputContext
from tensorloom.distribute.inputs.numpy_input import (
    SingleDevice,
    one_host_numpy_dataset,
)
from tensorloom.distribute.reduction.cross_device import check_destinations
from tensorloom.distribute.strategies.extended import StrategyExtended
from tensorloom.distribute.strategies.replica_threads import call_for_each_replica
from tensorloom.distribute.values.device_maps import (
    LogicalDeviceSpec,
    ReplicaDeviceMap,
)
from tensorloom.distribute.values.distributed_values import DistributedValues

if TYPE_CHECKING:
    from tensorloom.distribute.inputs.input_workers import InputWorkers


class ReplicatedExtended(StrategyExtended):
    """Replicas on the devices of a map, and the input that feeds them."""

    _device_map: ReplicaDeviceMap
    _input_workers: InputWorkers
    _host_input_device: SingleDevice

    def _get_cross_device_ops(self) -> Any:
        """What reduces and broadcasts."""
        raise NotImplementedError("must be implemented in descendants")

    # --- input ----------------------------------------------------------------------

    def _make_dataset_iterator(self, dataset: Any) -> Any:
        return iterators.dataset_iterator(
            dataset,
            self._input_workers,
            self._container_strategy(),
            split_batch_by=self._num_replicas_in_sync,
        )

    def _input_contexts(self) -> list[InputContext]:
        count = self._input_workers.num_workers
        replicas = self._num_replicas_in_sync
        return [InputContext(count, number, replicas) for number in range(count)]

    def _make_input_fn_iterator(
        self, input_fn: Callable[..., Any], replication_mode: Any = None
    ) -> Any:
        return iterators.input_function_iterator(
            input_fn,
            self._input_workers,
            self._input_contexts(),
            self._container_strategy(),
        )

    def _experimental_distribute_dataset(self, dataset: Any) -> Any:
        return iterators.DistributedDataset(
            dataset,
            self._input_workers,
            self._container_strategy(),
            split_batch_by=self._num_replicas_in_sync,
        )

    def _experimental_distribute_datasets_from_function(
        self, dataset_fn: Callable[..., Any]
    ) -> Any:
        return iterators.DistributedDatasetsFromFunction(
            dataset_fn,
            self._input_workers,
            self._input_contexts(),
            self._container_strategy(),
        )

    def _experimental_make_numpy_dataset(self, numpy_input: Any, session: Any) -> Any:
        return one_host_numpy_dataset(numpy_input, self._host_input_device, session)

    # --- replicas -------------------------------------------------------------------

    def _call_for_each_replica(
        self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        return call_for_each_replica(
            self._container_strategy(), self._device_map, fn, args, kwargs
        )

    def _broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        # What is no tensor is the same everywhere already.
        if isinstance(tensor, float | int):
            return tensor
        if not check_destinations(destinations):
            destinations = LogicalDeviceSpec(self._device_map, 0)
        return self._get_cross_device_ops().broadcast(tensor, destinations)

    def _local_results(self, distributed_value: Any) -> tuple[Any, ...]:
        if isinstance(distributed_value, DistributedValues):
            return distributed_value.values
        return (distributed_value,)

    # --- facts ----------------------------------------------------------------------

    @property
    def _num_replicas_in_sync(self) -> int:
        return self._device_map.num_replicas_in_graph

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices of the replicas."""
        return self._device_map.all_devices

    @property
    def worker_devices_by_replica(self) -> Any:
        """The device of each replica, in a tuple."""
        return self._device_map.devices_by_replica

    @property
    def _global_batch_size(self) -> bool:
        return True
