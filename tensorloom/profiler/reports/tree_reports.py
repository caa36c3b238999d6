"""Reports that are trees: of name scopes, of the graph, of lines of Python."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from tensorloom.profiler.node_profile import NodeProfile
from tensorloom.profiler.reports import report_text
from tensorloom.profiler.reports.report_line import (
    ROOT,
    NodeLine,
    NodesLine,
    ReportLine,
    ordered,
)
from tensorloom.profiler.reports.report_text import is_selected

if TYPE_CHECKING:
    from tensorloom.profiler.profile_data import ProfileData
    from tensorloom.profiler.reports.report_options import ReportOptions

# (selected name, cost, how it is written), in a line's order.
Columns = tuple[tuple[str, str, Callable[[int], str]], ...]
_MEMORY: Final[Columns] = (
    ("bytes", "requested_bytes", report_text.memory),
    ("peak_bytes", "peak_bytes", report_text.memory),
    ("residual_bytes", "residual_bytes", report_text.memory),
    ("output_bytes", "output_bytes", report_text.memory),
)
_TIMES: Final[Columns] = (
    ("micros", "exec_micros", report_text.time),
    ("micros", "accelerator_exec_micros", report_text.time),
    ("micros", "cpu_exec_micros", report_text.time),
    ("accelerator_micros", "accelerator_exec_micros", report_text.time),
    ("cpu_micros", "cpu_exec_micros", report_text.time),
)
_SIZES: Final[Columns] = (
    ("params", "parameters", lambda n: f"{report_text.number(n)} params"),
    ("float_ops", "float_ops", lambda n: f"{report_text.number(n)} flops"),
)
TITLES: Final = {
    "requested_bytes": "requested bytes",
    "peak_bytes": "peak bytes",
    "residual_bytes": "residual bytes",
    "output_bytes": "output bytes",
    "exec_micros": "total execution time",
    "accelerator_exec_micros": "accelerator execution time",
    "cpu_exec_micros": "cpu execution time",
    "parameters": "# parameters",
    "float_ops": "# float_ops",
}


class _TreeReport:
    """A tree of lines below `root`, counted, cut and written.

    A line is counted if its types are asked for, or if one below it is. What is left
    out of the report hands what is below it to what is above it.
    """

    columns: Columns
    last_titles: tuple[tuple[str, str], ...]
    keeps_uncounted = True  # above counted ones
    counts_again = True  # what is shown only, if that is asked for
    cuts_before_showing = False

    def __init__(self, root: ReportLine) -> None:
        self.root = root

    def run(self, options: ReportOptions) -> Any:
        """Counts, cuts and writes; returns the root, with `text` and `shown`."""
        self.root.clear_totals()
        counted = self._account(self.root.children, options, set())
        for line in counted:
            self.root.add(line)
        if not options.start.is_everything:
            counted = self._starts(counted, options, set())
        self.root.shown = counted
        (root,) = self._show([self.root], options, 1, 0, set())
        names = [(name, TITLES[cost]) for name, cost, _ in self.columns]
        titles = report_text.titles(options.select, [*names, *self.last_titles])
        root.text = titles + "".join(self._texts(root))
        return root

    def _texts(self, line: Any) -> list[str]:
        texts = [line.text]
        for child in line.shown:
            texts += self._texts(child)
        return texts

    def _account(
        self, lines: list[Any], options: ReportOptions, seen: set[int]
    ) -> list[Any]:
        found: list[Any] = []
        for line in lines:
            if id(line) in seen:
                continue
            seen.add(id(line))
            line.clear_totals()
            line.text = ""
            below = self._account(line.children, options, seen)
            line.account(options)
            if line.is_counted or (below and self.keeps_uncounted):
                line.count_itself()
                for child in below:
                    line.add(child)
                line.shown = below
                found.append(line)
            else:
                found += below
        return found

    def _starts(
        self, lines: list[Any], options: ReportOptions, seen: set[int]
    ) -> list[Any]:
        found: list[Any] = []
        for line in lines:
            if id(line) in seen:
                continue
            seen.add(id(line))
            if options.start.match(line.name):
                found.append(line)
            else:
                found += self._starts(line.shown, options, seen)
        return found

    def _show(
        self,
        lines: list[Any],
        options: ReportOptions,
        depth: int,
        indent: int,
        seen: set[int],
    ) -> list[Any]:
        found: list[Any] = []
        for line in lines:
            if id(line) in seen:
                continue
            seen.add(id(line))
            is_cut = options.trim.match(line.name) or depth > options.max_depth
            if is_cut and self.cuts_before_showing:
                continue
            is_shown = line.is_shown(options, depth)
            below: list[Any] = []
            if not is_cut:
                further = indent + 2 if is_shown else indent
                below = self._show(line.shown, options, depth + 1, further, seen)
            if not is_shown:
                found += below
                continue
            line.shown = ordered(below, options.order_by)
            if options.counts_shown_only and self.counts_again:
                line.count_itself()
                for child in line.shown:
                    line.add(child)
            line.text = f"{' ' * indent}{line.name} ({self._numbers(line, options)})\n"
            found.append(line)
        return found

    def _numbers(self, line: Any, options: ReportOptions) -> str:
        parts: list[str] = []
        for name, cost, written in self.columns:
            if is_selected(name, options.select):
                own = written(line.own[cost]) if line.is_counted else "--"
                parts.append(f"{own.split(' ')[0]}/{written(line.totals[cost])}")
        return ", ".join(
            self._before(line, options) + parts + self._after(line, options)
        )

    def _before(self, line: Any, options: ReportOptions) -> list[str]:
        return []

    def _after(self, line: Any, options: ReportOptions) -> list[str]:
        raise NotImplementedError


class _NodeReport(_TreeReport):
    """A tree of single nodes."""

    root: NodeLine
    columns = (*_SIZES, *_MEMORY, *_TIMES)
    last_titles = (
        ("device", "assigned devices"),
        ("op_types", "op types"),
        ("occurrence", "op count (run|defined)"),
        ("input_shapes", "input shapes"),
    )

    def _before(self, line: NodeLine, options: ReportOptions) -> list[str]:
        shape = "x".join(map(str, line.node.shape))
        return [shape] if shape and "params" in options.select else []

    def _after(self, line: NodeLine, options: ReportOptions) -> list[str]:
        select, parts = options.select, []
        if "device" in select and line.node.device:
            parts.append(line.node.device)
        if "op_types" in select:
            parts.append("|".join(sorted(line.node.types)))
        if "occurrence" in select:
            runs = report_text.number(line.totals["run_count"])
            nodes = report_text.number(line.totals["definition_count"])
            own = report_text.number(line.own["run_count"])
            counted = (own, "1") if line.is_counted else ("--", "--")
            parts.append(f"{counted[0]}/{runs}|{counted[1]}/{nodes}")
        if "input_shapes" in select:
            shapes = sorted(line.input_shapes.items())
            parts.append("|".join(input_shape(index, shape) for index, shape in shapes))
        return parts


def input_shape(index: int, shape: list[int]) -> str:
    """The shape of an input: "0:2x3"."""
    return f"{index}:{'x'.join(map(str, shape)) if shape else 'unknown'}"


def _parent(name: str, op: str, data: ProfileData) -> NodeLine:
    """A line that stands for no node."""
    return NodeLine(NodeProfile(-1, name, op), data)


class ScopeReport(_NodeReport):
    """The nodes by the scopes of their names."""

    def __init__(self, data: ProfileData) -> None:
        lines = {node.name: NodeLine(node, data) for node in data.ordered_nodes()}
        for name in list(lines):
            while "/" in name:
                name = name.rpartition("/")[0]
                if name not in lines:
                    lines[name] = _parent(name, "_kTFScopeParent", data)
        super().__init__(_parent(ROOT, "_kTFScopeParent", data))
        for name in sorted(lines):
            scope = name.rpartition("/")[0]
            parent = lines[scope] if "/" in name else self.root
            parent.children.append(lines[name])


class GraphReport(_NodeReport):
    """The nodes by what they take their inputs from; each is there once."""

    keeps_uncounted = False

    def __init__(self, data: ProfileData) -> None:
        lines = {node.name: NodeLine(node, data) for node in data.ordered_nodes()}
        used: set[str] = set()
        for line in lines.values():
            for _, name in sorted(line.node.inputs.items()):
                used.add(name)
                if name in lines:
                    line.children.append(lines[name])
        super().__init__(_parent(ROOT, "_TFGraphParent", data))
        self.root.children = [line for name, line in lines.items() if name not in used]


class CodeLine(NodesLine):
    """A line of Python, reached by certain calls."""

    def __init__(self, name: str, data: ProfileData, frame: Any = None) -> None:
        super().__init__(name, data)
        self.frame = frame
        self._by_name: dict[str, CodeLine] = {}

    def child(self, name: str, frame: Any) -> CodeLine:
        """The line that it calls."""
        if name not in self._by_name:
            self._by_name[name] = CodeLine(name, self._data, frame)
            self.children.append(self._by_name[name])
        return self._by_name[name]


class CodeReport(_TreeReport):
    """The nodes by the Python calls that made them.

    Nodes of a gradient come under the call that made the node whose gradient they are.
    """

    root: CodeLine
    columns = (*_MEMORY, *_TIMES, *_SIZES)
    last_titles = (
        ("device", "assigned devices"),
        ("op_types", "op types"),
        ("occurrence", "op occurrence (run|defined)"),
        ("input_shapes", "input shapes"),
    )
    counts_again = False
    cuts_before_showing = True

    def __init__(self, data: ProfileData) -> None:
        super().__init__(CodeLine(ROOT, data))
        gradients: dict[str, list[NodeProfile]] = {}
        forward: dict[str, NodeProfile] = {}
        for node in data.ordered_nodes():
            if not node.frames:
                continue
            of = _differentiated(node.name)
            if of:
                gradients.setdefault(of, []).append(node)
            else:
                forward[node.name] = node
                self._leaf(node, "").nodes.append(node)
        self.unplaced = 0
        for of, nodes in sorted(gradients.items()):
            if of in forward:
                self._leaf(forward[of], " (gradient)").nodes.extend(nodes)
            else:
                self.unplaced += 1

    def _leaf(self, node: NodeProfile, suffix: str) -> CodeLine:
        line = self.root
        for frame in node.frames:
            function = frame.function
            short = function if len(function) < 20 else f"{function[:17]}..."
            name = f"{os.path.basename(frame.file)}:{frame.line}:{short}{suffix}"
            line = line.child(name, frame)
        return line

    def _after(self, line: CodeLine, options: ReportOptions) -> list[str]:
        select, parts = options.select, []
        if "device" in select and line.devices:
            parts.append("|".join(line.devices))
        if "op_types" in select:
            parts.append("|".join(line.types))
        parts += [
            f"{name} N/A in code view"
            for name in ("occurrence", "input_shapes")
            if name in select
        ]
        return parts


def _differentiated(name: str) -> str:
    """Of a node in a gradient, "gradients/NAME_grad/...": the NAME; else nothing."""
    begin, end = name.find("gradients/"), name.find("_grad/")
    return name[begin + len("gradients/") : end] if begin >= 0 and end >= 0 else ""
