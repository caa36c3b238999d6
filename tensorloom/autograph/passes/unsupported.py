"""What AutoGraph does not convert."""

from __future__ import annotations

import ast
from typing import Final

_GENERATORS: Final = (ast.Yield, ast.YieldFrom)


def check_supported(tree: ast.AST) -> None:
    """Refuses generators, mangled names, and assignments in the test of a loop.

    Raises:
      NotImplementedError: there is one; names its line.
    """
    for node in ast.walk(tree):
        if isinstance(node, _GENERATORS):
            raise _refusal("Generators are not supported by AutoGraph", node)
        if isinstance(node, (ast.Await, ast.AsyncFor, ast.AsyncWith)):
            raise _refusal("Coroutines are not supported by AutoGraph", node)
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


def _refusal(message: str, node: ast.AST) -> NotImplementedError:
    return NotImplementedError(f"{message} (line {getattr(node, 'lineno', '?')})")
