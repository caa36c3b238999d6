"""Which names statements and expressions read and write."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

Tree = ast.AST | Sequence[ast.AST]


@dataclass
class Activity:
    """What was found.

    `reads` and `writes` are names of the function itself: what nested functions read
    of it counts, what they have for themselves does not.
    """

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    # Attributes and elements that are assigned (`self.x`, `a[i]`), by their text.
    composites: dict[str, ast.expr] = field(default_factory=dict)
    # Declared `global` or `nonlocal`.
    outer: dict[str, str] = field(default_factory=dict)


def activity(tree: Tree) -> Activity:
    """What a node, or a list of them, reads and writes."""
    collector = _Collector()
    for node in [tree] if isinstance(tree, ast.AST) else tree:
        collector.visit(node)
    return collector.found


def reads(tree: Tree) -> set[str]:
    """The names that are read."""
    return activity(tree).reads


def writes(tree: Tree) -> set[str]:
    """The names that are assigned, or bound otherwise."""
    return activity(tree).writes


def free_reads(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    """What a nested function reads of what is around it."""
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    inside = activity(body)
    own = {a.arg for a in all_parameters(node.args)} | inside.writes
    return inside.reads - (own - set(inside.outer))


def all_parameters(arguments: ast.arguments) -> list[ast.arg]:
    """Parameters of every kind."""
    rest = [arguments.vararg, arguments.kwarg]
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [*named, *(a for a in rest if a is not None)]


def names_below(node: ast.expr) -> set[str]:
    """The plain names that an attribute or element is reached by."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def root_of(node: ast.expr) -> str | None:
    """`a` of `a.b[c]`."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


class _Collector(ast.NodeVisitor):
    def __init__(self) -> None:
        self.found = Activity()

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.found.reads.add(node.id)
        else:
            self.found.writes.add(node.id)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self.found.reads.add(node.target.id)
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._composite(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self._composite(node)

    def _composite(self, node: ast.Attribute | ast.Subscript) -> None:
        if not isinstance(node.ctx, ast.Load) and _is_symbol(node):
            self.found.composites.setdefault(ast.unparse(node), node)
        self.generic_visit(node)

    # --- scopes of their own -------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.found.writes.add(node.name)
        self._visit_all(node.decorator_list)
        self._signature(node.args)
        self.found.reads |= free_reads(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._signature(node.args)
        self.found.reads |= free_reads(node)

    def _signature(self, arguments: ast.arguments) -> None:
        self._visit_all([*arguments.defaults, *filter(None, arguments.kw_defaults)])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.found.writes.add(node.name)
        self._visit_all([*node.decorator_list, *node.bases, *node.keywords])
        inside = activity(node.body)
        self.found.reads |= inside.reads

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehension(node, [node.elt])

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._comprehension(node, [node.elt])

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node, [node.elt])

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node, [node.key, node.value])

    def _comprehension(self, node: ast.AST, results: list[ast.expr]) -> None:
        inside = _Collector()
        generators: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
        for part in (*generators, *results):
            inside.visit(part)
        own = writes([generator.target for generator in generators])
        self.found.reads |= inside.found.reads - own
        self.found.writes |= inside.found.writes - own  # by `:=`

    # --- other bindings ------------------------------------------------------------

    def visit_Global(self, node: ast.Global) -> None:
        self.found.outer.update(dict.fromkeys(node.names, "global"))

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.found.outer.update(dict.fromkeys(node.names, "nonlocal"))

    def visit_alias(self, node: ast.alias) -> None:
        self.found.writes.add(node.asname or node.name.partition(".")[0])

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.found.writes.add(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        self._capture(node.name, node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        self._capture(node.name, node)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self._capture(node.rest, node)

    def _capture(self, name: str | None, node: ast.AST) -> None:
        if name:
            self.found.writes.add(name)
        self.generic_visit(node)

    def _visit_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)


def _is_symbol(node: ast.expr) -> bool:
    """Whether what is assigned can be read again: names, attributes, plain indices."""
    match node:
        case ast.Name():
            return True
        case ast.Attribute(value=value):
            return _is_symbol(value)
        case ast.Subscript(value=value, slice=ast.Name() | ast.Constant()):
            return _is_symbol(value)
    return False
