"""What a profile advises: which operations are dear, and what is used badly."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from tensorloom.profiler.node_profile import is_accelerator
from tensorloom.profiler.option_builder import ProfileOptionBuilder, options_message
from tensorloom.profiler.reports import report_text
from tensorloom.profiler.reports.op_report import OpReport
from tensorloom.profiler.reports.report_options import ReportOptions
from tensorloom.profiler.reports.tree_reports import CodeReport, ScopeReport
from tensorloom.protos.tfprof_output_pb2 import AdviceProto

if TYPE_CHECKING:
    from tensorloom.profiler.profile_data import ProfileData

_MOST: Final = 3  # how many are named of each kind
_NOTABLE_MICROS: Final = 1000


def advise(data: ProfileData, checkers: Iterable[str]) -> AdviceProto:
    """Runs the checkers of these names, and prints what they find."""
    advice = AdviceProto()
    for name in sorted(checkers):
        if name in _CHECKERS:
            advice.checkers[name].reports.extend(_CHECKERS[name](data))
    for name in sorted(advice.checkers):
        print(f"\n{name}:")
        for report in advice.checkers[name].reports:
            print(report)
    return advice


def _use_of_accelerators(data: ProfileData) -> list[str]:
    begins: dict[str, int] = {}
    ends: dict[str, int] = {}
    busy: dict[str, int] = {}
    for node in data.ordered_nodes():
        if not node.executions or not is_accelerator(node.device):
            continue
        run = node.executions[max(node.executions)]
        start, device = run.message.all_start_micros, node.device
        if start:
            begins[device] = min(begins.get(device, start), start)
        ends[device] = max(ends.get(device, 0), run.message.latest_end_micros)
        taken = run.costs()["accelerator_exec_micros"]
        busy[device] = busy.get(device, 0) + taken
    reports = []
    for device in sorted(busy):
        whole = ends[device] - begins.get(device, 0)
        if whole > 0:
            part = busy[device] / whole
            low = "" if part >= 0.5 else "low "
            reports.append(f"device: {device} {low}utilization: {part:.2f}")
    return reports


def _choice_of_operations(data: ProfileData) -> list[str]:
    nodes = data.ordered_nodes()
    normalizes = any("BatchNorm" in node.name for node in nodes)
    is_fused = any("FusedBatchNorm" in node.types for node in nodes)
    reports = []
    if normalizes and not is_fused:
        reports.append("Maybe use faster FusedBatchNorm instead of BatchNorm")
    layouts = [node.attrs.get("data_format") for node in nodes if "gpu" in node.device]
    if any(layout is not None and layout.s == b"NHWC" for layout in layouts):
        reports.append(
            "Found operation using NHWC data_format on GPU. Maybe NCHW is faster."
        )
    return reports


def _options(**options: Any) -> ReportOptions:
    builder = ProfileOptionBuilder().order_by("micros").with_empty_output()
    return ReportOptions.from_proto(options_message({**builder.build(), **options}))


def _costs(line: Any, costs: dict[str, int]) -> str:
    cpu = report_text.time(costs["cpu_exec_micros"])
    accelerator = report_text.time(costs["accelerator_exec_micros"])
    total = report_text.time(costs["exec_micros"])
    return f"{line.name}, cpu: {cpu}, accelerator: {accelerator}, total: {total}"


def _dear_operations(data: ProfileData) -> list[str]:
    name = "ExpensiveOperationChecker"
    reports = []
    if data.steps:
        reports.append(_dear_ops(data))
    else:
        print(f"Missing RunMetadata info. Skip {name}", file=sys.stderr)
    nodes = ScopeReport(data).run(_options(max_depth=100, min_micros=100)).shown
    reports.append(
        "\n".join(
            f"top {at} graph node: {_costs(line, line.own)}"
            for at, line in enumerate(nodes[:_MOST], 1)
        )
    )
    if data.has_code:
        reports.append(_dear_code(data))
    else:
        print(f"Missing op_log (code traces) for {name}", file=sys.stderr)
    return [report for report in reports if report]


def _dear_ops(data: ProfileData) -> str:
    options = _options(max_depth=3, min_micros=1, select=["micros", "occurrence"])
    line: Any = OpReport(data).run(options)
    whole = line.totals["exec_micros"] + 1e-10
    lines: list[str] = []
    while line.shown and len(lines) < _MOST:
        (line,) = line.shown
        part = 100 * line.own["exec_micros"] / whole
        place = len(lines) + 1
        costs = _costs(line, line.own)
        lines.append(f"top {place} operation type: {costs} ({part:.2f}%)")
    return "\n".join(lines)


def _dear_code(data: ProfileData) -> str:
    line: Any = CodeReport(data).run(_options(max_depth=100, min_micros=1))
    # Libraries call on from one place; a program's own code calls from many.
    while len(line.shown) == 1:
        (line,) = line.shown
    lines: list[str] = []

    def add(parent: Any, depth: int) -> None:
        if len(parent.shown) <= 1 or depth > _MOST:
            return
        for child in parent.shown[:_MOST]:
            if child.totals["exec_micros"] >= _NOTABLE_MICROS:
                lines.append("  " * depth + _costs(child, child.totals))
                add(child, depth + 1)

    add(line, 0)
    return "\n".join(lines)


_CHECKERS: Final[dict[str, Callable[[ProfileData], list[str]]]] = {
    "AcceleratorUtilizationChecker": _use_of_accelerators,
    "OperationChecker": _choice_of_operations,
    "ExpensiveOperationChecker": _dear_operations,
}
ALL_CHECKERS: Final = (*_CHECKERS, "JobChecker")
