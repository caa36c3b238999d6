"""Calls become `ag__.converted_call`, which converts what is called.

f(x, y=1)    ag__.converted_call(f, scope.callopts, (x,), ag__.keywords(y=1), scope)
"""

from __future__ import annotations

import ast
from typing import Final

from tensorloom.autograph import logs
from tensorloom.autograph.options import Feature
from tensorloom.autograph.passes.context import Conversion, OwnCode
from tensorloom.autograph.source.templates import RUNTIME, at, call, name, tuple_of

# These look at the frame that calls them.
_OF_THE_FRAME: Final = frozenset(
    ["eval", "exec", "locals", "globals", "vars", "dir", "super"]
)
_DEBUGGERS: Final = frozenset(["pdb.set_trace", "ipdb.set_trace", "breakpoint"])


class Calls(OwnCode):
    """Rewrites the calls of one function.

    Args:
      scope: the name of its `FunctionScope`.
      first_parameter: its name, for `super()` without arguments.
    """

    def __init__(
        self, conversion: Conversion, scope: str, first_parameter: str | None
    ) -> None:
        super().__init__(conversion)
        self._scope = scope
        self._first = first_parameter

    def visit_With(self, node: ast.With) -> ast.stmt:
        """Calls that make context managers are not converted."""
        node.body = self.block(node.body)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        """Converted with the function that it stands in."""
        self.generic_visit(node)
        return at(node, call("do_not_convert_internal", node))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """One call."""
        self.generic_visit(node)
        called = _dotted(node.func)
        if called.startswith((f"{RUNTIME}.", f"{self._scope}.")):
            return node
        if called in _DEBUGGERS:
            logs.warn_of_debugger()
            return node
        if called == "super" and not node.args and self._first is not None:
            node.args = [at(node, name("__class__")), at(node, name(self._first))]
        if called in _OF_THE_FRAME:
            return node
        if called == "print" and not self.conversion.uses(Feature.BUILTIN_FUNCTIONS):
            return node
        options = ast.Attribute(name(self._scope), "callopts", ast.Load())
        keywords: ast.expr = ast.Constant(None)
        if node.keywords:
            keywords = call("keywords")
            keywords.keywords = node.keywords
        made = call(
            "converted_call",
            node.func,
            options,
            tuple_of(node.args),
            keywords,
            name(self._scope),
        )
        return at(node, ast.copy_location(made, node))


def _dotted(node: ast.expr) -> str:
    match node:
        case ast.Name(id=identifier):
            return identifier
        case ast.Attribute(value=value, attr=attribute) if _dotted(value):
            return f"{_dotted(value)}.{attribute}"
    return ""
