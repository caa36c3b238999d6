"""The commands about a dump: its values, its nodes, the lines that made them."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.debug.console import node_views, source_views
from tensorloom.debug.console.commands import (
    Command,
    CommandError,
    CommandTable,
    parser,
)
from tensorloom.debug.console.evaluation import evaluated
from tensorloom.debug.console.rich_text import (
    MenuItem,
    RichLine,
    appended,
    linked,
    rich_text_lines_from_rich_line_list,
)
from tensorloom.debug.console.tensor_text import (
    parse_tensor_name_with_slicing,
    sliced,
    tensor_text,
)
from tensorloom.debug.dumps.debug_graph import parse_node_or_tensor_name

if TYPE_CHECKING:
    from tensorloom.debug.dumps.datum import DebugTensorDatum
    from tensorloom.debug.dumps.dump_dir import DebugDumpDir

Filters = Mapping[str, Callable[[Any, Any], bool]]
_SORTS = ("timestamp", "dump_size", "op_type", "tensor_name")


def add_tensor_arguments(of: argparse.ArgumentParser, is_named: bool = True) -> None:
    """Adds the arguments of commands that print a value, one of several or that one."""
    if is_named:
        of.add_argument("tensor_name", help="y, y:0, or with a slice: y:0[1, :]")
        of.add_argument(
            "-n", "--number", type=int, help="which of several dumps, from 0"
        )
    else:
        of.add_argument(
            "tensor_name", nargs="?", default="", help="which part of it: [1, :]"
        )
    of.add_argument(
        "-r", "--ranges", help="mark elements in ranges: [0, 1], [[-inf, -1], [1, inf]]"
    )
    of.add_argument("-a", "--all", action="store_true", help="print all elements")
    of.add_argument(
        "-s", "--numeric_summary", action="store_true", help="counts and moments"
    )
    of.add_argument("-w", "--write_path", help="also write it by numpy.save")


class Analyzer:
    """Answers commands about a dump."""

    def __init__(self, dump: DebugDumpDir, filters: Filters) -> None:
        self._dump = dump
        self._filters = filters

    def add_to(self, table: CommandTable) -> None:
        """Adds the commands to a table."""
        for command in (
            self._list_tensors(),
            self._print_tensor(),
            self._node_info(),
            self._tree("list_inputs", "li", outputs=False),
            self._tree("list_outputs", "lo", outputs=True),
            self._list_source(),
            self._print_source(),
            self._eval(),
        ):
            table.add(command)

    @property
    def words(self) -> list[str]:
        """Names that commands take."""
        data = self._dump.dumped_tensor_data
        nodes = self._dump.nodes() if self._dump.loaded_partition_graphs() else []
        return [*(datum.tensor_name for datum in data), *nodes, *self._filters]

    # --- values ----------------------------------------------------------------------

    def _list_tensors(self) -> Command:
        of = parser("list_tensors", "List dumped intermediate tensors.")
        of.add_argument("-f", "--tensor_filter", help="only those that pass a filter")
        of.add_argument(
            "-fenn",
            "--filter_exclude_node_names",
            help="without nodes whose names begin with what a regular expression says",
        )
        of.add_argument("-n", "--node_name_filter", help="regular expression of names")
        of.add_argument("-t", "--op_type_filter", help="regular expression of ops")
        of.add_argument("-s", "--sort_by", choices=_SORTS, default="timestamp")
        of.add_argument("-r", "--reverse", action="store_true")
        return Command(of, self._listed, ("lt",))

    def _listed(self, asked: argparse.Namespace) -> str:
        if asked.filter_exclude_node_names and not asked.tensor_filter:
            raise CommandError(
                "The flag --filter_exclude_node_names is valid only when the flag -f "
                "or --tensor_filter is used."
            )
        data = self._dump.dumped_tensor_data
        head = " dumped tensor(s)"
        if asked.tensor_filter:
            data = self._dump.find(
                self._filter(asked.tensor_filter),
                exclude_node_names=asked.filter_exclude_node_names,
            )
            head += f' passing filter "{asked.tensor_filter}"'
        notes = []
        for title, pattern, fact in (
            ("Node name", asked.node_name_filter, lambda d: d.node_name),
            ("Op type", asked.op_type_filter, self._op_type),
        ):
            if pattern:
                notes.append(f'{title} regex filter: "{pattern}"')
                data = [d for d in data if re.match(pattern, fact(d))]
        keys: dict[str, Callable[[DebugTensorDatum], Any]] = {
            "timestamp": lambda d: d.extended_timestamp,
            "dump_size": lambda d: d.dump_size_bytes or 0,
            "op_type": self._op_type,
            "tensor_name": lambda d: d.tensor_name,
        }
        data = sorted(data, key=keys[asked.sort_by], reverse=asked.reverse)
        start = self._dump.t0 or 0
        rows = [("t (ms)", "Size (B)", "Op type", "Tensor name")]
        rows += [
            (
                f"[{(d.timestamp - start) / 1000:.3f}]",
                str(d.dump_size_bytes),
                self._op_type(d),
                d.tensor_name,
            )
            for d in data
        ]
        heads, *texts = _columns(rows)
        lines: list[RichLine | str] = [f"{len(data)}{head}:", *notes, ""]
        lines.append(_sort_links(heads, rows[0], asked))
        for text, (*_, name) in zip(texts, rows[1:], strict=True):
            lines.append(linked(text, name, MenuItem("", f"pt {name}")))
        return rich_text_lines_from_rich_line_list(lines).styled()

    def _op_type(self, datum: DebugTensorDatum) -> str:
        dump = self._dump
        if not dump.loaded_partition_graphs() or not dump.node_exists(datum.node_name):
            return "?"
        return dump.node_op_type(datum.node_name, datum.device_name)

    def _filter(self, name: str) -> Callable[[Any, Any], bool]:
        found = self._filters.get(name)
        if found is None:
            raise CommandError(f'There is no tensor filter named "{name}".')
        return found

    def _print_tensor(self) -> Command:
        of = parser("print_tensor", "Print the value of a dumped tensor.")
        add_tensor_arguments(of)
        return Command(of, self._printed, ("pt",))

    def _printed(self, asked: argparse.Namespace) -> str:
        name, slicing = parse_tensor_name_with_slicing(asked.tensor_name)
        key, op = name, None
        keyed = re.match(r"^(.*:\d+):(\w+)$", name)
        if keyed is not None:
            key, op = keyed[1], keyed[2]
        node, slot = parse_node_or_tensor_name(key)
        if self._dump.loaded_partition_graphs():
            node_views.existing_node(self._dump, node)
        data = [
            d
            for d in self._dump.dumped_tensor_data
            if d.node_name == node and (op is None or d.debug_op == op)
        ]
        slots = sorted({d.output_slot for d in data})
        if slot is None and len(slots) > 1:
            raise CommandError(
                f"Node {node} has debug dumps from {len(slots)} output slots: "
                f"{', '.join(f'{node}:{s}' for s in slots)}"
            )
        data = [d for d in data if slot is None or d.output_slot == slot]
        if not data:
            raise CommandError(f'No tensor named "{name}" was dumped')
        if len(data) > 1 and asked.number is None:
            return self._several(name, data)
        number = asked.number or 0
        if not 0 <= number < len(data):
            raise CommandError(
                f"Specified number ({number}) exceeds the number of available dumps "
                f"({len(data)}) for tensor {name}"
            )
        return print_value(
            asked, data[number].get_tensor(), data[number].watch_key, slicing
        )

    def _several(self, name: str, data: list[DebugTensorDatum]) -> str:
        start = self._dump.t0 or 0
        lines = [f'Tensor "{name}" generated {len(data)} dumps:', ""]
        lines += [
            f"  #{n} [{(d.timestamp - start) / 1000:.3f} ms] {d.watch_key}"
            for n, d in enumerate(data)
        ]
        lines += [
            "",
            "Use the -n (--number) flag to specify which dump to print.",
            f"For example: pt -n 0 {name}",
        ]
        return "\n".join(lines)

    def _eval(self) -> Command:
        of = parser("eval", "Evaluate a Python expression over dumped tensors.")
        of.add_argument("expression", help='"np.sum(`y:0`) + 1"')
        of.add_argument("-a", "--all", action="store_true", help="print all elements")
        of.add_argument("-w", "--write_path", help="also write it by numpy.save")
        return Command(of, self._evaluated, ("ev",))

    def _evaluated(self, asked: argparse.Namespace) -> str:
        value = evaluated(self._dump, asked.expression)
        name = f"from eval of expression '{asked.expression}'"
        if np.ndim(value) == 0:
            return f'Tensor "{name}":\n\n{value}'
        text = tensor_text(value, name, everything=asked.all)
        return _written(text, value, asked.write_path)

    # --- nodes -----------------------------------------------------------------------

    def _node_info(self) -> Command:
        of = parser("node_info", "Show information about a node.")
        of.add_argument("node_name")
        of.add_argument("-a", "--attributes", action="store_true", help="its attrs")
        of.add_argument("-d", "--dumps", action="store_true", help="its dumped tensors")
        of.add_argument(
            "-t", "--traceback", action="store_true", help="the lines that made it"
        )
        return Command(
            of,
            lambda asked: node_views.node_text(
                self._dump,
                asked.node_name,
                asked.attributes,
                asked.dumps,
                asked.traceback,
            ),
            ("ni",),
        )

    def _tree(self, name: str, alias: str, *, outputs: bool) -> Command:
        what = "Show outputs" if outputs else "Show inputs"
        of = parser(name, f"{what} of a node.")
        of.add_argument("node_name")
        of.add_argument(
            "-c", "--control", action="store_true", help="control ones, too"
        )
        of.add_argument("-d", "--depth", type=int, help="with -r: how deep; 20 if not")
        of.add_argument("-r", "--recursive", action="store_true")
        of.add_argument("-t", "--op_type", action="store_true", help="show ops")
        return Command(
            of,
            lambda asked: node_views.tree_text(
                self._dump,
                asked.node_name,
                outputs=outputs,
                depth=node_views.depth_limit(asked.recursive, asked.depth),
                control=asked.control,
                op_types=asked.op_type,
            ),
            (alias,),
        )

    # --- source ----------------------------------------------------------------------

    def _list_source(self) -> Command:
        of = parser("list_source", "List source files that made nodes.")
        of.add_argument("-p", "--path_filter", help="regular expression of paths")
        of.add_argument("-n", "--node_name_filter", help="regular expression of names")
        return Command(
            of,
            lambda asked: source_views.list_text(
                self._dump, asked.path_filter, asked.node_name_filter
            ),
            ("ls",),
        )

    def _print_source(self) -> Command:
        of = parser("print_source", "Print a source file with the nodes that it made.")
        of.add_argument("source_file_path")
        of.add_argument(
            "-t", "--tensors", action="store_true", help="dumped tensors, not nodes"
        )
        of.add_argument("-b", "--line_begin", type=int, default=1)
        return Command(
            of,
            lambda asked: source_views.print_text(
                self._dump, asked.source_file_path, asked.tensors, asked.line_begin
            ),
            ("ps",),
        )


def print_value(asked: argparse.Namespace, value: Any, name: str, slicing: str) -> str:
    """A value as `add_tensor_arguments` asks for it; also to a file."""
    text = tensor_text(
        value,
        name,
        slicing=slicing,
        ranges=asked.ranges,
        everything=asked.all,
        summary=asked.numeric_summary,
    )
    return _written(text, value, asked.write_path, slicing)


def _written(text: str, value: Any, path: str | None, slicing: str = "") -> str:
    if path is None:
        return text
    with open(path, "wb") as file:
        np.save(file, np.asarray(sliced(value, slicing)))
    return appended(text, ["", f"Saved value to: {path}"])


def _sort_links(line: str, heads: Sequence[str], asked: argparse.Namespace) -> RichLine:
    """The heads of a list; a click on one sorts by it, and once more the other way."""
    flags = "".join(
        f" {flag} {shlex.quote(value)}"
        for flag, value in (
            ("-f", asked.tensor_filter),
            ("-fenn", asked.filter_exclude_node_names),
            ("-n", asked.node_name_filter),
            ("-t", asked.op_type_filter),
        )
        if value
    )
    out = RichLine()
    for head, sort in zip(heads, _SORTS, strict=True):
        back = " -r" if asked.sort_by == sort and not asked.reverse else ""
        gap, _, line = line.partition(head)
        link = [MenuItem(None, f"list_tensors{flags} -s {sort}{back}"), "bold"]
        out = out + gap + RichLine(head, link)
    return out + line


def _columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        " ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
