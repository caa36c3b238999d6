"""Which functions of a library a graph can call."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tensorloom.framework.types.attr_value import NameAttrList

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import FunctionIR, GraphIR, Node


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
        if function.problem is not None:  # what its definition needs to be the same
            waiting += filter(known.__contains__, function.problem.names())
        if function.gradient in known:
            waiting.append(function.gradient)
    return {name: function for name, function in known.items() if name in called}


def broken_functions(
    functions: Mapping[str, FunctionIR], known: Collection[str] = ()
) -> set[str]:
    """Those that cannot be called, and those that name one of them or of the known."""
    broken = {name for name, f in functions.items() if f.problem is not None}
    found: Collection[str] = {*broken, *known}
    while found:
        # Only what names the last ones is new.
        found = {
            name
            for name, function in functions.items()
            if name not in broken and names_called(function.nodes.values(), found)
        }
        broken |= found
    return broken


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
