"""Loops with a second condition."""

from __future__ import annotations

import ast


class ForUntil(ast.For):
    """A `for` that goes on while `extra_test` is true, too.

    The lowering of `break` makes it; control flow makes it an argument of `for_stmt`.
    """

    _fields = (*ast.For._fields, "extra_test")

    extra_test: ast.expr
