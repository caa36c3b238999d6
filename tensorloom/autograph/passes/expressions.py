"""Operators and conditional expressions that tensors have other ways for.

    a and b         ag__.and_(lambda: a, lambda: b)
    not a           ag__.not_(a)
    a if c else b   ag__.if_stmt(c, lambda: a, lambda: b, ...)
    a == b < c      ag__.and_(lambda: ag__.eq(a, b), lambda: b < c)

The last with `Feature.EQUALITY_OPERATORS` alone. Operands that assign (`:=`) stay in
Python, since a `lambda` would keep the name to itself.
"""

from __future__ import annotations

import ast
import copy

from tensorloom.autograph.options import Feature
from tensorloom.autograph.passes.context import OwnCode
from tensorloom.autograph.source.templates import at, call, runtime, thunk


class Expressions(OwnCode):
    """Rewrites the expressions of one function."""

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """`and`, `or`."""
        self.generic_visit(node)
        if any(_assigns(value) for value in node.values):
            return node
        operator = "and_" if isinstance(node.op, ast.And) else "or_"
        *before, result = node.values
        for left in reversed(before):
            result = call(operator, thunk(left), thunk(result))
        return at(node, result)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """`not`."""
        self.generic_visit(node)
        if not isinstance(node.op, ast.Not):
            return node
        return at(node, call("not_", node.operand))

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """A conditional expression."""
        self.generic_visit(node)
        if _assigns(node.body) or _assigns(node.orelse):
            return node
        states = runtime("get_no_state"), runtime("set_no_state")
        then, orelse = thunk(node.body), thunk(node.orelse)
        return at(node, call("if_stmt", node.test, then, orelse, *states))

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """A comparison, or a chain of them."""
        self.generic_visit(node)
        if not self.conversion.uses(Feature.EQUALITY_OPERATORS):
            return node
        result: ast.expr | None = None
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            one = _comparison(copy.deepcopy(left), operator, right)
            result = one if result is None else call("and_", thunk(result), thunk(one))
            left = right
        assert result is not None
        return at(node, result)


def _comparison(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> ast.expr:
    if isinstance(operator, ast.Eq):
        return call("eq", left, right)
    if isinstance(operator, ast.NotEq):
        return call("not_eq", left, right)
    return ast.Compare(left, [operator], [right])


def _assigns(node: ast.expr) -> bool:
    return any(isinstance(n, ast.NamedExpr) for n in ast.walk(node))
