"""Timelines for chrome://tracing: of the nodes of a step, or of a tree of costs.

The format is Chrome's Trace Event Format, as a JSON object with "traceEvents".
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tensorloom.profiler.node_profile import NodeProfile, is_accelerator, is_device
from tensorloom.storage.files import filesystem

if TYPE_CHECKING:
    from tensorloom.profiler.reports.report_line import NodeLine, ReportLine


class _Trace:
    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def name_process(self, process: int, name: str) -> None:
        self.events.append(
            {"name": "process_name", "ph": "M", "pid": process, "args": {"name": name}}
        )

    def add(
        self, phase: str, kind: str, name: str, place: tuple[int, int], **rest: Any
    ) -> None:
        process, lane = place
        event = {"ph": phase, "cat": kind, "name": name, "pid": process, "tid": lane}
        self.events.append({**event, **rest})

    def write(self, outfile: str, step: int) -> None:
        path = f"{outfile}_{step}"
        events = json.dumps({"traceEvents": self.events}, separators=(",", ":"))
        filesystem.write_file(path, events.encode())
        line = "*" * 54
        print(
            f"\n{line}\nTimeline file is written to {path}.\nOpen a Chrome browser, "
            f"enter URL chrome://tracing and load the timeline file.\n{line}"
        )


def write_costs(root: ReportLine, outfile: str, step: int) -> None:
    """A tree of costs as a flame graph: each line as long as all below it took."""
    trace = _Trace()
    named: set[int] = set()

    def add(line: Any, start: int, depth: int) -> None:
        if depth not in named:
            named.add(depth)
            trace.name_process(depth, f"Scope:{depth}")
        taken = line.totals["exec_micros"]
        about = {"name": line.name, "op": line.name}
        trace.add("X", "Op", line.name, (depth, 0), ts=start, dur=taken, args=about)
        for child in line.shown:
            if child.totals["exec_micros"] > 0:
                add(child, start, depth + 1)
                start += child.totals["exec_micros"]

    add(root, 0, 0)
    trace.write(outfile, step)


def write_step(root: NodeLine, outfile: str, step: int) -> None:
    """What ran when, on each device; nodes that overlap are in lanes side by side."""
    trace = _Trace()
    lines = _below(root)
    # device -> start -> (end, line): what begins at one time is shown once
    runs: dict[str, dict[int, tuple[int, NodeLine]]] = {}
    for line in lines:
        if not line.node.is_traced(step):
            continue
        execution = line.node.executions[step]
        for kind in (True, False):
            for device, times in execution.times(kind).items():
                for start, taken in times:
                    of_device = runs.setdefault(device, {})
                    of_device.setdefault(start, (start + taken, line))
    places: dict[tuple[str, int], tuple[int, int]] = {}
    for process, device in enumerate(runs):
        what = "execution" if "stream" in device else "scheduling"
        trace.name_process(process, f"Op {what} threads: {device}")
        ends: list[int] = []  # of the lanes
        for start, (end, line) in sorted(runs[device].items()):
            free = (at for at, last in enumerate(ends) if last <= start)
            lane = next(free, len(ends))
            ends[lane : lane + 1] = [end]
            places[device, start] = (process, lane)
            about = {"name": line.name}
            trace.add(
                "X", "Op", line.name, places[device, start],
                ts=start, dur=end - start, args=about,
            )  # fmt: skip
    _add_flows(trace, runs, places)
    _add_memory(trace, [line.node for line in lines], len(runs), step)
    trace.write(outfile, step)


def _below(root: NodeLine) -> list[NodeLine]:
    """All that is shown below a line, in order."""
    found: list[NodeLine] = []
    waiting = list(reversed(root.shown))
    while waiting:
        line = waiting.pop()
        found.append(line)
        waiting.extend(reversed(line.shown))
    return found


def _add_flows(
    trace: _Trace,
    runs: dict[str, dict[int, tuple[int, NodeLine]]],
    places: dict[tuple[str, int], tuple[int, int]],
) -> None:
    """Arrows between nodes on different devices."""
    made: dict[int, list[tuple[str, int, int]]] = {}
    for device, of_device in runs.items():
        if is_device(device):
            for start, (end, line) in of_device.items():
                made.setdefault(id(line), []).append((device, start, end))
    flow = 0
    for device, of_device in runs.items():
        if not is_device(device):
            continue
        for start, (_, line) in sorted(of_device.items()):
            for source in line.children:
                for other, begun, ended in made.get(id(source), ()):
                    if other == device or not source.is_counted:
                        continue
                    flow += 1
                    name = f"{source.name}_flow"
                    trace.add(
                        "s", "DataFlow", name, places[other, begun], ts=ended, id=flow
                    )
                    trace.add(
                        "t", "DataFlow", name, places[device, start], ts=start, id=flow
                    )


def _add_memory(
    trace: _Trace, nodes: list[NodeProfile], process: int, step: int
) -> None:
    """How much of each accelerator's memory was in use."""
    devices: dict[str, dict[int, int]] = {}
    for node in nodes:
        if node.is_traced(step) and is_accelerator(node.device):
            used = devices.setdefault(node.device, {})
            for one in node.executions[step].message.memory_execs:
                if one.memory_micros > 0:
                    used[one.memory_micros] = one.allocator_bytes_in_use
    for device, used in sorted(devices.items()):
        trace.name_process(process, f"mem usage on:{device}")
        for when, size in sorted(used.items()):
            about = {"Allocator Bytes in Use": size}
            trace.add(
                "C", "Memory", "Allocated Bytes", (process, 0), ts=when, args=about
            )
        process += 1
        most = max(used.values(), default=0) / 1e6
        print(f"{device} peak memory: {most:.2f} MB")
