"""Small TensorFlow 1 programs, compared with the real TensorFlow by test_programs.py.

Each file of the folders holds programs one after the other, each under a line
`# program: what it is about`. A program sees `tf`, `np` and `error(function, *args)` (what class it raises) and
leaves in `result` what is compared, beside the graph that it built. More lines may follow
the first:

    # compare: error values        only these aspects (see `peers.ASPECTS`), not the graph
    # not in 2.21: ops             these aspects TensorFlow 2.21 has otherwise than 1.15
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

HEADER = re.compile(r"^# program: (.+)$", re.MULTILINE)
DIRECTIVE = re.compile(r"^# (compare|not in 2\.21): (.+)$", re.MULTILINE)
DEFAULT = ("error", "ops", "attrs", "values")


@dataclass(frozen=True)
class Program:
    """One program, with what of it is compared with which TensorFlow."""

    name: str
    source: str
    aspects: tuple[str, ...] = DEFAULT
    not_in_221: tuple[str, ...] = ()

    def aspects_in(self, version: str) -> tuple[str, ...]:
        """What must be equal in TensorFlow `version`."""
        # Many ops have got attrs since 1.15.
        without = (*self.not_in_221, "attrs") if version == "2.21" else ()
        return tuple(aspect for aspect in self.aspects if aspect not in without)


def all_programs() -> list[Program]:
    """Every program of the folders here, in the order of the files."""
    return [
        program
        for path in sorted(Path(__file__).parent.rglob("[a-z]*.py"))
        for program in read_programs(path)
    ]


def read_programs(path: Path) -> list[Program]:
    """The programs of one file."""
    # The first part is what stands before the first header: nothing.
    _, *parts = HEADER.split(path.read_text(encoding="utf-8"))
    return [
        _program(f"{path.parent.name}/{path.stem}: {title}", source)
        for title, source in zip(parts[::2], parts[1::2], strict=True)
    ]


def _program(name: str, source: str) -> Program:
    directives = {key: tuple(text.split()) for key, text in DIRECTIVE.findall(source)}
    return Program(
        name=name,
        source=source,
        aspects=directives.get("compare", DEFAULT),
        not_in_221=directives.get("not in 2.21", ()),
    )
