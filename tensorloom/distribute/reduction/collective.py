"""`CollectiveAllReduce`: reductions between workers by collective ops."""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.program import program_log
from tensorloom.distribute.reduction import copies
from tensorloom.distribute.reduction.all_reduce import (
    group_value_by_device,
    mirrored_results,
)
from tensorloom.distribute.reduction.cross_device import (
    CrossDeviceOps,
    Pairs,
    all_devices_match,
    get_device_map_from,
)
from tensorloom.distribute.values.device_maps import SingleDeviceMap
from tensorloom.distribute.values.distributed_values import Mirrored
from tensorloom.distribute.values.regrouping import regroup
from tensorloom.framework.collective import op_keys
from tensorloom.framework.collective.op_keys import ClusterPlace
from tensorloom.framework.devices.device_spec import DeviceSpec
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import control_dependencies, device, name_scope
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.collective import builders as collective_ops

if TYPE_CHECKING:
    from tensorloom.client.distribution.reduce_op import ReduceOp


@export("distribute.experimental.CollectiveCommunication")
class CollectiveCommunication(enum.Enum):
    """How collective ops communicate."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


_lock = threading.Lock()
_NO_CLUSTER: Final = ClusterPlace()


class CollectiveKeys:
    """The numbers by which the members of a collective operation find each other.

    Args:
      group_key_start: the first key of a group of devices.
      op_instance_key_start: the first key of an operation.
      variable_instance_key_start: the first key of a variable.
      place: this process's place in the cluster whose tasks take part.
    """

    def __init__(
        self,
        group_key_start: int = 1,
        op_instance_key_start: int = 100,
        variable_instance_key_start: int = 1000000,
        place: ClusterPlace = _NO_CLUSTER,
    ) -> None:
        assert op_instance_key_start != variable_instance_key_start
        self._group_key = group_key_start
        self._group_keys: dict[str, int] = {}
        self._op_instance_key_start = op_instance_key_start
        self._variable_instance_key = variable_instance_key_start
        self._place = place

    def get_group_key(self, devices: Sequence[str]) -> int:
        """The key of a group of devices, by their types and numbers."""
        specs = [DeviceSpec.from_string(name) for name in devices]
        group = ",".join(sorted(f"{s.device_type}:{s.device_index}" for s in specs))
        with _lock:
            if group not in self._group_keys:
                self._group_keys[group] = self._group_key
                self._group_key += 1
            return self._group_keys[group]

    def get_op_instance_key(self) -> int:
        """A new key of an operation."""
        return op_keys.new_key(self._place, self._op_instance_key_start)

    def get_variable_instance_key(self) -> int:
        """A new key of a variable."""
        key = self._variable_instance_key
        self._variable_instance_key += 1
        return key


class CollectiveAllReduce(CrossDeviceOps):
    """Reductions by collective ops.

    Args:
      num_workers: how many workers build a graph each.
      num_gpus_per_worker: how many devices each has.
      all_reduce_merge_scope: how many reductions share a name scope.
      collective_keys: the keys of the operations.
    """

    def __init__(
        self,
        num_workers: int = 1,
        num_gpus_per_worker: int = 0,
        all_reduce_merge_scope: int = 32,
        collective_keys: CollectiveKeys | None = None,
    ) -> None:
        self._num_workers = num_workers
        self._num_gpus_per_worker = num_gpus_per_worker
        self._all_reduce_merge_scope = all_reduce_merge_scope
        self._collective_keys = collective_keys or CollectiveKeys()
        super().__init__()

    @property
    def _num_between_graph_workers(self) -> int:
        return self._num_workers

    def reduce_implementation(
        self, reduce_op: ReduceOp, per_replica_value: Any, destinations: Any
    ) -> Any:
        """The reduction on all devices, copied to the destinations."""
        reduced = self._batch_all_reduce(reduce_op, [per_replica_value])[0]
        device_map, _ = get_device_map_from(destinations)
        if isinstance(reduced, Mirrored) and reduced.device_map is device_map:
            return reduced
        if not isinstance(reduced, Mirrored):
            reduced = Mirrored(SingleDeviceMap(reduced.device), [reduced])
        copied = []
        with control_dependencies(list(reduced.values)):
            for name in device_map.logical_to_actual_devices(0):
                with device(name):
                    here = name in reduced.devices
                    part = reduced.get(name) if here else reduced.primary
                    copied.append(identity_ops.identity(part))
        return regroup(device_map, copied, wrap_class=Mirrored)

    def batch_reduce_implementation(
        self, reduce_op: ReduceOp, value_destination_pairs: Pairs
    ) -> list[Any]:
        """All reductions together, if they are of the same devices."""
        if all_devices_match(value_destination_pairs):
            return self._batch_all_reduce(
                reduce_op, [value for value, _ in value_destination_pairs]
            )
        program_log.log_first_n(
            program_log.WARN,
            "Efficient batch_reduce is not supported if destinations are different.",
            10,
        )
        return [
            self.reduce_implementation(reduce_op, value, destinations)
            for value, destinations in value_destination_pairs
        ]

    def _batch_all_reduce(self, reduce_op: ReduceOp, values: list[Any]) -> list[Any]:
        dense, dense_places, sparse, sparse_places = copies.split_by_sparsity(values)
        return copies.stitch_values(
            [
                (self._reduced(reduce_op, dense, self._sums), dense_places),
                (self._reduced(reduce_op, sparse, self._all_slices), sparse_places),
            ]
        )

    def _reduced(
        self,
        reduce_op: ReduceOp,
        values: list[Any],
        reduce: Callable[[list[Any]], list[Any]],
    ) -> list[Any]:
        if not values:
            return []
        program_log.log_first_n(
            program_log.INFO,
            f"Collective batch_all_reduce: {len(values)} all-reduces, num_workers = "
            f"{self._num_workers}",
            10,
        )
        by_value = list(zip(*group_value_by_device(values), strict=True))
        reduced = []
        step = self._all_reduce_merge_scope
        for start in range(0, len(by_value), step):
            with name_scope("allreduce"):
                for pairs in by_value[start : start + step]:
                    parts = reduce([value for value, _ in pairs])
                    reduced.append([(part, None) for part in parts])
        return mirrored_results(
            list(zip(*reduced, strict=True)), values[0], reduce_op, self._num_workers
        )

    def _sums(self, tensors: list[Any]) -> list[Any]:
        """The sum over all devices of all workers, on each device of this one."""

        def all_reduce(tensor: Any, size: int, group: int, instance: int) -> Any:
            return collective_ops.all_reduce(tensor, size, group, instance, "Add", "Id")

        return self._collectively(tensors, all_reduce)

    def _all_slices(self, slices: list[Any]) -> list[Any]:
        """The slices of all devices of all workers, on each device of this one."""
        gather = collective_ops.all_gather
        values = self._collectively([s.values for s in slices], gather)
        indices = self._collectively([s.indices for s in slices], gather)
        return [
            IndexedSlices(value, index, dense_shape=each.dense_shape)
            for value, index, each in zip(values, indices, slices, strict=True)
        ]

    def _collectively(self, tensors: list[Any], build: Callable[..., Any]) -> list[Any]:
        group_size = len(tensors) * self._num_workers
        if group_size < 2:
            return tensors
        names = [tensor.device for tensor in tensors]
        group_key = self._collective_keys.get_group_key(names)
        instance_key = self._collective_keys.get_op_instance_key()
        results = []
        for tensor, name in zip(tensors, names, strict=True):
            with device(name):
                results.append(build(tensor, group_size, group_key, instance_key))
        return results
