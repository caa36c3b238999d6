"""Small pieces of syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import TypeVar

Node = TypeVar("Node", bound=ast.AST)

# Under which converted code finds the operators.
RUNTIME = "ag__"


def name(identifier: str) -> ast.Name:
    """A name that is read."""
    return ast.Name(identifier, ast.Load())


def stored(identifier: str) -> ast.Name:
    """A name that is assigned."""
    return ast.Name(identifier, ast.Store())


def assign(identifier: str, value: ast.expr) -> ast.stmt:
    """`identifier = value`."""
    return ast.Assign([stored(identifier)], value, lineno=0)


def assign_all(identifiers: Sequence[str], value: ast.expr) -> ast.stmt:
    """`(a, b) = value`, or the value alone where there is nothing to assign."""
    if not identifiers:
        return ast.Expr(value)
    target = ast.Tuple([stored(i) for i in identifiers], ast.Store())
    return ast.Assign([target], value, lineno=0)


def tuple_of(elements: Iterable[ast.expr]) -> ast.Tuple:
    """`(a, b)`."""
    return ast.Tuple(list(elements), ast.Load())


def texts(words: Iterable[str]) -> ast.Tuple:
    """`("a", "b")`."""
    return tuple_of(ast.Constant(word) for word in words)


def runtime(attribute: str) -> ast.Attribute:
    """`ag__.attribute`."""
    return ast.Attribute(name(RUNTIME), attribute, ast.Load())


def call(attribute: str, *args: ast.expr, **keywords: ast.expr) -> ast.Call:
    """`ag__.attribute(*args, **keywords)`."""
    given = [ast.keyword(key, value) for key, value in keywords.items()]
    return ast.Call(runtime(attribute), list(args), given)


def arguments(parameters: Sequence[str], defaults: Sequence[str] = ()) -> ast.arguments:
    """Positional parameters; the last ones have names as defaults."""
    return ast.arguments(
        posonlyargs=[],
        args=[ast.arg(parameter) for parameter in parameters],
        kwonlyargs=[],
        kw_defaults=[],
        defaults=[name(default) for default in defaults],
    )


def thunk(value: ast.expr, parameters: Sequence[str] = ()) -> ast.Lambda:
    """`lambda: value`."""
    return ast.Lambda(arguments(parameters), value)


def function(
    identifier: str, parameters: ast.arguments, body: list[ast.stmt]
) -> ast.FunctionDef:
    """A function without decorators."""
    made = ast.FunctionDef(identifier, parameters, body, [], lineno=0)
    vars(made)["type_params"] = []  # of Python 3.12
    return made


def negated(value: ast.expr) -> ast.UnaryOp:
    """`not value`."""
    return ast.UnaryOp(ast.Not(), value)


def both(first: ast.expr, second: ast.expr) -> ast.BoolOp:
    """`first and second`."""
    return ast.BoolOp(ast.And(), [first, second])


def at(place: ast.AST, node: Node) -> Node:
    """The node and what is new below it, placed on the line of `place`.

    Nodes of the program that stand below keep their own lines.
    """
    for child in ast.walk(node):
        if "lineno" in child._attributes and not getattr(child, "lineno", 0):
            ast.copy_location(child, place)
            child.end_lineno = child.lineno = getattr(place, "lineno", 1)  # type: ignore[attr-defined]
            child.end_col_offset = child.col_offset = getattr(place, "col_offset", 0)  # type: ignore[attr-defined]
    return node


def all_at(place: ast.AST, nodes: Iterable[Node]) -> list[Node]:
    """`at` of each."""
    return [at(place, node) for node in nodes]
