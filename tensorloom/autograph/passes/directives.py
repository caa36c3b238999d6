"""`set_element_type` and `set_loop_options` are taken out of the code.

Of the first, what it says of a name goes to the lists; loop options are checked, and
have no effect, as in TensorFlow 1.15.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tensorloom.autograph.language import set_element_type, set_loop_options
from tensorloom.autograph.passes.context import Conversion, OwnCode


@dataclass(frozen=True)
class ElementType:
    """The expressions that say what a list holds."""

    dtype: ast.expr
    shape: ast.expr


class Directives(OwnCode):
    """Removes the calls; `element_types` is what was said of which name."""

    def __init__(self, conversion: Conversion) -> None:
        super().__init__(conversion)
        self.element_types: dict[str, ElementType] = {}
        self._loops = 0

    def visit_Expr(self, node: ast.Expr) -> ast.stmt | None:
        """A statement that is a call may be a directive."""
        if not isinstance(node.value, ast.Call):
            return node
        directive = self.conversion.static_value(node.value.func)
        if directive is set_loop_options:
            _arguments(node.value, set_loop_options)
            if not self._loops:
                raise ValueError('"set_loop_options" must be used inside a statement')
            return None
        if directive is set_element_type:
            self._set_element_type(node.value)
            return None
        return node

    def _set_element_type(self, call: ast.Call) -> None:
        if not call.args:
            raise ValueError(
                '"set_element_type" requires a positional first argument as the target'
            )
        given = _arguments(call, set_element_type)
        nothing = ast.Constant(None)
        told = ElementType(given["dtype"], given.get("shape", nothing))
        target = ast.unparse(given["entity"])
        before = self.element_types.setdefault(target, told)
        if ast.dump(before.dtype) != ast.dump(told.dtype):
            raise ValueError(
                f"{target} has ambiguous annotations for set_element_type(dtype): "
                f"{ast.unparse(told.dtype)}, {ast.unparse(before.dtype)}"
            )

    def visit_While(self, node: ast.While) -> ast.stmt:
        """Loop options stand in loops."""
        return self._loop(node)

    def visit_For(self, node: ast.For) -> ast.stmt:
        """Loop options stand in loops."""
        return self._loop(node)

    def _loop(self, node: ast.While | ast.For) -> ast.stmt:
        self._loops += 1
        node.body = self.block(node.body) or [ast.copy_location(ast.Pass(), node)]
        self._loops -= 1
        node.orelse = self.block(node.orelse)
        return node

    def visit_If(self, node: ast.If) -> ast.stmt:
        """A branch is not left empty."""
        node.body = self.block(node.body) or [ast.copy_location(ast.Pass(), node)]
        node.orelse = self.block(node.orelse)
        return node


def _arguments(call: ast.Call, function: Callable[..., Any]) -> dict[str, ast.expr]:
    keywords = {k.arg: k.value for k in call.keywords if k.arg is not None}
    bound = inspect.signature(function).bind(*call.args, **keywords)
    return dict(bound.arguments)
