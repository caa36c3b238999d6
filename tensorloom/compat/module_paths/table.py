"""The table of module paths: what each one gives, read from `tables/*.txt`.

    python.ops.array_ops
        + python.ops.gen_array_ops
        tf: concat expand_dims stack
        tf.linalg: matrix_diag_part=diag_part
        tensorloom.ops.array.shape_builders: size_internal

    core.framework.graph_pb2
        = tensorloom.protos.graph_pb2

A path stands at the beginning of a line, without `tensorflow.`; what it gives is
indented below it. `+` takes in what another path gives. `WHERE: names` are names of a
public module or of a module of ours, `name=other` where it is called otherwise there,
and `*` all its names. `ops: names` are functions made from the op registry. `=` says
that the path is that very module. A deeper line continues the one above it; `#` begins
a comment. A path without anything is a module that programs import for its effect,
which here needs no import.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Final

ALL: Final = "*"
OPS: Final = "ops"


@dataclass(slots=True)
class PathEntry:
    """What one path gives."""

    # The module that the path is; empty where it has a module of its own.
    same_as: str = ""
    # Paths whose names it has too.
    includes: list[str] = field(default_factory=list)
    # Where its names come from: (module or "ops", name here -> name there).
    sources: list[tuple[str, dict[str, str]]] = field(default_factory=list)


def parse(text: str, table: dict[str, PathEntry]) -> None:
    """Adds the paths of one table file.

    Raises:
      ValueError: a path stands there twice, or a line cannot be read.
    """
    entry: PathEntry | None = None
    names: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        content = line.partition("#")[0].strip()
        if not content:
            continue
        indent = len(line) - len(line.lstrip())
        if indent == 0:
            if content in table:
                raise ValueError(f"line {number}: {content} stands here twice")
            entry = table[content] = PathEntry()
        elif entry is None:
            raise ValueError(f"line {number}: no path above {content!r}")
        elif indent > 4:
            names.update(_names(content))
        else:
            names = _read_source(entry, content, number)


def _read_source(entry: PathEntry, content: str, number: int) -> dict[str, str]:
    """Reads a line below a path; returns the names that may be continued."""
    kind, _, rest = content.partition(" ")
    if kind == "+":
        entry.includes.append(rest.strip())
    elif kind == "=":
        entry.same_as = rest.strip()
    elif kind.endswith(":"):
        entry.sources.append((kind[:-1], _names(rest)))
        return entry.sources[-1][1]
    else:
        raise ValueError(f"line {number}: {content!r} says nothing of the path")
    return {}


def _names(text: str) -> dict[str, str]:
    pairs = (word.partition("=") for word in text.split())
    return {name: other or name for name, _, other in pairs}


@cache
def entries() -> dict[str, PathEntry]:
    """All paths with what they give."""
    table: dict[str, PathEntry] = {}
    folder = resources.files("tensorloom.compat.module_paths") / "tables"
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".txt"):
            try:
                parse(file.read_text(encoding="utf-8"), table)
            except ValueError as error:
                raise ValueError(f"{file.name}, {error}") from None
    return table


@cache
def children() -> dict[str, list[str]]:
    """The modules below each path: "" has "python", "core", ..."""
    found: dict[str, set[str]] = {}
    for path in entries():
        while path:
            parent, _, last = path.rpartition(".")
            found.setdefault(parent, set()).add(last)
            path = parent
    return {parent: sorted(names) for parent, names in found.items()}


def is_path(path: str) -> bool:
    """Whether there is a module of that path, a package of others included."""
    return path in entries() or path in children()
