"""Files for the pprof tool: where in the Python code the costs come from.

The format is github.com/google/pprof's `profile.proto`, compressed by gzip.
"""

from __future__ import annotations

import gzip
import os
import sys
from typing import TYPE_CHECKING, Any, Final

from tensorloom.protos.pprof_profile_pb2 import Profile
from tensorloom.storage.files import filesystem

if TYPE_CHECKING:
    from tensorloom.profiler.node_profile import Frame
    from tensorloom.profiler.reports.report_options import ReportOptions
    from tensorloom.profiler.reports.tree_reports import CodeLine

# What can be selected -> (the cost, its unit, a comment).
_COSTS: Final = {
    "micros": ("exec_micros", "microseconds", "Time on accelerators and CPUs."),
    "accelerator_micros": (
        *("accelerator_exec_micros", "microseconds", "Time on accelerators."),
    ),
    "cpu_micros": ("cpu_exec_micros", "microseconds", "Time on CPUs."),
    "bytes": ("requested_bytes", "bytes", "Memory that operations asked for."),
    "peak_bytes": ("peak_bytes", "bytes", "The most memory that operations held."),
    "residual_bytes": ("residual_bytes", "bytes", "Memory held afterwards."),
    "output_bytes": ("output_bytes", "bytes", "The size of outputs."),
    "params": ("parameters", "count", "Parameters of the model."),
    "float_ops": ("float_ops", "count", "Floating-point operations."),
}


def complaint(options: ReportOptions) -> str:
    """Why there can be no such file; nothing if there can."""
    if len(options.select) != 1:
        return "Can only select 1 attribute for pprof output."
    (select,) = options.select
    return "" if select in _COSTS else f"pprof doesn't support -select={select}"


class _File:
    """A profile that is being made. Strings and functions are known by numbers."""

    def __init__(self, select: str) -> None:
        self.profile = Profile(string_table=[""])
        self._strings = {"": 0}
        self._functions: dict[tuple[str, str, int], int] = {}
        self._locations: dict[tuple[str, str, int], int] = {}
        self.cost, unit, comment = _COSTS[select]
        for kind, its_unit in (("count", "count"), (select, unit)):
            self.profile.sample_type.add(
                type=self._string(kind), unit=self._string(its_unit)
            )
        self.profile.comment.append(self._string(comment))

    def _string(self, text: str) -> int:
        number = self._strings.setdefault(text, len(self._strings))
        if number == len(self.profile.string_table):
            self.profile.string_table.append(text)
        return number

    def _function(self, frame: Frame) -> int:
        key = (frame.file, frame.function, frame.first_line)
        if key not in self._functions:
            self._functions[key] = len(self._functions) + 1
            base = os.path.splitext(os.path.basename(frame.file))[0]
            self.profile.function.add(
                id=self._functions[key],
                name=self._string(f"{base}:{frame.function}"),
                filename=self._string(frame.file),
                start_line=frame.first_line,
            )
        return self._functions[key]

    def location(self, caller: Frame, called: Frame) -> int:
        """The number of a call."""
        key = (caller.file, called.function, caller.line)
        if key not in self._locations:
            self._locations[key] = len(self._locations) + 1
            location = self.profile.location.add(id=self._locations[key])
            location.line.add(function_id=self._function(called), line=caller.line)
        return self._locations[key]

    def add_sample(self, leaf: CodeLine, calls: list[int]) -> None:
        """Adds the nodes that were made below a line."""
        lines: list[Any] = [leaf]
        while lines:
            line = lines.pop()
            lines.extend(line.children)
            for node in line.node_lines() if not line.children else ():
                sample = self.profile.sample.add(
                    location_id=reversed(calls), value=[1, node.own[self.cost]]
                )
                sample.label.add(
                    key=self._string("graph node:"), str=self._string(node.name)
                )


def write(root: CodeLine, options: ReportOptions) -> None:
    """Writes what a report of Python code shows."""
    (select,) = options.select
    file = _File(select)

    def add(line: CodeLine, calls: list[int]) -> None:
        if line.frame is not None and not line.shown:
            file.add_sample(line, calls)
        for child in line.shown:
            if line.frame is None:
                add(child, calls)
            else:
                add(child, [*calls, file.location(line.frame, child.frame)])

    add(root, [])
    data = file.profile.SerializeToString(deterministic=True)
    filesystem.write_file(options.outfile, gzip.compress(data))
    print(
        f"\nRun pprof -png --nodecount=100 --sample_index=1 <{options.outfile}>",
        file=sys.stdout,
    )
