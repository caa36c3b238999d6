"""Which names are live, and which may be defined, around each `if` and loop.

Converted code has no jumps any more (`passes/jumps.py`), so that one walk over the
statements, backwards for what is live and forwards for what is defined, is enough;
loops are walked until nothing changes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from tensorloom.autograph.analysis.activity import (
    all_parameters,
    free_reads,
    reads,
    writes,
)
from tensorloom.autograph.source.loops import ForUntil

Names = frozenset[str]
_NONE: Final[Names] = frozenset()


@dataclass(frozen=True)
class Flow:
    """Of a statement with blocks."""

    live_in: Names  # read at it or after it, before they are written
    live_out: Names
    body_live_in: Names
    orelse_live_in: Names
    defined_in: Names  # on some way to it


def flow_of(function: ast.FunctionDef) -> dict[ast.stmt, Flow]:
    """Of each statement with blocks of a function, not of functions in it.

    In a `try` all names that it writes count as defined: `passes/control_flow.py` sees
    to it.
    """
    liveness = _Liveness(function)
    liveness.block(function.body, _NONE, _NONE)
    defined = _Defined()
    parameters = frozenset(a.arg for a in all_parameters(function.args))
    defined.block(function.body, parameters)
    return {
        node: Flow(*live, defined.before[node]) for node, live in liveness.found.items()
    }


class _Liveness:
    def __init__(self, function: ast.FunctionDef) -> None:
        self.found: dict[ast.stmt, tuple[Names, Names, Names, Names]] = {}
        self._closures = _closures(function)

    def block(self, body: list[ast.stmt], live: Names, always: Names) -> Names:
        """What is live before a block; `always` is where exceptions may lead."""
        for statement in reversed(body):
            live = self._statement(statement, live | always, always)
        return live | always

    def _reads(self, tree: ast.AST | Sequence[ast.AST]) -> Names:
        """Names read; of a local function that is named, what it reads, too."""
        found = reads(tree)
        for name in list(found):
            found |= self._closures.get(name, set())
        return frozenset(found)

    def _statement(self, node: ast.stmt, out: Names, always: Names) -> Names:
        match node:
            case ast.If():
                body = self.block(node.body, out, always)
                orelse = self.block(node.orelse, out, always)
                live = body | orelse | self._reads(node.test)
                self.found[node] = (live, out, body, orelse)
                return live
            case ast.While():
                return self._loop(node, [node.test], _NONE, out, always)
            case ast.For():
                extra = [node.extra_test] if isinstance(node, ForUntil) else []
                around = self._loop(
                    node, extra, frozenset(writes(node.target)), out, always
                )
                around |= self._reads([node.iter, node.target])
                _, after, body, orelse = self.found[node]
                self.found[node] = (around, after, body, orelse)
                return around
            case ast.Try() | ast.TryStar():
                return self._try(node, out, always)
            case ast.With():
                return self._reads(list(node.items)) | (
                    self.block(node.body, out, always)
                    - frozenset(writes(list(node.items)))
                )
            case ast.Match():
                cases = [self._case(case, out, always) for case in node.cases]
                return self._reads(node.subject).union(out, *cases)
            case ast.Return():
                return self._reads(node) | always
            case ast.Raise():
                return self._reads(node) | always
            case ast.Delete() | ast.AugAssign():
                return (out - frozenset(writes(node))) | self._reads(node)
        return (out - frozenset(writes(node))) | self._reads(node)

    def _loop(
        self,
        node: ast.For | ast.While,
        tests: Sequence[ast.AST],
        targets: Names,
        out: Names,
        always: Names,
    ) -> Names:
        after = self.block(node.orelse, out, always)
        live = after | self._reads(tests)
        while True:
            body = self.block(node.body, live, always)
            wider = live | (body - targets)
            if wider == live:
                break
            live = wider
        self.found[node] = (live, out, body, after)
        return live

    def _try(self, node: ast.Try | ast.TryStar, out: Names, always: Names) -> Names:
        final = self.block(node.finalbody, out, always)
        handlers = final
        for handler in node.handlers:
            body = self.block(handler.body, final, always)
            caught = frozenset([handler.name] if handler.name else [])
            kinds = self._reads(handler.type) if handler.type else _NONE
            handlers |= kinds | (body - caught)
        orelse = self.block(node.orelse, final, always | final)
        live = self.block(node.body, orelse, always | handlers)
        self.found[node] = (live, out, live, orelse)
        return live

    def _case(self, case: ast.match_case, out: Names, always: Names) -> Names:
        guard = self._reads(case.guard) if case.guard else _NONE
        body = self.block(case.body, out, always) | guard
        return (body - frozenset(writes(case.pattern))) | self._reads(case.pattern)


def _closures(function: ast.FunctionDef) -> dict[str, set[str]]:
    """Of each local function with a name: what it reads from around it."""
    found: dict[str, set[str]] = {}
    for node in own_statements(function.body):
        match node:
            case ast.FunctionDef(name=name):
                found.setdefault(name, set()).update(free_reads(node))
            case ast.Assign(targets=targets, value=ast.Lambda() as value):
                for target in targets:
                    if isinstance(target, ast.Name):
                        found.setdefault(target.id, set()).update(free_reads(value))
    changed = True
    while changed:  # local functions call each other
        changed = False
        for names in found.values():
            wider = names.union(*(found[n] for n in names if n in found))
            changed = changed or len(wider) > len(names)
            names |= wider
    return found


def own_statements(body: Iterable[ast.stmt]) -> Iterable[ast.stmt]:
    """The statements of a function, but for those of functions and classes inside."""
    for node in body:
        yield node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for block in blocks_of(node):
            yield from own_statements(block)


def blocks_of(node: ast.AST) -> Iterable[list[ast.stmt]]:
    """The lists of statements right below a node."""
    for value in vars(node).values():
        if not isinstance(value, list) or not value:
            continue
        if isinstance(value[0], ast.stmt):
            yield value
        elif isinstance(value[0], (ast.ExceptHandler, ast.match_case)):
            for part in value:
                yield part.body


class _Defined:
    def __init__(self) -> None:
        self.before: dict[ast.stmt, Names] = {}

    def block(self, body: list[ast.stmt], defined: Names) -> Names:
        for statement in body:
            defined = self._statement(statement, defined)
        return defined

    def _statement(self, node: ast.stmt, defined: Names) -> Names:
        self.before[node] = defined
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return defined | {node.name}
        blocks = list(blocks_of(node))
        everything = defined | frozenset(writes(node))
        if isinstance(node, (ast.If, ast.Match)):
            after = [self.block(block, defined) for block in blocks]
            return defined.union(*after, writes(_heads(node)))
        if isinstance(node, ast.With):
            return self.block(node.body, defined | frozenset(writes(list(node.items))))
        for block in blocks:
            # A loop may have been through its body; a handler may follow any statement.
            self.block(block, everything)
        return everything


def _heads(node: ast.If | ast.Match) -> list[ast.AST]:
    if isinstance(node, ast.If):
        return [node.test]
    return [node.subject, *(case.pattern for case in node.cases)]
