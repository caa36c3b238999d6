"""A traced step as a timeline in the format of Chrome's trace viewer.

`Timeline(run_metadata.step_stats).generate_chrome_trace_format()` is a JSON text that
`chrome://tracing` and Perfetto show: a process for each device, a lane for ops that
overlap, arrows from the producers of tensors to their consumers.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, NamedTuple

_LABEL = re.compile(r"(.*) = (.*)\((.*)\)")


class AllocationMaximum(NamedTuple):
    """When the tensors of an allocator took most.

    Fields:
      timestamp: microseconds since the epoch.
      num_bytes: what they took then.
      tensors: their names.
    """

    timestamp: int
    num_bytes: int
    tensors: set[str]


class StepStatsAnalysis(NamedTuple):
    """What `Timeline.analyze_step_stats` finds."""

    chrome_trace: ChromeTrace
    allocator_maximums: dict[str, AllocationMaximum]


class ChromeTrace:
    """The events of a trace."""

    def __init__(self) -> None:
        self._events: list[dict[str, Any]] = []
        self._metadata: list[dict[str, Any]] = []

    def name_process(self, name: str, pid: int) -> None:
        """Names a process of the viewer: a device."""
        self._metadata.append(
            {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}}
        )

    def add(
        self,
        phase: str,
        category: str,
        name: str,
        pid: int,
        tid: int,
        time: int,
        **more: Any,
    ) -> None:
        """Adds an event: the phase is a letter of the format, time in microseconds."""
        event = {"ph": phase, "cat": category, "name": name, "pid": pid, "tid": tid}
        self._events.append({**event, "ts": time, **more})

    def format_to_string(self, pretty: bool = False) -> str:
        """The trace as JSON; with line breaks if `pretty`."""
        trace = {"traceEvents": self._metadata + self._events}
        if pretty:
            return json.dumps(trace, indent=4, separators=(",", ": "))
        return json.dumps(trace, separators=(",", ":"))


@dataclass
class _Tensor:
    name: str
    number: int
    allocator: str
    num_bytes: int
    made: int  # microseconds, as `last_used` and `done`
    done: int  # when its producer ended
    last_used: int
    pid: int  # of the device's tensors
    producer: tuple[int, int]  # the process and the lane of the op


@dataclass
class _Device:
    stats: Any
    compute: int  # the process that shows its ops
    tensors: int  # the process that shows its tensors
    lanes: list[int] = field(default_factory=list)  # of each node

    @property
    def shows_inputs(self) -> bool:
        """Whether its nodes are ops of the graph, not work of a GPU's streams."""
        return (
            "/stream:" not in self.stats.device and "/memcpy" not in self.stats.device
        )


class Timeline:
    """The ops of a step, with their times."""

    def __init__(self, step_stats: Any, graph: Any = None) -> None:
        """Takes the `StepStats` of a traced step; `graph` is not used."""
        self._step_stats = step_stats
        self._graph = graph

    def generate_chrome_trace_format(
        self, show_dataflow: bool = True, show_memory: bool = False
    ) -> str:
        """The trace as JSON.

        Args:
          show_dataflow: with arrows from producers of tensors to consumers.
          show_memory: with the sizes and lifetimes of tensors.
        """
        analysis = self.analyze_step_stats(show_dataflow, show_memory)
        return analysis.chrome_trace.format_to_string(pretty=True)

    def analyze_step_stats(
        self, show_dataflow: bool = True, show_memory: bool = True
    ) -> StepStatsAnalysis:
        """The trace, and the most that the tensors of each allocator took."""
        trace = ChromeTrace()
        trace.name_process("Allocators", 0)
        devices = [
            _Device(stats, 2 * index + 1, 2 * index + 2, _lanes(stats.node_stats))
            for index, stats in enumerate(self._step_stats.dev_stats)
        ]
        for device in devices:
            trace.name_process(f"{device.stats.device} Compute", device.compute)
            trace.name_process(f"{device.stats.device} Tensors", device.tensors)
        tensors = _made_tensors(devices)
        flows = _add_ops(trace, devices, tensors)
        if show_dataflow:
            for number, (tensor, pid, lane, time) in enumerate(flows):
                start = (*tensor.producer, tensor.done)
                trace.add("s", "DataFlow", tensor.name, *start, id=number)
                trace.add("t", "DataFlow", tensor.name, pid, lane, time, id=number)
        maximums = _add_memory(trace, tensors) if show_memory else {}
        return StepStatsAnalysis(trace, maximums)


