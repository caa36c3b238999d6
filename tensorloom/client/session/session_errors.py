"""Errors of a step, told in terms of the client's graph.

The runtime marks the node that failed as `[[{{node NAME}}]]`. Here the mark becomes
the user's source line, and the error gets the operation. A node in the body of a loop
or a branch is marked as `{{node while/NAME}}`, one in a function that a kernel called
(a dataset's map function) as `{{function_node FUNCTION NAME}}`. TensorFlow's servers
mark a node in a body as `{{node NAME}}`, newer ones with `{{function_node FUNCTION}}`
before it.
"""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING

from tensorloom.framework.functions.called_functions import names_of
from tensorloom.framework.functions.functional_op_types import BRANCHES, LOOPS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tensorloom.framework.errors import OpError
    from tensorloom.framework.graph.graph import Graph, Operation
    from tensorloom.framework.graph.graph_ir import FunctionIR, Node

_MARK = re.compile(
    r"(?:\{\{function_node (?P<body>[^{}\s]+)\}\})?"
    r"\{\{(?:function_)?node (?:(?P<function>[^{}\s]+) )?(?P<name>[^{}\s]+)\}\}"
)


def with_operation(error: OpError, graph: Graph) -> OpError:
    """The same kind of error with its operation and source lines.

    An operation in the body of a loop or branch has the name of the mark: TensorFlow,
    which builds the body into the graph, knows it under such a name. Of what a function
    is called for, the error has the call.
    The error itself when it knows its operation already or names no node of `graph`.
    """
    if error.op is not None:
        return error
    first: Operation | None = None
    origin: tuple[str, Operation] | None = None

    def find(name: str) -> Node | None:
        op = graph._by_name.get(name)
        return None if op is None else graph.to_node(op)

    def describe(match: re.Match[str]) -> str:
        nonlocal first, origin
        function, name = match["function"], match["name"]
        if function is not None:
            body = graph._functions.get(function)
            way = [] if body is None else _way(body.nodes.get, graph._functions, name)
            where = f" in function {function}"
        else:
            way = [] if match["body"] else _way(find, graph._functions, name)
            if not way:
                way = _way_in_bodies(graph, match["body"], name)
                name = _path(way)
            if not way:
                return match[0]
            first, where = first or _operation_at(way), ""
        made_by: Operation | None = next(
            (node.source for node in reversed(way) if node.source is not None), None
        )
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


def _way(
    find: Callable[[str], Node | None], functions: Mapping[str, FunctionIR], path: str
) -> list[Node]:
    """The node that `path` begins with, the one in its body that goes on, and so on."""
    for head, rest in _splits(path):
        node = find(head)
        if node is None:
            continue
        bodies = [functions[n] for n in names_of(node) if rest and n in functions]
        inner = (_way(body.nodes.get, functions, rest) for body in bodies)
        return [node, *next(filter(None, inner), [])]
    return []


def _operation_at(way: Sequence[Node]) -> Operation:
    """The last operation on a way through the bodies of loops and branches alone."""
    end = 0
    while end + 1 < len(way) and (
        (way[end].op in LOOPS or way[end].op in BRANCHES)
        and way[end + 1].source is not None
    ):
        end += 1
    op: Operation = way[end].source
    if end:
        op = copy.copy(op)
        op._name = _path(way[: end + 1])
    return op


def _path(way: Sequence[Node]) -> str:
    return "/".join(node.name for node in way)


def _way_in_bodies(graph: Graph, function: str | None, name: str) -> list[Node]:
    """The way to the only node of that name in the body of a loop or branch.

    Args:
      graph: around the bodies.
      function: the body, if it is known.
      name: in the body.
    """
    functions = graph._functions

    def ways(node: Node) -> Iterator[list[Node]]:
        if node.op not in LOOPS and node.op not in BRANCHES:
            return
        for called in names_of(node):
            body = functions.get(called)
            if body is None:
                continue
            if name in body.nodes and function in (None, called):
                yield [node, body.nodes[name]]
            for inner in body.nodes.values():
                for way in ways(inner):
                    yield [node, *way]

    found = [way for node in graph.nodes_since(0) for way in ways(node)]
    return found[0] if len(found) == 1 else []


def _splits(path: str) -> list[tuple[str, str]]:
    """`a/b/c`: (a/b/c, ""), (a/b, c), (a, b/c)."""
    parts = path.split("/")
    return [
        ("/".join(parts[:i]), "/".join(parts[i:])) for i in range(len(parts), 0, -1)
    ]
