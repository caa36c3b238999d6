"""`list_source` and `print_source`: the program's files with the nodes they made."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tensorloom.debug.cli.commands import CommandError

if TYPE_CHECKING:
    from tensorloom.debug.dumps.dump_dir import DebugDumpDir

_PACKAGE: Final = str(Path(__file__).resolve().parents[2])


def _lines(dump: DebugDumpDir) -> Iterator[tuple[str, int, Any]]:
    """(file, line, operation) of each frame that made an operation."""
    if dump.python_graph is None:
        raise CommandError("Python graph is not available for traceback lookup")
    for operation in dump.python_graph.get_operations():
        for frame in operation.traceback:
            file, line = tuple(frame)[:2]
            yield os.path.abspath(file), int(line), operation


def list_text(
    dump: DebugDumpDir, path_filter: str | None, node_filter: str | None
) -> str:
    """The files that made nodes, with how many of each."""
    nodes: dict[str, set[str]] = defaultdict(set)
    tensors: dict[str, int] = defaultdict(int)
    dumps: dict[str, int] = defaultdict(int)
    dumped: dict[str, int] = defaultdict(int)
    is_file: dict[str, bool] = {}
    for datum in dump.dumped_tensor_data:
        dumped[datum.node_name] += 1
    for file, _, operation in _lines(dump):
        if file not in is_file:
            is_file[file] = os.path.isfile(file)
        if not is_file[file]:
            continue  # no code of a file, such as <frozen runpy>
        if path_filter and not re.search(path_filter, file):
            continue
        if node_filter and not re.match(node_filter, operation.name):
            continue
        if operation.name not in nodes[file]:
            nodes[file].add(operation.name)
            tensors[file] += len(operation.outputs)
            dumps[file] += dumped[operation.name]
    lines = ["List of source files that created nodes in this run", ""]
    for title, own in (
        ("File(s) outside the library:", False),
        ("Library file(s):", True),
    ):
        files = sorted(f for f in nodes if f.startswith(_PACKAGE) is own)
        if not files:
            continue
        width = max(len(file) for file in [*files, "Source file path"])
        lines += [
            title,
            f"{'Source file path':{width}} #(nodes) #(tensors) #(tensor dumps)",
        ]
        lines += [
            f"{f:{width}} {len(nodes[f]):<8} {tensors[f]:<10} {dumps[f]}" for f in files
        ]
        lines.append("")
    return "\n".join(lines).rstrip()


def print_text(dump: DebugDumpDir, path: str, tensors: bool, first_line: int) -> str:
    """A file, below each line the nodes that it made, or their dumped tensors."""
    wanted = os.path.abspath(path)
    made: dict[int, dict[str, None]] = defaultdict(dict)
    for file, line, operation in _lines(dump):
        if file == wanted or os.path.basename(file) == path:
            wanted = file
            made[line][operation.name] = None
    if not os.path.isfile(wanted):
        raise CommandError(f"There is no source file {path}")
    dumped: dict[str, list[str]] = defaultdict(list)
    for datum in dump.dumped_tensor_data:
        dumped[datum.node_name].append(datum.tensor_name)
    lines = []
    source = Path(wanted).read_text(encoding="utf-8", errors="replace").splitlines()
    width = len(str(len(source))) + 3
    for number, text in enumerate(source, 1):
        if number < first_line:
            continue
        lines.append(f"{f'L{number}':{width}}{text}")
        for name in made.get(number, {}):
            shown = dict.fromkeys(dumped[name]) if tensors else [name]
            lines += [f"{'':{width}}{element}" for element in shown]
    return "\n".join(lines)
