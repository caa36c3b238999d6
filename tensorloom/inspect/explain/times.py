"""How long each node took in a traced step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tensorloom.framework.interfaces import NodeStats


@dataclass(slots=True)
class NodeTime:
    """All runs of one node on one device."""

    node: str  # its name in its function
    op: str
    device: str
    runs: int = 0
    seconds: float = 0.0  # of all runs


@dataclass(frozen=True, slots=True)
class StepTimes:
    """The time of one traced step, in seconds."""

    nodes: tuple[NodeTime, ...]  # the longest first
    step: float  # from the first node's start to the last one's end
    #: Of the nodes of each device. On one thread, the step less this is what lies
    #: between nodes: control flow, and the tracing itself.
    by_device: dict[str, float]


def step_times(stats: Iterable[NodeStats]) -> StepTimes | None:
    """The times of a trace; None of an empty one."""
    found: dict[tuple[str, str], NodeTime] = {}
    by_device: dict[str, float] = {}
    start, end = None, 0
    for one in stats:
        key = one.node_name, one.device
        node = found.get(key)
        if node is None:
            node = found[key] = NodeTime(one.node_name, one.op, one.device)
        seconds = (one.end_ns - one.start_ns) / 1e9
        node.runs += 1
        node.seconds += seconds
        by_device[one.device] = by_device.get(one.device, 0.0) + seconds
        start = one.start_ns if start is None else min(start, one.start_ns)
        end = max(end, one.end_ns)
    if start is None:
        return None
    nodes = sorted(found.values(), key=lambda node: -node.seconds)
    return StepTimes(tuple(nodes), (end - start) / 1e9, by_device)
