"""Follows captured tensors into function bodies and out of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tensorloom.client.functions.func_graph import FuncGraph

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor


def enclosing_functions(graph: Any) -> list[FuncGraph]:
    """The function bodies that `graph` is in, itself first."""
    functions = []
    while isinstance(graph, FuncGraph):
        functions.append(graph)
        graph = graph.outer_graph
    return functions


def captured_consumers(
    tensor: Tensor, functions: Iterable[FuncGraph]
) -> list[Operation]:
    """The ops in function bodies that read the tensor through a capture."""
    consumers: list[Operation] = []
    todo = [tensor]
    while todo:
        external = todo.pop()
        for function in functions:
            internal = function.captured(external)
            if internal is not None:
                consumers.extend(internal._consumers)
                todo.append(internal)
    return consumers


def original_of_capture(tensor: Tensor) -> Tensor:
    """The tensor outside all bodies that an argument of a body stands for."""
    while isinstance(tensor._op._graph, FuncGraph):
        original = tensor._op._graph.original_of(tensor)
        if original is None:
            break
        tensor = original
    return tensor
