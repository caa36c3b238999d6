"""The placer `cost`: each node goes where it can end first, by what nodes cost.

before: a, b (300 us each, independent) on CPU:0
after:  a on CPU:0, b on CPU:1

Of the nodes whose inputs are there, the one with the longest way to the end of the step
is next. It can begin on a device when the device is free and its inputs have come over.
What has state and colocated nodes stay where the system puts them, and what touches
state keeps its order (`PlacementCosts`). If by this reckoning the step is not clearly
faster than as the system would place it, it is placed so.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tensorloom.framework.runtime.custom_stages import Plan, Wish, placer

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node
    from tensorloom.framework.interfaces import DeviceInfo
    from tensorloom.master.place.cost_model import PlacementCosts

NAME: Final = "cost"
# The step must take at most this part of the time that the system's placement takes.
_WORTH_IT: Final = 0.95


class _Reckoning:
    """When each node would end, and where."""

    def __init__(
        self, graph: GraphIR, devices: Sequence[DeviceInfo], costs: PlacementCosts
    ) -> None:
        self._graph = graph
        self._costs = costs
        self._free = {device.name: 0.0 for device in devices}
        self._home: dict[str, str] = {}
        self._ends: dict[str, float] = {}

    @property
    def seconds(self) -> float:
        """Of the whole step."""
        return max(self._ends.values(), default=0.0)

    def end(self, node: Node, device: str) -> float:
        """When a node would end on a device, after all that is placed so far."""
        start = self._free[device]
        for name, output in node.inputs:
            producer = self._graph.nodes[name]
            if producer.op != "Const":  # that is where it is read
                size = self._costs.size(producer, output)
                start = max(start, self._arrival(name, size, device))
        for name in node.control_inputs:
            start = max(start, self._arrival(name, 0, device))
        return start + self._costs.seconds(node)

    def _arrival(self, name: str, size: int, device: str) -> float:
        way = self._costs.transfer_seconds(size, self._home[name], device)
        return self._ends[name] + way

    def put(self, node: Node, device: str, end: float) -> None:
        """Places a node."""
        self._home[node.name], self._ends[node.name] = device, end
        self._free[device] = end


@placer(NAME, costs=True)
def place_by_cost(
    graph: GraphIR, devices: Sequence[DeviceInfo], costs: PlacementCosts
) -> Mapping[str, Wish] | Plan:
    """The plan of the placer `cost`; see above."""
    if not costs.is_measured or costs.has_frames:
        return {}
    default = _Reckoning(graph, devices, costs)
    for node in graph.nodes.values():
        device = costs.devices(node)[0]
        default.put(node, device, default.end(node, device))
    chosen = _Reckoning(graph, devices, costs)
    wishes: dict[str, Wish] = {}
    order = _longest_way_first(graph, costs)
    for node in order:
        allowed = costs.devices(node)
        ends = {device: chosen.end(node, device) for device in allowed}
        best = min(allowed, key=ends.__getitem__)
        chosen.put(node, best, ends[best])
        if len(allowed) > 1 and node.op != "Const":
            wishes[node.name] = Wish(best, _reason(ends, best, costs.seconds(node)))
    if chosen.seconds > _WORTH_IT * default.seconds:
        return {}
    return Plan(wishes, [node.name for node in order])


def _longest_way_first(graph: GraphIR, costs: PlacementCosts) -> list[Node]:
    """The nodes in a topological order in which what touches state keeps its order."""
    nodes = graph.nodes
    readers: dict[str, list[str]] = {name: [] for name in nodes}
    missing = dict.fromkeys(nodes, 0)
    last = None
    for node in nodes.values():
        before: Iterable[str] = node.producers
        if costs.touches_state(node):
            before = [*before, last] if last is not None else before
            last = node.name
        for name in dict.fromkeys(before):
            readers[name].append(node.name)
            missing[node.name] += 1
    way: dict[str, float] = {}
    for node in reversed(nodes.values()):
        after = max((way[name] for name in readers[node.name]), default=0.0)
        way[node.name] = costs.seconds(node) + after
    number = {name: i for i, name in enumerate(nodes)}
    ready = [(-way[n], number[n], n) for n, count in missing.items() if not count]
    heapq.heapify(ready)
    order: list[Node] = []
    while ready:
        name = heapq.heappop(ready)[2]
        order.append(nodes[name])
        for reader in readers[name]:
            missing[reader] -= 1
            if not missing[reader]:
                heapq.heappush(ready, (-way[reader], number[reader], reader))
    return order


def _reason(ends: Mapping[str, float], best: str, seconds: float) -> str:
    others = [end for device, end in ends.items() if device != best]
    return (
        f"by cost: it takes {seconds * 1e6:.0f} us and ends {ends[best] * 1e6:.0f} us "
        f"into the step there, {min(others) * 1e6:.0f} us on the next best device"
    )
