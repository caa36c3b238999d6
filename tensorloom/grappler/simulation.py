"""A step on devices that need not exist: each runs its nodes one after the other.

A node can begin when its inputs are there; a device takes the one that was ready first.
What crosses devices takes the time to write it at the slower one's bandwidth.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.devices import device_name
from tensorloom.grappler.node_runs import NodeRun
from tensorloom.grappler.op_costs import device_speed, estimate
from tensorloom.grappler.tensor_properties import byte_count

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.grappler.item_graph import ItemGraph

#: The `DeviceProperties` of devices, by name.
Devices = Mapping[str, Any]


class Placement:
    """Where the nodes of a graph run, among devices with full or local names."""

    def __init__(self, devices: Devices) -> None:
        if not devices:
            raise errors.InvalidArgumentError(None, None, "The cluster has no device")
        self._devices = devices
        self._names = {name: device_name.parse(name) for name in devices}
        # As in a session, what has no device goes to a GPU where there is one.
        self._default = min(devices, key=lambda name: devices[name].type != "GPU")

    def device_of(self, operation: Operation) -> str:
        """The device of the cluster that the operation's device means."""
        if not operation.device:
            return self._default
        asked = device_name.parse(operation.device)
        for name, known in self._names.items():
            if asked.is_compatible_with(known):
                return name
        return self._default


def simulate(
    item: ItemGraph, devices: Devices, placement: Mapping[str, str] | None = None
) -> list[NodeRun]:
    """The runs of all nodes that a step needs, in the order in which they begin.

    Args:
      placement: the device of each node; without it that of the graph counts.
    """
    return _Simulation(item, devices, placement).run()


class _Simulation:
    def __init__(
        self, item: ItemGraph, devices: Devices, placement: Mapping[str, str] | None
    ) -> None:
        self._devices = devices
        self._operations = item.needed()
        given = Placement(devices)
        self._device_of = {
            op.name: placement[op.name] if placement else given.device_of(op)
            for op in self._operations
        }
        self._order = {op.name: n for n, op in enumerate(self._operations)}
        self._free_ns = dict.fromkeys(devices, 0)
        self._ready: list[tuple[int, int]] = []
        self._ended: dict[str, NodeRun] = {}

    def run(self) -> list[NodeRun]:
        waits: dict[str, int] = {}
        consumers: dict[str, list[Operation]] = {}
        for operation in self._operations:
            # The back edge of a loop is of the next iteration.
            producers = [
                name
                for name in _producers(operation)
                if self._order[name] < self._order[operation.name]
            ]
            waits[operation.name] = len(producers)
            for name in producers:
                consumers.setdefault(name, []).append(operation)
            if not producers:
                heapq.heappush(self._ready, (0, self._order[operation.name]))
        while self._ready:
            ready_ns, number = heapq.heappop(self._ready)
            run = self._run(self._operations[number], ready_ns)
            for consumer in consumers.get(run.operation.name, ()):
                waits[consumer.name] -= 1
                if not waits[consumer.name]:
                    at = self._arrival_ns(consumer)
                    heapq.heappush(self._ready, (at, self._order[consumer.name]))
        return list(self._ended.values())

    def _run(self, operation: Operation, ready_ns: int) -> NodeRun:
        device = self._device_of[operation.name]
        cost = estimate(operation, self._devices[device])
        start = max(ready_ns, self._free_ns[device])
        end = start + cost.total_ns
        self._free_ns[device] = end
        run = NodeRun(operation, device, start, end, cost.compute_ns, cost.memory_ns)
        self._ended[operation.name] = run
        return run

    def _arrival_ns(self, operation: Operation) -> int:
        """When the last input is on the operation's device."""
        here = self._device_of[operation.name]
        arrival = 0
        for name in _producers(operation):
            run = self._ended.get(name)
            if run is not None:
                arrival = max(arrival, run.end_ns)
        for tensor in operation.inputs:
            run = self._ended.get(tensor.op.name)
            if run is not None and run.device != here:
                slowest = min(
                    device_speed(self._devices[device]).bytes
                    for device in (here, run.device)
                )
                sent = run.end_ns + int(byte_count(tensor) / slowest)
                arrival = max(arrival, sent)
        return arrival


def _producers(operation: Operation) -> list[str]:
    names = [tensor.op.name for tensor in operation.inputs]
    names += [control.name for control in operation.control_inputs]
    return list(dict.fromkeys(names))
