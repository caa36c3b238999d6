"""`CrossDeviceOps`: reductions and broadcasts between the devices of replicas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.client.distribution.reduce_op import ReduceOp
from tensorloom.client.program import program_log
from tensorloom.client.variables.base_resource_variable import BaseResourceVariable
from tensorloom.distribute.reduction import copies
from tensorloom.distribute.values import device_names
from tensorloom.distribute.values.aggregating_variable import AggregatingVariable
from tensorloom.distribute.values.device_maps import (
    DeviceMap,
    LogicalDeviceSpec,
    SingleDeviceMap,
)
from tensorloom.distribute.values.distributed_values import (
    DistributedValues,
    Mirrored,
    PerReplica,
)
from tensorloom.distribute.values.regrouping import regroup
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, device
from tensorloom.framework.graph.tensor import is_tensor
from tensorloom.ops.math import math_ops

Pairs = Sequence[tuple[Any, Any]]

_DESTINATIONS = (
    DistributedValues,
    BaseResourceVariable,
    Tensor,
    AggregatingVariable,
    str,
    LogicalDeviceSpec,
)


def check_destinations(destinations: Any) -> bool:
    """Whether destinations say a device."""
    if isinstance(destinations, BaseResourceVariable | Tensor):
        return bool(destinations.device)
    if isinstance(destinations, DistributedValues | AggregatingVariable):
        return True
    return bool(destinations)


def validate_destinations(destinations: Any) -> None:
    """Raises ValueError unless destinations are of a known kind, and say a device."""
    if not isinstance(destinations, _DESTINATIONS):
        raise ValueError(
            "destinations must be one of a `DistributedValues` object, a tf.Variable "
            f"object, or a device string. Got: {destinations!r}"
        )
    if not check_destinations(destinations):
        raise ValueError("destinations can not be empty")


def get_devices_from(destinations: Any) -> tuple[str, ...]:
    """The names of the devices of destinations."""
    if isinstance(destinations, DistributedValues):
        return destinations.devices
    if isinstance(destinations, LogicalDeviceSpec):
        return destinations.device_map.logical_to_actual_devices(0)
    if isinstance(destinations, str):
        return (device_names.resolve(destinations),)
    return (device_names.resolve(destinations.device),)


def get_device_map_from(destinations: Any) -> tuple[DeviceMap, int]:
    """The device map of destinations, and their logical device."""
    if isinstance(destinations, DistributedValues | LogicalDeviceSpec):
        return destinations.device_map, destinations.logical_device
    if isinstance(destinations, str):
        name = device_names.resolve(destinations)
    else:
        name = destinations.device
    return SingleDeviceMap(name), 0


def devices_match(left: Any, right: Any) -> bool:
    """Whether two destinations are the same devices."""
    return set(get_devices_from(left)) == set(get_devices_from(right))


def all_devices_match(pairs: Pairs) -> bool:
    """Whether all values and destinations are on the same devices."""
    return all(devices_match(v, d) for v, d in pairs) and all(
        devices_match(v, pairs[0][0]) for v, _ in pairs[1:]
    )


def simple_broadcast(
    value: Any, destinations: Any, always_mirrored: bool = False
) -> Any:
    """A value copied to its destinations: Mirrored, or the value if there is one."""
    device_map, _ = get_device_map_from(destinations)
    names = device_map.logical_to_actual_devices(0)
    copied = [
        copies.copy_tensor_or_indexed_slices_to_device(value, name) for name in names
    ]
    if len(names) == 1 and not always_mirrored:
        return copied[0]
    return regroup(device_map, copied, wrap_class=Mirrored)


def reduce_non_distributed_value(
    reduce_op: ReduceOp, device_map: DeviceMap, value: Any, destinations: Any
) -> Any:
    """The reduction of a value that is the same for all replicas.

    Raises:
      ValueError: it is a distributed value; or a sum over several replicas is asked.
    """
    if isinstance(value, DistributedValues):
        raise ValueError(
            "You are passing a `DistributedValue` to `reduce_non_distributed_value`, "
            "which is not allowed."
        )
    # Zero added up is zero, and the mean of equal values is the value.
    if not is_tensor(value) and value == 0:
        return 0
    if reduce_op == ReduceOp.MEAN:
        return value
    validate_destinations(destinations)
    if device_map.num_replicas_in_graph != 1:
        raise ValueError(
            f"A non-DistributedValues value {value} cannot be reduced with the given "
            f"reduce op {reduce_op}."
        )
    return simple_broadcast(value, destinations)


def _as_per_replica(value: Any) -> PerReplica:
    if isinstance(value, tuple | list):
        raise ValueError(
            f"Cannot convert `input_tensor` to a `PerReplica` object, got {value!r} "
            "but expected a object that is not a tuple or list."
        )
    if isinstance(value, PerReplica):
        return value
    try:
        name = value.device
    except AttributeError:
        raise ValueError(
            "Cannot convert `input_tensor` to a `PerReplica` object because it doesn't "
            "have device set."
        ) from None
    return PerReplica(SingleDeviceMap(name), (value,))


def _as_pairs(pairs: Any) -> list[tuple[Any, Any]]:
    found = []
    for pair in pairs:
        if not isinstance(pair, tuple):
            raise ValueError(
                "Each element of `value_destination_pairs` should be a tuple."
            )
        if len(pair) != 2:
            raise ValueError(
                "Each element of `value_destination_pairs` should be a tuple of size 2."
            )
        found.append((_as_per_replica(pair[0]), pair[1]))
    return found


@export("distribute.CrossDeviceOps", "contrib.distribute.CrossDeviceOps")
class CrossDeviceOps:
    """Base of the ways to reduce and broadcast values between devices."""

    def __init__(self) -> None:
        pass

    @property
    def _num_between_graph_workers(self) -> int:
        return 1

    def reduce(
        self, reduce_op: ReduceOp, per_replica_value: Any, destinations: Any
    ) -> Any:
        """The sum or mean of the values of all replicas, at the destinations.

        Args:
          reduce_op: SUM or MEAN.
          per_replica_value: a PerReplica, or a tensor with a device.
          destinations: a device's name, or what is on the devices: a tensor, variable
            or distributed value.

        Raises:
          ValueError: the value or the destinations are of no such kind.
        """
        if not isinstance(per_replica_value, DistributedValues):
            per_replica_value = _as_per_replica(per_replica_value)
        validate_destinations(destinations)
        if (
            self._num_between_graph_workers == 1
            and len(per_replica_value.values) == 1
            and devices_match(per_replica_value, destinations)
        ):
            return _mirrored(per_replica_value)
        return self.reduce_implementation(reduce_op, per_replica_value, destinations)

    def batch_reduce(
        self, reduce_op: ReduceOp, value_destination_pairs: Any
    ) -> list[Any]:
        """`reduce` of several pairs (value, destinations).

        Raises:
          ValueError: they are no pairs, or one is of no such kind.
        """
        pairs = _as_pairs(value_destination_pairs)
        for _, destinations in pairs:
            validate_destinations(destinations)
        if (
            pairs
            and self._num_between_graph_workers == 1
            and all_devices_match(pairs)
            and len(pairs[0][0].values) == 1
        ):
            return [_mirrored(value) for value, _ in pairs]
        return self.batch_reduce_implementation(reduce_op, pairs)

    def broadcast(self, tensor: Any, destinations: Any) -> Any:
        """Copies of a tensor at the destinations: a Mirrored value."""
        validate_destinations(destinations)
        return self.broadcast_implementation(tensor, destinations)

    def reduce_implementation(
        self, reduce_op: ReduceOp, per_replica_value: Any, destinations: Any
    ) -> Any:
        """What a subclass reduces by. Raises NotImplementedError here."""
        raise NotImplementedError("_reduce method must be implemented in descendants.")

    def batch_reduce_implementation(
        self, reduce_op: ReduceOp, value_destination_pairs: Pairs
    ) -> list[Any]:
        """What a subclass reduces several by. Raises NotImplementedError here."""
        raise NotImplementedError(
            "_batch_reduce method must be implemented in descendants."
        )

    def broadcast_implementation(self, tensor: Any, destinations: Any) -> Any:
        """What a subclass broadcasts by."""
        return simple_broadcast(tensor, destinations, always_mirrored=True)


def _mirrored(value: DistributedValues) -> Any:
    return regroup(value.device_map, value.values, wrap_class=Mirrored)


@export("distribute.ReductionToOneDevice")
class ReductionToOneDevice(CrossDeviceOps):
    """Copies all values to one device, adds them up there and copies the result.

    Args:
      reduce_to_device: where they are added up; the first destination when None.
      accumulation_fn: adds up a list of tensors; `tf.add_n` when None.
    """

    def __init__(
        self,
        reduce_to_device: str | None = None,
        accumulation_fn: Callable[[Any], Any] | None = None,
    ) -> None:
        self.reduce_to_device = reduce_to_device
        self.accumulation_fn = accumulation_fn or math_ops.add_n
        super().__init__()

    def reduce_implementation(
        self, reduce_op: ReduceOp, per_replica_value: Any, destinations: Any
    ) -> Any:
        """The reduction on one device, broadcast."""
        given = check_destinations(destinations)
        names = get_devices_from(destinations if given else per_replica_value)
        where = self.reduce_to_device or names[0]
        program_log.log_first_n(
            program_log.INFO,
            f"Reduce to {where} then broadcast to {names!r}.",
            10,
        )
        reduced = self._reduced(reduce_op, per_replica_value.values, where)
        return self.broadcast(reduced, destinations)

    def _reduced(self, reduce_op: ReduceOp, values: Sequence[Any], where: str) -> Any:
        if not values:
            raise ValueError("`per_replica_value` must be non-empty")
        if len(values) == 1 and values[0].device == where:
            return values[0]
        with device(where):
            reduced = copies.aggregate_tensors_or_indexed_slices(
                values, self.accumulation_fn
            )
            if reduce_op == ReduceOp.MEAN:
                return copies.divide_by_n_tensors_or_indexed_slices(
                    reduced, len(values)
                )
            if reduce_op != ReduceOp.SUM:
                raise ValueError("`reduce_op` must be Reduce.SUM or Reduce.MEAN.")
        return reduced

    def batch_reduce_implementation(
        self, reduce_op: ReduceOp, value_destination_pairs: Pairs
    ) -> list[Any]:
        """One reduction after the other."""
        return [
            self.reduce_implementation(reduce_op, value, destinations)
            for value, destinations in value_destination_pairs
        ]
