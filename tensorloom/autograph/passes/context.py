"""What the passes over one function know."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tensorloom.autograph.options import ConversionOptions, Feature
    from tensorloom.autograph.source.fresh_names import FreshNames


@dataclass(frozen=True)
class Conversion:
    """Of a function with all that are defined in it."""

    names: FreshNames
    options: ConversionOptions
    namespace: Mapping[str, Any]  # its globals and closure, to find directives

    def uses(self, feature: Feature) -> bool:
        """Whether a feature is on."""
        return self.options.uses(feature)

    def static_value(self, node: ast.expr) -> Any:
        """What a name or a module's attribute stands for; None if it is not known."""
        match node:
            case ast.Name(id=name):
                return self.namespace.get(name)
            case ast.Attribute(value=value, attr=attribute):
                module = self.static_value(value)
                if isinstance(module, ModuleType):
                    return getattr(module, attribute, None)
        return None


class OwnCode(ast.NodeTransformer):
    """Visits the code of one function, not that of functions and classes in it."""

    def __init__(self, conversion: Conversion) -> None:
        self.conversion = conversion

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Left as it is: converted before what is around it."""
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        """Left as it is."""
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Left as it is: its methods are converted when they are called."""
        return node

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements, visited."""
        visited: list[ast.stmt] = []
        for statement in body:
            found = self.visit(statement)
            visited += (
                found if isinstance(found, list) else [] if found is None else [found]
            )
        return visited
