"""Errors of a step, told in terms of the client's graph.

The runtime marks the node that failed as `[[{{node NAME}}]]`. Here the mark becomes
the user's source line, and the error gets the operation. A node in the body of a loop
or a branch is marked as `{{node while/NAME}}`, one in a function that a kernel called
(a dataset's map function) as `{{function_node FUNCTION NAME}}`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tensorloom.framework.called_functions import names_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tensorloom.framework.errors import OpError
    from tensorloom.framework.graph import Graph, Operation
    from tensorloom.framework.graph_ir import FunctionIR, Node

_MARK = re.compile(r"\{\{(?:function_)?node (?:([^{}\s]+) )?([^{}\s]+)\}\}")


def with_operation(error: OpError, graph: Graph) -> OpError:
    """The same kind of error with its operation and source lines.

    The operation is the one of `graph`: the loop, for a node in a loop's body.
    The error itself when it knows its operation already or names no node of `graph`.
    """
    if error.op is not None:
        return error
    first: Operation | None = None
    origin: tuple[str, Operation] | None = None

    def describe(match: re.Match[str]) -> str:
        nonlocal first, origin
        function, name = match[1], match[2]
        if function is not None:
            made_by = _in_function(graph._functions, function, name)
            where = f" in function {function}"
        else:
            op, made_by = _in_graph(graph, name)
            if op is None:
                return match[0]
            first, where = first or op, ""
        if made_by is not None:
            origin = origin or (name, made_by)
        line = made_by.source_line() if made_by is not None else None
        text = f"node {name}{where}"
        return f"{text} (defined at {line}) " if line else text

    message = _MARK.sub(describe, error.message)
    if first is None:
        return error
    error._message = message
    error._op = first
    error._origin = origin
    return error


def _in_graph(graph: Graph, path: str) -> tuple[Operation | None, Operation | None]:
    """(the operation of the graph, the one at the path, which may be in its body)."""
    for head, rest in _splits(path):
        op = graph._by_name.get(head)
        if op is not None:
            inner = _in_callees(graph._functions, graph.to_node(op), rest)
            return op, inner or op
    return None, None


def _in_callees(
    functions: Mapping[str, FunctionIR], node: Node, path: str
) -> Operation | None:
    """What the node calls is searched for the path."""
    if not path:
        return None
    for name in names_of(node):
        found = _in_function(functions, name, path)
        if found is not None:
            return found
    return None


def _in_function(
    functions: Mapping[str, FunctionIR], name: str, path: str
) -> Operation | None:
    function = functions.get(name)
    if function is None:
        return None
    for head, rest in _splits(path):
        node = function.nodes.get(head)
        if node is not None:
            return _in_callees(functions, node, rest) or node.source
    return None


def _splits(path: str) -> list[tuple[str, str]]:
    """`a/b/c`: (a/b/c, ""), (a/b, c), (a, b/c)."""
    parts = path.split("/")
    return [
        ("/".join(parts[:i]), "/".join(parts[i:])) for i in range(len(parts), 0, -1)
    ]
