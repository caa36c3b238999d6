"""Moves feeds and fetches to the task that uses the value or makes it.

before: _arg@worker -> MatMul@ps -> _retval@worker
after:  _arg@ps -> MatMul@ps -> _retval@ps
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tensorloom.framework.devices.device_name import task_of

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR
    from tensorloom.framework.interfaces import DeviceInfo


def route_feeds_and_fetches(graph: GraphIR, devices: Sequence[DeviceInfo]) -> GraphIR:
    """The placed graph with each `_Arg` and `_Retval` on the task of its neighbour.

    An argument that several tasks use stays where it is, and is sent on from there.
    """
    first_device: dict[str, str] = {}
    for device in devices:
        first_device.setdefault(task_of(device.name), device.name)
    users: dict[str, set[str]] = {}
    for node in graph.nodes.values():
        for name, _ in node.inputs:
            users.setdefault(name, set()).add(task_of(node.device))
    routed = []
    for node in graph.nodes.values():
        here = task_of(node.device)
        there = here
        if node.op == "_Arg":
            tasks = users.get(node.name, {here})
            there = next(iter(tasks)) if len(tasks) == 1 else here
        elif node.op == "_Retval":
            there = task_of(graph.nodes[node.inputs[0][0]].device)
        routed.append(
            node if there == here else node.replace(device=first_device[there])
        )
    return graph.with_nodes(routed)
