"""What the nodes of a traced step took, as tables, and beside the program's lines."""

from __future__ import annotations

import argparse
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.debug import source_lines
from tensorloom.debug.console.commands import parser
from tensorloom.debug.console.intervals import parse_time_interval
from tensorloom.debug.console.readable import (
    COLOR_CYAN,
    COLOR_YELLOW,
    TIME_UNIT_US,
    TIME_UNITS,
    time_to_readable_str,
)
from tensorloom.debug.console.rich_text import (
    INIT_SCROLL_POS_KEY,
    MenuItem,
    RichLine,
    RichTextLines,
    rich_text_lines_from_rich_line_list,
)
from tensorloom.debug.profile_data import AggregateProfile, ProfileDatum

if TYPE_CHECKING:
    from tensorloom.debug.console.interfaces import BaseUI

SORT_OPS_BY_OP_NAME: Final = "node"
SORT_OPS_BY_OP_TYPE: Final = "op_type"
SORT_OPS_BY_OP_TIME: Final = "op_time"
SORT_OPS_BY_EXEC_TIME: Final = "exec_time"
SORT_OPS_BY_START_TIME: Final = "start_time"
SORT_OPS_BY_LINE: Final = "line"

# In the order of the columns.
_SORTS: Final[dict[str, Callable[[ProfileDatum], Any]]] = {
    SORT_OPS_BY_OP_NAME: lambda datum: datum.node_exec_stats.node_name,
    SORT_OPS_BY_OP_TYPE: lambda datum: datum.op_type,
    SORT_OPS_BY_START_TIME: lambda datum: datum.start_time,
    SORT_OPS_BY_OP_TIME: lambda datum: datum.op_time,
    SORT_OPS_BY_EXEC_TIME: lambda datum: datum.exec_time,
    SORT_OPS_BY_LINE: lambda datum: datum.file_line_func,
}
_MARGIN: Final = 2
_FILTERS: Final = ("device_name_filter", "node_name_filter", "op_type_filter")
_BAR: Final = 10  # columns of a line's cost


class ProfileDataTableView:
    """A table of nodes: what each took, and the line that made it."""

    def __init__(
        self, profile_datum_list: Sequence[ProfileDatum], time_unit: str = TIME_UNIT_US
    ) -> None:
        """Makes a table; times are in the unit, starts in microseconds."""
        self._data = profile_datum_list
        self._unit = time_unit

    def value(
        self,
        row: int,
        col: int,
        device_name_filter: str | None = None,
        node_name_filter: str | None = None,
        op_type_filter: str | None = None,
    ) -> RichLine:
        """A cell; a click on a line shows the source with the same filters.

        Raises:
          IndexError: there is no such cell.
        """
        datum = self._data[row]
        if col == 5:
            filters = device_name_filter, node_name_filter, op_type_filter
            flags = _flags(filters) + f" {datum.file_path}"
            link = MenuItem(None, f"ps{flags} --init_line {datum.line_number}")
            return RichLine(datum.file_line_func, link)
        if not 0 <= col < 5:
            raise IndexError(f"Invalid column index {col}.")
        told = [*_SORTS.values()][col](datum)
        return RichLine(
            time_to_readable_str(told, self._unit) if col > 2 else str(told)
        )

    def row_count(self) -> int:
        """How many nodes there are."""
        return len(self._data)

    def column_count(self) -> int:
        """How many columns there are."""
        return len(_SORTS)

    def column_names(self) -> list[str]:
        """The heads."""
        times = f"Op Time ({self._unit})", f"Exec Time ({self._unit})"
        return [
            *("Node", "Op Type", "Start Time (us)", *times),
            "Filename:Lineno(function)",
        ]

    def column_sort_id(self, col: int) -> str:
        """What `list_profile -s` calls a column."""
        return [*_SORTS][col]


def _flags(filters: Iterable[str | None]) -> str:
    named = zip(_FILTERS, filters, strict=True)
    return "".join(f" --{name} {text}" for name, text in named if text)