def _lanes(nodes: Any) -> list[int]:
    """A lane for each node; nodes of one lane do not overlap."""
    free_from = [0]
    result = []
    for node in nodes:
        start, end = _times(node)
        lane = next((i for i, free in enumerate(free_from) if start > free), None)
        if lane is None:
            lane = len(free_from)
            free_from.append(0)
        free_from[lane] = end
        result.append(lane)
    return result


def _times(node: Any) -> tuple[int, int]:
    start = node.all_start_micros
    return start, start + node.all_end_rel_micros


def _made_tensors(devices: list[_Device]) -> dict[str, _Tensor]:
    tensors: dict[str, _Tensor] = {}
    for device in devices:
        for node, lane in zip(device.stats.node_stats, device.lanes, strict=True):
            start, end = _times(node)
            for index, output in enumerate(node.output):
                name = f"{node.node_name}:{index}" if index else node.node_name
                memory = output.tensor_description.allocation_description
                tensors[name] = _Tensor(
                    name,
                    len(tensors),
                    memory.allocator_name,
                    memory.requested_bytes,
                    start,
                    end,
                    end,
                    device.tensors,
                    (device.compute, lane),
                )
    return tensors


def _add_ops(
    trace: ChromeTrace, devices: list[_Device], tensors: dict[str, _Tensor]
) -> list[tuple[_Tensor, int, int, int]]:
    """Adds the ops; (tensor, process, lane, time) where one is used elsewhere."""
    flows = []
    for device in devices:
        for node, lane in zip(device.stats.node_stats, device.lanes, strict=True):
            start, end = _times(node)
            name, op, inputs = _described(node, device.shows_inputs)
            args = {"name": name, "op": op}
            args.update({f"input{i}": value for i, value in enumerate(inputs)})
            duration = end - start
            place = (device.compute, lane, start)
            trace.add("X", "Op", op, *place, dur=duration, args=args)
            for tensor in _used(inputs, tensors):
                tensor.last_used = max(tensor.last_used, end - 1)
                if tensor.producer != (device.compute, lane):
                    flows.append((tensor, device.compute, lane, start))
    return flows


def _described(node: Any, is_op: bool) -> tuple[str, str, list[str]]:
    """(name, op, names of the inputs) of a node."""
    if not is_op:  # "name:op"
        name, op = [*node.node_name.split(":"), "unknown"][:2]
        return name, op, []
    if node.node_name == "RecvTensor":  # a call between tasks
        return node.node_name, "RecvTensor", []
    match = _LABEL.match(node.timeline_label)
    if match is None:
        return node.node_name, "unknown", []
    inputs = match.group(3)
    return node.node_name, match.group(2), inputs.split(", ") if inputs else []


def _used(inputs: list[str], tensors: dict[str, _Tensor]) -> list[_Tensor]:
    # A receive between devices is called after what it brings, and "/_N".
    found = [
        tensors.get(name) or tensors.get(name.rpartition("/_")[0]) for name in inputs
    ]
    return [tensor for tensor in found if tensor is not None]


def _add_memory(
    trace: ChromeTrace, tensors: dict[str, _Tensor]
) -> dict[str, AllocationMaximum]:
    changes: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for tensor in tensors.values():
        place = (tensor.pid, 0)
        more = {"id": tensor.number}
        trace.add("N", "Tensor", tensor.name, *place, tensor.made, **more)
        trace.add("D", "Tensor", tensor.name, *place, tensor.last_used, **more)
        changes[tensor.allocator] += [
            (tensor.made, tensor.num_bytes, tensor.name),
            (tensor.last_used, -tensor.num_bytes, tensor.name),
        ]
    maximums = {}
    for allocator, steps in changes.items():
        total, most = 0, AllocationMaximum(0, 0, set())
        alive: set[str] = set()
        for time, num_bytes, name in sorted(steps):
            total += num_bytes
            (alive.discard if num_bytes < 0 else alive.add)(name)
            if total > most.num_bytes:
                most = AllocationMaximum(time, total, set(alive))
            counted = {allocator: total}
            trace.add("C", "Memory", allocator, 0, 0, time, args=counted)
        maximums[allocator] = most
    return maximums
