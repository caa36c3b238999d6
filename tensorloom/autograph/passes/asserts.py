"""`assert` becomes `ag__.assert_stmt` (with `Feature.ASSERT_STATEMENTS`)."""

from __future__ import annotations

import ast

from tensorloom.autograph.passes.context import OwnCode
from tensorloom.autograph.source.templates import at, call, thunk


class Asserts(OwnCode):
    """`assert test, message` becomes `ag__.assert_stmt(test, lambda: message)`."""

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        """One statement."""
        message = node.msg or ast.Constant("Assertion error")
        made = ast.Expr(call("assert_stmt", node.test, thunk(message)))
        return at(node, made)
