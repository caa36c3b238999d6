"""Values with a part for each replica: `PerReplica` and `Mirrored`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.client.distribution.thread_modes import current_mode
from tensorloom.data.specs import spec_of_value
from tensorloom.data.type_spec import TypeSpec
from tensorloom.distribute.values import device_names
from tensorloom.distribute.values.device_maps import (
    DeviceMap,
    ReplicaDeviceMap,
    SingleDeviceMap,
    WorkerDeviceMap,
)
from tensorloom.distribute.values.update_context import get_update_device
from tensorloom.framework.graph.graph import Tensor
from tensorloom.framework.graph.tensor import is_tensor
from tensorloom.framework.types.composite_tensor import CompositeTensor


class DistributedValues:
    """A value of each replica.

    Args:
      device_map: the devices of the parts.
      values: the parts.
      logical_device: which of a replica's devices they are on.
    """

    def __init__(
        self,
        device_map: DeviceMap,
        values: Sequence[Any],
        logical_device: int | None = None,
    ) -> None:
        assert isinstance(device_map, DeviceMap)
        self._device_map = device_map
        self._values = tuple(values)
        if logical_device is None:
            logical_device = device_map.logical_device_from_values(self._values)
        self._logical_device = logical_device

    def get(self, device: str | None = None) -> Any:
        """The part of a device, or of the replica or device that is built for.

        Raises:
          ValueError: there is no part on that device.
        """
        if device is None:
            mode = current_mode()
            if mode is None or mode.replica_context is not None:
                context = _FIRST if mode is None else mode.replica_context
                return self._device_map.select_for_current_replica(
                    self._values, context
                )
            device = get_update_device()
            if device is None:
                return self._get_cross_replica()
        return self._device_map.select_for_device(
            self._values, device_names.canonicalize(device)
        )

    def _get_cross_replica(self) -> Any:
        raise AttributeError(
            f"'{type(self).__name__}' object has no attribute '_get_cross_replica'"
        )

    def _get_closest(self) -> Any:
        """The part of this replica or device if there is one, else the first."""
        mode = current_mode()
        if mode is None or mode.replica_context is not None:
            context = _FIRST if mode is None else mode.replica_context
            return self._device_map.select_for_current_replica(self._values, context)
        return self._on_device(get_update_device())

    def _on_device(self, device: str | None) -> Any:
        """The part of a device, that which is open if None, or the first part."""
        if device is None:
            device = device_names.canonicalize(device_names.current())
        replica = self._device_map.replica_for_device(device)
        return self._values[0 if replica is None else replica]

    @property
    def primary(self) -> Any:
        """The first part."""
        return self._values[0]

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices of the parts."""
        return self._device_map.logical_to_actual_devices(self._logical_device)

    @property
    def logical_device(self) -> int:
        """Which of a replica's devices the parts are on."""
        return self._logical_device

    @property
    def device_map(self) -> DeviceMap:
        """The devices of the parts."""
        return self._device_map

    @property
    def values(self) -> tuple[Any, ...]:
        """The parts."""
        return self._values

    @property
    def is_tensor_like(self) -> bool:
        """Whether all parts are tensors or variables."""
        return all(is_tensor(value) for value in self._values)

    def __str__(self) -> str:
        return self._shown(str)

    def __repr__(self) -> str:
        return self._shown(repr)

    def _shown(self, show: Callable[[Any], str]) -> str:
        parts = zip(self.devices, self._values, strict=True)
        lines = ",\n".join(f"  {i} {d}: {show(v)}" for i, (d, v) in enumerate(parts))
        return f"{type(self).__name__}:{{\n{lines}\n}}"


class _FirstReplica:
    """Stands for the replica context outside of strategies."""

    replica_id_in_sync_group = 0


_FIRST = _FirstReplica()


