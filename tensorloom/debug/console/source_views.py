"""`list_source` and `print_source`: the program's files with the nodes they made."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tensorloom.debug import source_lines
from tensorloom.debug.console.commands import CommandError

if TYPE_CHECKING:
    from tensorloom.debug.dumps.dump_dir import DebugDumpDir


def list_text(
    dump: DebugDumpDir, path_filter: str | None, node_filter: str | None
) -> str:
    """The files that made nodes, with how many of each."""
    files = source_lines.list_source_files_against_dump(dump, path_filter, node_filter)
    lines = ["List of source files that created nodes in this run", ""]
    for title, own in (
        ("File(s) outside the library:", False),
        ("Library file(s):", True),
    ):
        listed = [file for file in files if file[1] is own]
        if not listed:
            continue
        width = max(len(name) for name in [*(f[0] for f in listed), "Source file path"])
        lines += [
            title,
            f"{'Source file path':{width}} #(nodes) #(tensors) #(tensor dumps)",
        ]
        lines += [
            f"{path:{width}} {nodes:<8} {tensors:<10} {dumps}"
            for path, _, nodes, tensors, dumps, _ in listed
        ]
        lines.append("")
    return "\n".join(lines).rstrip()


def print_text(dump: DebugDumpDir, path: str, tensors: bool, first_line: int) -> str:
    """A file, below each line the nodes that it made, or their dumped tensors."""
    known = {file for file, _, _ in source_lines.frames(dump)}
    wanted = os.path.abspath(path)
    if wanted not in known:
        # A file's name alone will do where a program has it.
        wanted = next((f for f in known if os.path.basename(f) == path), wanted)
    if not os.path.isfile(wanted):
        raise CommandError(f"There is no source file {path}")
    made = source_lines.annotate_source(dump, wanted, tensors, min_line=first_line)
    source, width = source_lines.load_source(wanted)
    lines = []
    for number, text in enumerate(source, 1):
        if number >= first_line:
            lines.append(f"{f'L{number}':{width}}{text}")
            lines += [f"{'':{width}}{name}" for name in made.get(number, ())]
    return "\n".join(lines).rstrip()
