"""`Timeline`: the trace of a step, for chrome://tracing.

The format: "Trace Event Format", by the Chromium project.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

_LABEL = re.compile(r"(.*) = (.*)\((.*)\)")


class AllocationMaximum(NamedTuple):
    """The most memory that an allocator gave out at one time."""

    timestamp: int
    """Microseconds."""
    num_bytes: int
    tensors: set[str]
    """The names of those that it held then."""


class StepStatsAnalysis(NamedTuple):
    """What `Timeline.analyze_step_stats` finds."""

    chrome_trace: ChromeTrace
    allocator_maximums: dict[str, AllocationMaximum]


class ChromeTrace:
    """Events of a trace; times are microseconds."""

    def __init__(self) -> None:
        self._metadata: list[dict[str, Any]] = []
        self._events: list[dict[str, Any]] = []

    def emit_pid(self, name: str, pid: int) -> None:
        """Names a row of threads ("process")."""
        self._metadata.append(
            {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}}
        )

    def emit(
        self,
        phase: str,
        category: str,
        name: str,
        where: tuple[int, int, int],
        **more: Any,
    ) -> None:
        """Adds an event.

        Args:
          phase: its kind, a letter of the format.
          category, name: of the event.
          where: process, thread and time.
          more: further fields.
        """
        pid, tid, timestamp = where
        self._events.append(
            {
                "ph": phase,
                "cat": category,
                "name": name,
                "pid": pid,
                "tid": tid,
                "ts": timestamp,
                **more,
            }
        )

    def format_to_string(self, pretty: bool = False) -> str:
        """The JSON text."""
        trace = {"traceEvents": self._metadata + self._events}
        if pretty:
            return json.dumps(trace, indent=4, separators=(",", ": "))
        return json.dumps(trace, separators=(",", ":"))


class _TracedTensor:
    """A tensor, from its making to its last use."""

    def __init__(
        self, number: int, pid: int, made: int, allocator: str, num_bytes: int
    ) -> None:
        self.number = number
        self.pid = pid
        self.made = made
        self.allocator = allocator
        self.num_bytes = num_bytes
        self.last_use = made


class Timeline:
    """Turns the `StepStats` of a traced step into a trace.

    Args:
      step_stats: `RunMetadata.step_stats`.
      graph: accepted; what is needed is in the labels of the stats.
    """

    def __init__(self, step_stats: Any, graph: Any = None) -> None:
        self._step_stats = step_stats
        self._graph = graph

    def generate_chrome_trace_format(
        self, show_dataflow: bool = True, show_memory: bool = False
    ) -> str:
        """The trace as JSON text.

        Args:
          show_dataflow: arrows from producers to consumers.
          show_memory: tensors, and how much memory they take.
        """
        analysis = self.analyze_step_stats(show_dataflow, show_memory)
        return analysis.chrome_trace.format_to_string(pretty=True)

    def analyze_step_stats(
        self, show_dataflow: bool = True, show_memory: bool = True
    ) -> StepStatsAnalysis:
        """The trace, and the most memory that was in use; arguments as above."""
        self._trace = ChromeTrace()
        self._tensors: dict[str, _TracedTensor] = {}
        # Tensor -> when, in which process and thread it was finished.
        self._flow_starts: dict[str, tuple[int, int, int]] = {}
        self._next_flow_id = 0
        self._allocate_pids()
        for device_stats in self._step_stats.dev_stats:
            _assign_lanes(device_stats.node_stats)
            for node in device_stats.node_stats:
                self._add_outputs(node, device_stats.device, show_memory)
        for device_stats in self._step_stats.dev_stats:
            for node in device_stats.node_stats:
                self._add_computation(node, device_stats.device, show_dataflow)
        maximums = self._add_memory() if show_memory else {}
        return StepStatsAnalysis(self._trace, maximums)

    def _allocate_pids(self) -> None:
        self._device_pids: dict[str, int] = {}
        self._tensor_pids: dict[str, int] = {}
        self._allocators_pid = 0
        self._trace.emit_pid("Allocators", 0)
        for number, device_stats in enumerate(self._step_stats.dev_stats):
            name = device_stats.device
            self._device_pids[name] = 2 * number + 1
            self._tensor_pids[name] = 2 * number + 2
            self._trace.emit_pid(f"{name} Compute", 2 * number + 1)
            self._trace.emit_pid(f"{name} Tensors", 2 * number + 2)

    def _add_outputs(self, node: Any, device: str, show_memory: bool) -> None:
        start = node.all_start_micros
        end = start + node.all_end_rel_micros
        pid = self._tensor_pids[device]
        for index, output in enumerate(node.output):
            name = f"{node.node_name}:{index}" if index else node.node_name
            allocation = output.tensor_description.allocation_description
            tensor = _TracedTensor(
                len(self._tensors),
                pid,
                start,
                allocation.allocator_name,
                allocation.requested_bytes,
            )
            tensor.last_use = end
            self._tensors[name] = tensor
            self._flow_starts[name] = (end, self._device_pids[device], node.thread_id)
            if show_memory:
                thread = node.thread_id
                self._trace.emit(
                    "N", "Tensor", name, (pid, thread, start), id=tensor.number
                )
                text = str(output.tensor_description).replace('"', "")
                self._trace.emit(
                    "O",
                    "Tensor",
                    name,
                    (pid, thread, end - 1),
                    id=tensor.number,
                    args={"snapshot": {"tensor_description": text}},
                )

    def _add_computation(self, node: Any, device: str, show_dataflow: bool) -> None:
        pid, start = self._device_pids[device], node.all_start_micros
        is_gpu_trace = "/stream:" in device or "/memcpy" in device
        name, op, inputs = _described(node, is_gpu_trace)
        args = {"name": name, "op": op}
        args.update((f"input{i}", text) for i, text in enumerate(inputs))
        here = (pid, node.thread_id, start)
        self._trace.emit("X", "Op", op, here, dur=node.all_end_rel_micros, args=args)
        if is_gpu_trace or node.node_name == "RecvTensor":
            return
        for text in inputs:
            # `name/_12` is what a rewrite of the graph made of `name`.
            source = text if text in self._tensors else text.rpartition("/_")[0]
            if source not in self._tensors:
                continue
            tensor = self._tensors[source]
            last = start + node.all_end_rel_micros - 1
            tensor.last_use = max(tensor.last_use, last)
            if show_dataflow:
                self._add_flow(source, here)

    def _add_flow(self, source: str, consumer: tuple[int, int, int]) -> None:
        """An arrow from where a tensor was made, if that is another row."""
        made, pid, thread = self._flow_starts[source]
        if (pid, thread) == consumer[:2]:
            return
        number = self._next_flow_id
        self._next_flow_id += 1
        self._trace.emit("s", "DataFlow", source, (pid, thread, made), id=number)
        self._trace.emit("t", "DataFlow", source, consumer, id=number)

    def _add_memory(self) -> dict[str, AllocationMaximum]:
        """How much memory each allocator gave out, as counters."""
        changes: dict[str, list[tuple[int, int, str]]] = {}
        for name, tensor in self._tensors.items():
            self._trace.emit(
                "D", "Tensor", name, (tensor.pid, 0, tensor.last_use), id=tensor.number
            )
            changes.setdefault(tensor.allocator, []).extend(
                [
                    (tensor.made, tensor.num_bytes, name),
                    (tensor.last_use, -tensor.num_bytes, name),
                ]
            )
        return {
            allocator: self._add_counter(allocator, sorted(of_allocator))
            for allocator, of_allocator in changes.items()
        }

    def _add_counter(
        self, allocator: str, changes: list[tuple[int, int, str]]
    ) -> AllocationMaximum:
        most = AllocationMaximum(timestamp=0, num_bytes=0, tensors=set())
        total = 0
        held: set[str] = set()
        for timestamp, num_bytes, name in changes:
            total += num_bytes
            if num_bytes < 0:
                held.discard(name)
            else:
                held.add(name)
            if total > most.num_bytes:
                most = AllocationMaximum(timestamp, total, set(held))
            self._trace.emit(
                "C",
                "Memory",
                allocator,
                (self._allocators_pid, 0, timestamp),
                args={allocator: total},
            )
        return most


def _assign_lanes(nodes: Any) -> None:
    """Gives each node a thread number so that nodes of one do not overlap."""
    ends = [0]
    for node in nodes:
        end = node.all_start_micros + node.all_end_rel_micros
        free = (i for i, last in enumerate(ends) if node.all_start_micros > last)
        lane = next(free, len(ends))
        ends[lane : lane + 1] = [end]
        node.thread_id = lane


def _described(node: Any, is_gpu_trace: bool) -> tuple[str, str, list[str]]:
    """Name, op and inputs, from the label of a node."""
    if is_gpu_trace:
        name, op = [*node.node_name.split(":"), "unknown"][:2]
        return name, op, []
    if node.node_name == "RecvTensor":
        return node.node_name, "RecvTensor", []
    match = _LABEL.match(node.timeline_label)
    if match is None:
        return node.node_name, "unknown", []
    _, op, inputs = match.groups()
    return node.node_name, op, inputs.split(", ") if inputs else []