class ProfileAnalyzer:
    """Answers the commands `list_profile` and `print_source`."""

    def __init__(self, graph: Any, run_metadata: Any) -> None:
        """Makes one.

        Args:
          graph: whose step was traced.
          run_metadata: a `RunMetadata` proto.

        Raises:
          ValueError: there is no `run_metadata`.
        """
        if not run_metadata:
            raise ValueError("No RunMetadata passed for profile analysis.")
        self._graph = graph
        self._devices = run_metadata.step_stats.dev_stats
        self._parsers = {
            "list_profile": _list_parser(),
            "print_source": _source_parser(),
        }

    def get_help(self, handler_name: str) -> str:
        """What a command is for, and its arguments."""
        return self._parsers[handler_name].format_help()

    def list_profile(
        self, args: Sequence[str], screen_info: dict[str, Any] | None = None
    ) -> RichTextLines:
        """A table for each device.

        Args:
          args: of the command.
          screen_info: `cols` says how wide the screen is.

        Raises:
          CommandError: an argument is wrong.
          ValueError: an interval of times is.
        """
        asked = self._parsers["list_profile"].parse_args(args)
        wide = (screen_info or {}).get("cols", 80)
        is_asked_for = _filter(asked)
        out = RichTextLines([""])
        for number, (device, data) in enumerate(self._data(), 1):
            if not re.match(asked.device_name_filter, device):
                continue
            found = sorted(
                filter(is_asked_for, data),
                key=_SORTS.get(asked.sort_by, _SORTS[SORT_OPS_BY_START_TIME]),
                reverse=asked.reverse,
            )
            head = f"Device {number} of {len(self._devices)}: {device}"
            lines = [RichLine("-" * wide), RichLine(head), RichLine()]
            lines += _table(found, asked)
            out.extend(rich_text_lines_from_rich_line_list(lines))
        return out

    def print_source(
        self, args: Sequence[str], screen_info: dict[str, Any] | None = None
    ) -> RichTextLines:
        """A file of the program, beside each line what its nodes took.

        Args:
          args: of the command.
          screen_info: is not used.

        Raises:
          CommandError: an argument is wrong.
        """
        asked = self._parsers["print_source"].parse_args(args)
        data = [
            datum
            for device, found in self._data()
            if re.match(asked.device_name_filter, device)
            for datum in found
        ]
        costs = source_lines.annotate_source_against_profile(
            data,
            os.path.expanduser(asked.source_file_path),
            node_name_filter=asked.node_name_filter,
            op_type_filter=asked.op_type_filter,
        )
        if costs:
            return _annotated(asked, costs)
        return RichTextLines(
            [
                f"The source file {asked.source_file_path} does not contain any "
                "profile information for the previous Session run under the following "
                "filters:",
                *(f"  --{name}: {getattr(asked, name)}" for name in _FILTERS),
            ]
        )

    def _data(self) -> Iterator[tuple[str, list[ProfileDatum]]]:
        """By device: its nodes, each with the program's line that made it."""
        made = {op.name: (*_line(op), op.type) for op in self._graph.get_operations()}
        for device in self._devices:
            yield (
                device.device,
                [
                    ProfileDatum(
                        device.device, node, *made.get(node.node_name, ("", 0, "", ""))
                    )
                    for node in device.node_stats
                    if node.node_name not in ("_SOURCE", "_SINK")
                ],
            )


def _line(op: Any) -> tuple[str, int, str]:
    """File, number and function of the innermost line that is not the library's."""
    frames = [tuple(frame)[:3] for frame in op.traceback]
    own = [f for f in frames if not source_lines.guess_is_tensorflow_py_library(f[0])]
    path, number, function = (own or frames)[-1]
    return path, number, function


def _filter(asked: argparse.Namespace) -> Callable[[ProfileDatum], bool]:
    op_time = parse_time_interval(asked.op_time) if asked.op_time else None
    whole = parse_time_interval(asked.execution_time) if asked.execution_time else None

    def is_asked_for(datum: ProfileDatum) -> bool:
        line = datum.line_number
        return bool(
            re.match(asked.node_name_filter, datum.node_exec_stats.node_name)
            and re.match(asked.op_type_filter, datum.op_type)
            and re.match(asked.file_path_filter, datum.file_path or "")
            and (datum.file_path or not asked.file_path_filter)
            and not (line and 0 < line < asked.min_lineno)
            and not (line and 0 < asked.max_lineno <= line)
            and (op_time is None or op_time.contains(datum.op_time))
            and (whole is None or whole.contains(datum.exec_time))
        )

    return is_asked_for


def _table(data: Sequence[ProfileDatum], asked: argparse.Namespace) -> list[RichLine]:
    view = ProfileDataTableView(data, asked.time_unit)
    filters = [getattr(asked, name) for name in _FILTERS]
    columns = range(view.column_count())
    head = RichLine()
    rows = [
        [view.value(row, col, *filters) for col in columns]
        for row in range(view.row_count())
    ]
    sums = (sum(d.op_time for d in data), sum(d.exec_time for d in data))
    total = [
        "Device Total",
        "",
        *(time_to_readable_str(s, asked.time_unit) for s in sums),
    ]
    widths = []
    for col, name in enumerate(view.column_names()):
        texts = [name, *(row[col].text for row in rows), *total[col : col + 1]]
        widths.append(_MARGIN + max(map(len, texts)))
    for col, name in enumerate(view.column_names()):
        sort = view.column_sort_id(col)
        back = " -r" if asked.sort_by == sort and not asked.reverse else ""
        link = [MenuItem(None, f"list_profile -s {sort}{back}"), "bold"]
        head = head + RichLine(name, link) + " " * (widths[col] - len(name))
    lines = [head]
    for row in rows:
        line = RichLine()
        for cell, width in zip(row, widths, strict=True):
            line = line + cell + " " * (width - len(cell))
        lines.append(line)
    last = "".join(t.ljust(w) for t, w in zip(total, widths, strict=False))
    return [*lines, RichLine(), RichLine(last)]


