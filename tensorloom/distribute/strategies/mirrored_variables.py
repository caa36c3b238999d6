"""Makes the parts of a distributed variable, and puts it into its collections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.variables.variable_policy import (
    VariableAggregation,
    VariableSynchronization,
)
from tensorloom.distribute.values.distributed_variable import DistributedVariable
from tensorloom.distribute.values.mirrored_variable import MirroredVariable
from tensorloom.distribute.values.sync_on_read_variable import SyncOnReadVariable
from tensorloom.framework.graph.graph import GraphKeys, device, get_default_graph
from tensorloom.ops.array import identity as identity_ops

if TYPE_CHECKING:
    from tensorloom.distribute.values.device_maps import DeviceMap

# (replica, device, first part, options) -> the initial value of a part.
InitialValue = Callable[[int, str, Any, dict[str, Any]], Any]


def create_mirrored_variable(
    strategy: Any,
    device_map: DeviceMap,
    next_creator: Callable[..., Any],
    options: dict[str, Any],
    initial_value: InitialValue,
) -> DistributedVariable:
    """A variable with a part on each device.

    Args:
      strategy: whose variable it is.
      device_map: the devices.
      next_creator: makes a part.
      options: of the variable.
      initial_value: gives the initial value of a part.

    Raises:
      ValueError: the synchronization or the aggregation is none that a part for each
        replica can have.
    """
    keys = options.pop("collections", None)
    keys = [GraphKeys.GLOBAL_VARIABLES] if keys is None else list(keys)
    options["collections"] = []
    kind = _class_for(
        options.get("synchronization", VariableSynchronization.ON_WRITE),
        options.get("name"),
    )
    aggregation = checked_aggregation(options)
    options.pop("caching_device", None)
    parts: list[Any] = []
    for number, name in enumerate(device_map.logical_to_actual_devices(0)):
        first = parts[0] if parts else None
        with device(name):
            options["initial_value"] = initial_value(number, name, first, options)
            if first is not None:
                options["name"] = f"{first.name.split(':')[0]}/replica_{number}/"
            part = next_creator(**options)
        assert not isinstance(part, DistributedVariable)
        parts.append(part)
    variable = kind(strategy, device_map, parts, aggregation)
    add_to_collections(variable, parts, keys, options.get("trainable", True))
    return variable


def _class_for(synchronization: Any, name: Any) -> type[DistributedVariable]:
    if synchronization == VariableSynchronization.ON_READ:
        return SyncOnReadVariable
    if synchronization in (
        VariableSynchronization.ON_WRITE,
        VariableSynchronization.AUTO,
    ):
        return MirroredVariable
    if synchronization == VariableSynchronization.NONE:
        raise ValueError(
            "`NONE` variable synchronization mode is not supported with `Mirrored` "
            "distribution strategy. Please change the `synchronization` for variable: "
            f"{name}"
        )
    raise ValueError(
        f"Invalid variable synchronization mode: {synchronization} for variable: {name}"
    )


def checked_aggregation(options: dict[str, Any]) -> VariableAggregation:
    """Takes the aggregation out of a variable's options.

    Raises:
      ValueError: it is none.
    """
    aggregation = options.pop("aggregation", VariableAggregation.NONE)
    if not isinstance(aggregation, VariableAggregation):
        raise ValueError(
            f"Invalid variable aggregation mode: {aggregation} for variable: "
            f"{options.get('name')}"
        )
    return aggregation


def add_to_collections(
    variable: Any, parts: Sequence[Any], keys: list[Any], trainable: Any
) -> None:
    """Puts a variable into its collections, and its parts out of that of training."""
    graph = get_default_graph()
    if trainable:
        keys.append(GraphKeys.TRAINABLE_VARIABLES)
        trained = graph.get_collection_ref(GraphKeys.TRAINABLE_VARIABLES)
        own = {id(part) for part in parts}
        trained[:] = [each for each in trained if id(each) not in own]
    graph.add_to_collections(keys, variable)


def value_of_first_part(
    number: int, name: str, first: Any, options: dict[str, Any]
) -> Any:
    """The initial value of a part: that of the first one, copied to its device."""
    if first is None:
        return options["initial_value"]

    def copied() -> Any:
        with device(name):
            return identity_ops.identity(first.initial_value)

    return copied