class DistributedDelegate(DistributedValues):
    """Parts that stand for the same value: it acts as the part that is at hand."""

    def __getattr__(self, name: str) -> Any:
        # Looked for before there are parts: nothing to ask.
        if name.startswith(("_self_", "__")) or "_values" not in self.__dict__:
            raise AttributeError(
                f"'{type(self).__name__}' object has no attribute '{name}'"
            )
        return getattr(self.get(), name)

    def _get_as_operand(self) -> Any:
        return self.get()


def _delegated(name: str) -> Callable[..., Any]:
    """The operator of that special name, of the part at hand."""
    plain = f"__{name[3:]}" if name in _REFLECTED else name
    function: Any = _FUNCTIONS.get(plain) or getattr(operator, plain)

    def run(self: DistributedDelegate, *args: Any) -> Any:
        operand = self._get_as_operand()
        if name in _REFLECTED:
            return function(*args, operand)
        return function(operand, *args)

    run.__name__ = name
    return run


# Of what `operator` has under another name, or with fewer arguments.
_FUNCTIONS = {"__div__": operator.truediv, "__pow__": pow}
_REFLECTED = frozenset(
    f"__r{name}__"
    for name in (
        *("add", "sub", "mul", "div", "truediv", "floordiv", "mod", "pow"),
        *("and", "or", "xor", "matmul"),
    )
)
for _operator in Tensor.OVERLOADABLE_OPERATORS:
    if _operator not in ("__eq__", "__ne__"):
        setattr(DistributedDelegate, _operator, _delegated(_operator))


class PerReplica(DistributedValues, CompositeTensor):
    """A value of each replica, none like another."""

    @property
    def _type_spec(self) -> PerReplicaSpec:
        specs = [spec_of_value(value) for value in self._values]
        return PerReplicaSpec(specs, self._device_map, self._logical_device)

    @property
    def graph(self) -> Any:
        """The graph of the first part."""
        return self._values[0].graph

    @property
    def _is_graph_tensor(self) -> bool:
        return any(hasattr(value, "graph") for value in self._values)


class PerReplicaSpec(TypeSpec):
    """The type of a `PerReplica`: the types of its parts, and their devices."""

    value_type: Any = PerReplica

    def __init__(
        self,
        value_specs: Sequence[Any],
        device_map: DeviceMap | tuple[Any, ...],
        logical_device: int,
    ) -> None:
        if isinstance(device_map, tuple):
            device_map = _DEVICE_MAPS[device_map[0]](*device_map[1:])
        self._value_specs = tuple(value_specs)
        self._device_map = device_map
        self._logical_device = logical_device

    def _serialize(self) -> tuple[Any, ...]:
        return self._value_specs, _described(self._device_map), self._logical_device

    @property
    def _component_specs(self) -> tuple[Any, ...]:
        return self._value_specs

    def _to_components(self, value: PerReplica) -> tuple[Any, ...]:
        mode = current_mode()
        context = None if mode is None else mode.replica_context
        if context is not None and context.num_replicas_in_sync > 1:
            raise ValueError(
                "Flattening a PerReplica to components is not supported in replica "
                "context."
            )
        return value._values

    def _from_components(self, components: Sequence[Any]) -> PerReplica:
        return PerReplica(self._device_map, components, self._logical_device)


_DEVICE_MAPS: dict[str, Callable[..., DeviceMap]] = {
    "single": SingleDeviceMap,
    "replica": ReplicaDeviceMap,
    "worker": WorkerDeviceMap,
}


def _described(device_map: DeviceMap) -> tuple[Any, ...]:
    if isinstance(device_map, SingleDeviceMap):
        return "single", device_map.all_devices[0]
    if isinstance(device_map, ReplicaDeviceMap):
        return "replica", device_map.all_devices
    assert isinstance(device_map, WorkerDeviceMap)
    return "worker", device_map.all_devices, device_map.num_replicas_per_worker


class Mirrored(DistributedDelegate):
    """The same value for each replica: usable as one."""

    def _get_cross_replica(self) -> Any:
        return self._on_device(None)

    def _as_graph_element(self) -> Any:
        value = self.get()
        convert = getattr(value, "_as_graph_element", None)
        return value if convert is None else convert()
