"""The generated program of each piece, beside its nodes and the user's lines."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Node
    from tensorloom.inspect.explain.journal import Part
    from tensorloom.worker.compile.generated_code import Code


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a generated function."""

    number: int  # from 1
    text: str
    node: str | None  # the node that it is of; with the calls that it is in before it
    op: str | None
    source: str | None  # `file.py:12` of the user's program
    made: tuple[str, ...]  # local variables that it assigns
    dropped: tuple[str, ...]  # and that it deletes


@dataclass(frozen=True, slots=True)
class GeneratedFunction:
    """One generated function: a piece, or one of its segments."""

    device: str
    index: int  # among those of the step
    lines: tuple[Line, ...]

    @property
    def source(self) -> str:
        """The program text."""
        return "".join(f"{line.text}\n" for line in self.lines)


def generated_functions(parts: Iterable[Part]) -> list[GeneratedFunction]:
    """Of all pieces that were compiled in this process."""
    codes = [found for part in parts for found in getattr(part.registered, "codes", ())]
    return [
        GeneratedFunction(device, index, tuple(_lines(code)))
        for index, (device, code) in enumerate(codes)
    ]


def _lines(code: Code) -> Iterable[Line]:
    made, dropped = _assignments(code.source)
    for number, text in enumerate(code.source.splitlines(), start=1):
        node: Node | None = code.node_at(number)
        yield Line(
            number,
            text,
            None if node is None else node.name,
            None if node is None else node.op,
            None if node is None else node.source_line(),
            tuple(made.get(number, ())),
            tuple(dropped.get(number, ())),
        )


def _assignments(source: str) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
    """By line: the local variables that are assigned, and deleted."""
    made: dict[int, list[str]] = {}
    dropped: dict[int, list[str]] = {}
    for found in ast.walk(ast.parse(source)):
        if isinstance(found, ast.Name) and not isinstance(found.ctx, ast.Load):
            lines = made if isinstance(found.ctx, ast.Store) else dropped
            lines.setdefault(found.lineno, []).append(found.id)
    return made, dropped
