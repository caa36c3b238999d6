"""What AutoGraph does not convert."""

from __future__ import annotations

import ast
from typing import Final

_GENERATORS: Final = (ast.Yield, ast.YieldFrom)


def check_supported(tree: ast.AST) -> None:
    """Refuses generators, mangled names, and assignments in the test of a loop.

    Generators that are defined in the function are left as they are.

    Raises:
      NotImplementedError: there is one; names its line.
    """
    if is_generator(tree):
        raise _refusal("Generators are not supported by AutoGraph", tree)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and node.attr.startswith("__")
            and not node.attr.endswith("__")
        ):
            raise _refusal("Mangled names are not yet supported by AutoGraph", node)
        if isinstance(node, ast.While) and any(
            isinstance(n, ast.NamedExpr) for n in ast.walk(node.test)
        ):
            raise _refusal(
                "Assignments in the condition of a loop are not supported by AutoGraph",
                node,
            )


def is_generator(function: ast.AST) -> bool:
    """Whether a function has a `yield` of its own."""
    inner = list(ast.iter_child_nodes(function))
    while inner:
        node = inner.pop()
        if isinstance(node, _GENERATORS):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            inner += ast.iter_child_nodes(node)
    return False


def _refusal(message: str, node: ast.AST) -> NotImplementedError:
    return NotImplementedError(f"{message} (line {getattr(node, 'lineno', '?')})")
