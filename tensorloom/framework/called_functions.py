"""Which functions of a library a graph can call."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from tensorloom.framework.attr_value import NameAttrList

if TYPE_CHECKING:
    from tensorloom.framework.graph_ir import FunctionIR, GraphIR, Node


def called_functions(graph: GraphIR) -> dict[str, FunctionIR]:
    """The functions that nodes name, those that these name, and so on.

    A function is named by a node's op or its attrs; its gradient function belongs to
    it. The order is the library's.
    """
    if not graph.functions:
        return {}
    names = names_called(graph.nodes.values(), graph.functions)
    return functions_named(names, graph.functions)


def functions_named(
    names: Iterable[str], known: dict[str, FunctionIR]
) -> dict[str, FunctionIR]:
    """The known functions among some names, those that these name, and so on."""
    called: set[str] = set()
    waiting = [name for name in names if name in known]
    while waiting:
        name = waiting.pop()
        if name in called:
            continue
        called.add(name)
        function = known[name]
        waiting += names_called(function.nodes.values(), known)
        if function.gradient in known:
            waiting.append(function.gradient)
    return {name: function for name, function in known.items() if name in called}


def names_called(nodes: Iterable[Node], known: Container[str]) -> list[str]:
    """The known functions that nodes name, as often as they do."""
    return [name for node in nodes for name in names_of(node) if name in known]


def names_of(node: Node) -> Iterator[str]:
    """What a node names that may be a function: its op, and those in its attrs."""
    yield node.op
    for value in node.attrs.values():
        yield from _names_in(value)


def _names_in(value: Any) -> Iterator[str]:
    if isinstance(value, NameAttrList):
        yield value.name
        for inner in value.attrs.values():
            yield from _names_in(inner)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _names_in(item)
