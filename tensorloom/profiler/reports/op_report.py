"""The report of ops: the nodes of each op together, as a list.

The total of a line is of it and of all lines after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tensorloom.profiler.reports import report_text
from tensorloom.profiler.reports.report_line import ROOT, NodesLine, ordered
from tensorloom.profiler.reports.report_text import is_selected
from tensorloom.profiler.reports.tree_reports import TITLES, CodeReport, input_shape

if TYPE_CHECKING:
    from tensorloom.profiler.profile_data import ProfileData
    from tensorloom.profiler.reports.report_options import ReportOptions

# (selected name, cost, how it is written), in a line's order.
_COLUMNS: Final = (
    ("bytes", "requested_bytes", report_text.memory),
    ("peak_bytes", "peak_bytes", report_text.memory),
    ("residual_bytes", "residual_bytes", report_text.memory),
    ("output_bytes", "output_bytes", report_text.memory),
    ("micros", "exec_micros", report_text.time),
    ("micros", "accelerator_exec_micros", report_text.time),
    ("micros", "cpu_exec_micros", report_text.time),
    ("accelerator_micros", "accelerator_exec_micros", report_text.time),
    ("cpu_micros", "cpu_exec_micros", report_text.time),
    ("params", "parameters", lambda n: f"{report_text.number(n)} params"),
    ("float_ops", "float_ops", lambda n: f"{report_text.number(n)} float_ops"),
)


class OpReport:
    """The nodes of each op together."""

    def __init__(self, data: ProfileData) -> None:
        self._data = data
        self.root = NodesLine(ROOT, data)
        by_op: dict[str, NodesLine] = {}
        for node in data.ordered_nodes():
            by_op.setdefault(node.op, NodesLine(node.op, data)).nodes.append(node)
        self._lines = [by_op[op] for op in sorted(by_op)]

    def run(self, options: ReportOptions) -> NodesLine:
        """Counts, cuts and writes; returns the root, with `text` and `shown`."""
        for line in self._lines:
            line.account(options)
            line.count_itself()
        lines = ordered(self._lines, options.order_by)
        counted = [line for line in lines if line.is_counted]
        _add_up(self.root, counted)
        shown: list[NodesLine] = []
        for depth, line in enumerate(counted[_start(counted, options) :]):
            if options.trim.match(line.name) or depth > options.max_depth:
                break
            if line.is_shown(options, depth):
                shown.append(line)
        if options.counts_shown_only:
            for line in shown:
                line.count_itself()
            _add_up(self.root, shown)
        names = [*CodeReport.last_titles]
        columns = [(name, TITLES[cost]) for name, cost, _ in _COLUMNS]
        self.root.text = report_text.titles(options.select, [*columns, *names])
        self.root.text += "".join(self._text(line, options) for line in shown)
        # As a message, each line is below the one before it.
        for above, below in zip([self.root, *shown], shown, strict=False):
            above.shown = [below]
        return self.root

    def _text(self, line: NodesLine, options: ReportOptions) -> str:
        select, parts = options.select, []
        for name, cost, written in _COLUMNS:
            if is_selected(name, select):
                of_all = self.root.totals[cost]
                below = 100 * line.totals[cost] / of_all if of_all else 0.0
                own = 100 * line.own[cost] / of_all if of_all else 0.0
                if cost.endswith("bytes") and not line.own[cost]:
                    below = own = 0.0
                numbers = f"{written(line.own[cost])} ({below:.2f}%, {own:.2f}%)"
                parts.append(f"{numbers:>30}")
        if "device" in select:
            parts.append("|".join(line.devices))
        if "op_types" in select:
            parts.append("|".join(line.types))
        if "occurrence" in select:
            counts = f"{line.own['run_count']}|{line.occurrences()}"
            parts.append(f"{counts:>10}")
        text = f"{line.name:25}{', '.join(parts)}\n"
        if "input_shapes" in select and line.counted:
            text = f"{text}\n{_input_shapes(line)}\n\n"
        return text


def _add_up(root: NodesLine, lines: list[NodesLine]) -> None:
    """Adds to each line's total those after it, and to the root's all."""
    root.clear_totals()
    after: NodesLine | None = None
    for line in reversed(lines):
        if after is not None:
            line.add(after)
        after = line
    if after is not None:
        root.add(after)


def _start(lines: list[NodesLine], options: ReportOptions) -> int:
    """Which line the report begins at."""
    if options.start.is_everything or not options.start.texts:
        return 0
    places = (at for at, line in enumerate(lines) if options.start.match(line.name))
    return next(places, len(lines))


def _input_shapes(line: NodesLine) -> str:
    """For each combination of input shapes: how many nodes have it, and their cost."""
    found: dict[str, list[int]] = {}
    for node in line.node_lines():
        shapes = sorted(node.input_shapes.items())
        kinds = ",\t".join(input_shape(index, shape) for index, shape in shapes)
        counts = found.setdefault(f"input_type: {kinds}", [0, 0, 0])
        counts[0] += node.own["run_count"]
        counts[1] += 1
        counts[2] += node.own["exec_micros"]
    kinds_by_runs: list[tuple[str, list[int]]] = sorted(
        sorted(found.items()), key=lambda item: -item[1][0]
    )
    return "\n".join(
        f"{kind}\t(run*{runs}|defined*{nodes})\texec_time: {report_text.time(micros)}"
        for kind, (runs, nodes, micros) in kinds_by_runs
    )