def _annotated(
    asked: argparse.Namespace, costs: dict[int, AggregateProfile]
) -> RichTextLines:
    def cost(of: AggregateProfile) -> int:
        is_op = asked.cost_type == SORT_OPS_BY_OP_TIME
        return of.total_op_time if is_op else of.total_exec_time

    most = max(map(cost, costs.values()))
    source, number_width = source_lines.load_source(asked.source_file_path)
    bar, time, count = _BAR + 3, len(asked.cost_type) + 3, len("(#execs)") + 1
    head = " " * bar + asked.cost_type.ljust(time) + "#nodes".ljust(count)
    below = " " * (bar + time) + "(#execs)".ljust(count) + " " * number_width
    lines = [
        RichLine(head, COLOR_CYAN) + RichLine("lineno", COLOR_YELLOW),
        RichLine(below, COLOR_CYAN) + RichLine("source", "bold"),
    ]
    notes = {}
    for number, text in enumerate(source, 1):
        line = RichLine(" " * (bar + time + count))
        if number in costs:
            of = costs[number]
            shown = time_to_readable_str(cost(of), asked.time_unit)
            flags = _flags(getattr(asked, name) for name in _FILTERS)
            link = MenuItem(
                None,
                f"lp --file_path_filter {re.escape(asked.source_file_path)}$ "
                f"--min_lineno {number} --max_lineno {number + 1}{flags}",
            )
            nodes = f"{of.node_count}({of.node_exec_count})"
            line = _cost_bar(cost(of), most) + " " * (bar - _BAR - 2)
            line = line + RichLine(shown, COLOR_CYAN) + " " * (time - len(shown))
            line = line + RichLine(nodes, [COLOR_CYAN, link])
            line = line + " " * (count - len(nodes))
        label = f" L{number}"
        line = line + RichLine(label, COLOR_YELLOW) + " " * (number_width - len(label))
        lines.append(line + text)
        if number == asked.init_line:
            notes[INIT_SCROLL_POS_KEY] = len(lines) - 1
    return rich_text_lines_from_rich_line_list(lines, notes)


def _cost_bar(cost: int, most: int) -> RichLine:
    ticks = max(1, math.ceil(cost / most * _BAR)) if most else 1
    inside = RichLine("|" * ticks + " " * (_BAR - ticks), ["bold", COLOR_CYAN])
    return RichLine("[", COLOR_CYAN) + inside + RichLine("]", COLOR_CYAN)


def _list_parser() -> argparse.ArgumentParser:
    of = parser("list_profile", "List nodes profile information.")
    _add_filters(of)
    of.add_argument("-f", "--file_path_filter", default="", help="of the file's path")
    of.add_argument("--min_lineno", type=int, default=-1, help="the first line")
    of.add_argument(
        "--max_lineno", type=int, default=-1, help="the line after the last"
    )
    of.add_argument(
        "-e", "--execution_time", default="", help="interval: <5ms, [100us, 1s]"
    )
    of.add_argument("-o", "--op_time", default="", help="the same of kernels")
    of.add_argument(
        "-s", "--sort_by", default=SORT_OPS_BY_START_TIME, help=" | ".join(_SORTS)
    )
    of.add_argument("-r", "--reverse", action="store_true", help="descending")
    return of


def _source_parser() -> argparse.ArgumentParser:
    of = parser("print_source", "Print a Python source file with what its lines took.")
    of.add_argument("source_file_path", help="the file")
    of.add_argument(
        "--cost_type",
        choices=[SORT_OPS_BY_EXEC_TIME, SORT_OPS_BY_OP_TIME],
        default=SORT_OPS_BY_EXEC_TIME,
        help="which times",
    )
    _add_filters(of)
    of.add_argument("--init_line", type=int, default=0, help="the line to scroll to")
    return of


def _add_filters(of: argparse.ArgumentParser) -> None:
    """Adds the filters, and the unit of times."""
    for flag, name in zip("dnt", _FILTERS, strict=True):
        of.add_argument(f"-{flag}", f"--{name}", default="", help="regular expression")
    of.add_argument("--time_unit", default=TIME_UNIT_US, help=" | ".join(TIME_UNITS))


def create_profiler_ui(
    graph: Any,
    run_metadata: Any,
    ui_type: str = "curses",
    on_ui_exit: Callable[[], Any] | None = None,
    config: Any = None,
) -> BaseUI:
    """A command line with the commands about a traced step.

    Args:
      graph, run_metadata: see `ProfileAnalyzer`.
      ui_type, on_ui_exit, config: see `get_ui`.

    Raises:
      ValueError: there is no such `ui_type`, or no `run_metadata`.
    """
    from tensorloom.debug.console.interfaces import get_ui

    analyzer = ProfileAnalyzer(graph, run_metadata)
    ui = get_ui(ui_type, on_ui_exit, config=config)
    for name, handler, alias in (
        ("list_profile", analyzer.list_profile, "lp"),
        ("print_source", analyzer.print_source, "ps"),
    ):
        ui.register_command_handler(name, handler, analyzer.get_help(name), [alias])
    return ui
