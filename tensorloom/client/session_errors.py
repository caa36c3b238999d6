"""Errors of a step, told in terms of the client's graph.

The runtime marks the node that failed as `[[{{node NAME}}]]`. Here the mark becomes
the user's source line, and the error gets the operation.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tensorloom.framework.errors import OpError
    from tensorloom.framework.graph import Graph, Operation

_NODE_MARK = re.compile(r"\{\{node ([^{}\s]+)\}\}")


def with_operation(error: OpError, graph: Graph) -> OpError:
    """The same kind of error with its operation and source lines.

    The error itself when it knows its operation already or names no node of `graph`.
    """
    if error.op is not None:
        return error
    first: Operation | None = None

    def describe(match: re.Match[str]) -> str:
        nonlocal first
        op = graph._by_name.get(match[1])
        if op is None:
            return match[0]
        first = first or op
        line = op.source_line()
        return f"node {op.name} (defined at {line}) " if line else f"node {op.name}"

    message = _NODE_MARK.sub(describe, error.message)
    if first is None:
        return error
    error._message = message
    error._op = first
    return error
