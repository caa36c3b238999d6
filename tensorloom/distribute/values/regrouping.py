"""From the results of each replica to one structure of distributed values, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.distribute.values.device_maps import DeviceMap
from tensorloom.distribute.values.distributed_values import (
    DistributedValues,
    Mirrored,
    PerReplica,
)
from tensorloom.distribute.values.distributed_variable import DistributedVariable
from tensorloom.framework.graph.graph import control_dependencies, device
from tensorloom.framework.graph.tensor import is_tensor
from tensorloom.framework.types import nest
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.control_flow import builders as control_flow_ops

_Wrap = Callable[[DeviceMap, Sequence[Any]], Any]


def regroup(
    device_map: DeviceMap, values: Sequence[Any], wrap_class: _Wrap = PerReplica
) -> Any:
    """One structure, whose leaves have a part for each replica.

    What is the same object for all replicas is left as it is, and the parts of one
    variable become the variable.

    Args:
      device_map: the devices of the replicas.
      values: the structure of each replica.
      wrap_class: makes a leaf of the device map and its parts.

    Raises:
      AssertionError: the structures differ.
    """
    assert len(values) == device_map.num_replicas_in_graph
    first = values[0]
    if isinstance(first, list):
        _check_sizes(list, values)
        return [
            regroup(device_map, parts, wrap_class)
            for parts in zip(*values, strict=True)
        ]
    if isinstance(first, tuple):
        _check_sizes(tuple, values)
        grouped = tuple(
            regroup(device_map, parts, wrap_class)
            for parts in zip(*values, strict=True)
        )
        make = getattr(type(first), "_make", None)
        return grouped if make is None else make(grouped)
    if isinstance(first, dict):
        for value in values:
            assert isinstance(value, dict), f"v[0]: {first!r}  v[i]: {value!r}"
            assert value.keys() == first.keys(), (
                f"v[0].keys: {first.keys()}  v[i].keys: {value.keys()}"
            )
        return {
            key: regroup(device_map, tuple(v[key] for v in values), wrap_class)
            for key in first
        }
    return _regrouped_leaf(device_map, values, wrap_class)


def _check_sizes(kind: Any, values: Sequence[Any]) -> None:
    for value in values:
        assert isinstance(value, kind), f"v[0]: {values[0]!r}  v[i]: {value!r}"
        assert len(value) == len(values[0]), (
            f"len(v) == {len(value)}, len(v0) == {len(values[0])}, v: {value}, v0: "
            f"{values[0]}"
        )


def _regrouped_leaf(
    device_map: DeviceMap, values: Sequence[Any], wrap_class: _Wrap
) -> Any:
    first = values[0]
    same = all(value is first for value in values[1:])
    if isinstance(first, DistributedVariable):
        return first if same else wrap_class(device_map, values)
    container = getattr(first, "_distributed_container", None)
    if container is None:
        return first if same else wrap_class(device_map, values)
    variable = container()
    assert variable is not None
    for replica, value in enumerate(values):
        assert device_map.is_device_in_replica(value.device, replica), (
            f"v.device = {value.device}, r = {replica}, device_map = {device_map}"
        )
        assert value._distributed_container() is variable
    return variable


def select_replica(replica_id: int, structured: Any) -> Any:
    """A structure with the parts of one replica in place of distributed values."""

    def part(value: Any) -> Any:
        return value.values[replica_id] if _is_distributed(value) else value

    return nest.map_structure(part, structured)


def select_device_mirrored(device_name: str, structured: Any) -> Any:
    """A structure with the parts on one device in place of mirrored values.

    Raises:
      TypeError: a value is a different one for each replica.
    """

    def part(value: Any) -> Any:
        if not _is_distributed(value):
            return value
        if not isinstance(value, Mirrored):
            raise TypeError(
                f"Expected value to be mirrored across replicas: {value} in "
                f"{structured}."
            )
        return value.get(device_name)

    return nest.map_structure(part, structured)


def _is_distributed(value: Any) -> bool:
    return isinstance(value, DistributedValues)


def update_regroup(
    extended: Any, device_map: DeviceMap, updates: Sequence[Any], group: bool
) -> Any:
    """The results of updates of all devices.

    Args:
      group: whether one of them runs all; else a structure of tuples.
    """
    if not group:
        regrouped = regroup(device_map, updates, Mirrored)
        return nest.map_structure(extended._local_results, regrouped)

    def grouped(devices: DeviceMap, values: Sequence[Any]) -> Any:
        if len(values) == 1:
            return Mirrored(devices, values)
        together = control_flow_ops.group(values)
        if not all(is_tensor(value) for value in values):
            return together
        # Tensors of the same values, whichever of them runs all updates.
        behind = []
        for value, name in zip(
            values, devices.logical_to_actual_devices(0), strict=True
        ):
            with device(name), control_dependencies([together]):
                behind.append(identity_ops.identity(value))
        return Mirrored(devices, behind)

    return regroup(device_map, updates, grouped)


def value_container(value: Any) -> Any:
    """The variable that a value is a part of, or the value."""
    if isinstance(value, DistributedVariable):
        return value
    container = getattr(value, "_distributed_container", None)
    if container is None:
        return value
    variable = container()
    return value if variable is None else variable
