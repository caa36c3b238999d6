"""Names for what passes add, which the function does not use."""

from __future__ import annotations

import ast
from collections.abc import Iterable


class FreshNames:
    """Makes names that are not taken.

    Args:
      taken: the names that the function's globals and closure have.
    """

    def __init__(self, tree: ast.AST, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        for node in ast.walk(tree):
            match node:
                case ast.Name(id=name) | ast.arg(arg=name):
                    self._taken.add(name)
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    self._taken.add(name)
                case ast.ExceptHandler(name=str(name)):
                    self._taken.add(name)
                case ast.Global(names=names) | ast.Nonlocal(names=names):
                    self._taken.update(names)
                case ast.alias(name=name, asname=asname):
                    self._taken.add(asname or name.partition(".")[0])
        self.made: set[str] = set()

    def make(self, root: str) -> str:
        """`root`, or `root_1` and so on if that is taken."""
        name, count = root, 0
        while name in self._taken:
            count += 1
            name = f"{root}_{count}"
        self._taken.add(name)
        self.made.add(name)
        return name
